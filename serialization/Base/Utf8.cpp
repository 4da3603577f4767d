// Validation of UTF-8 (RFC 3629) and escapes for what is not.
#include "serialization/Base/Utf8.h"

#include <cstdio>

using namespace stator;

size_t stator::utf8Length(std::string_view text) {
  if (text.empty())
    return 0;
  unsigned char first = static_cast<unsigned char>(text[0]);
  size_t length = first < 0x80                    ? 1
                  : first >= 0xc2 && first < 0xe0 ? 2
                  : first >= 0xe0 && first < 0xf0 ? 3
                  : first >= 0xf0 && first < 0xf5 ? 4
                                                  : 0;
  if (length == 0 || length > text.size())
    return 0;
  for (size_t i = 1; i < length; ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80)
      return 0;
  unsigned char second = length > 1 ? static_cast<unsigned char>(text[1]) : 0;
  // Longer than need be, a surrogate, or beyond the last code point.
  if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second >= 0xa0) || (first == 0xf0 && second < 0x90) ||
      (first == 0xf4 && second >= 0x90))
    return 0;
  return length;
}

std::string stator::escapeInvalidUtf8(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    size_t length = utf8Length(text);
    if (length == 0) {
      char escape[5];
      std::snprintf(escape, sizeof escape, "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(text.front())));
      result += escape;
      length = 1;
    } else {
      result += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return result;
}
