// Names come from files and may hold any bytes; protobuf's strings and JSON take UTF-8 only.
#ifndef STATOR_SERIALIZATION_BASE_UTF8_H
#define STATOR_SERIALIZATION_BASE_UTF8_H

#include <string>
#include <string_view>

namespace stator {

/// The length of the valid UTF-8 sequence at the start of `text`, 0 if there is none.
size_t utf8Length(std::string_view text);

/// Each byte that is not part of valid UTF-8 as `\xNN`, everything else as it is.
std::string escapeInvalidUtf8(std::string_view text);

} // namespace stator

#endif // STATOR_SERIALIZATION_BASE_UTF8_H
