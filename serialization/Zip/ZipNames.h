// How messages name an entry of a zip, whose name may hold anything.
#ifndef STATOR_SERIALIZATION_ZIP_ZIPNAMES_H
#define STATOR_SERIALIZATION_ZIP_ZIPNAMES_H

#include "stator/Status.h"

namespace stator::serialization {

/// In backticks, cut to 80 characters, without control characters.
std::string shownEntry(const std::string &name);
/// InvalidFile: "zip entry `a`: what".
Status zipEntryError(const std::string &name, const std::string &what);

} // namespace stator::serialization

#endif // STATOR_SERIALIZATION_ZIP_ZIPNAMES_H
