// The part of the validator that knows methods and plans, and the wording that both parts share.
#ifndef STATOR_SERIALIZATION_ARTIFACT_PLANVALIDATOR_H
#define STATOR_SERIALIZATION_ARTIFACT_PLANVALIDATOR_H

#include "serialization/Artifact/Manifest.h"

namespace stator::serialization {

constexpr uint64_t kParameterAlignment = 64;

/// "inputs[1] `x`".
std::string placeOf(const char *list, size_t index, const std::string &name);
Status invalidAt(const std::string &place, const std::string &what);
/// "<place>: plan 3, there are 2" unless index < count.
Status checkIndex(const std::string &place, const char *what, uint64_t index, size_t count);
/// Not empty, each once.
Status checkValueNames(const std::string &place, const char *list, const std::vector<Value> &values);
/// `method` and its plan; the tables that they point into have been checked.
Status validateMethod(const Manifest &manifest, const Method &method, const std::string &place);

} // namespace stator::serialization

#endif // STATOR_SERIALIZATION_ARTIFACT_PLANVALIDATOR_H
