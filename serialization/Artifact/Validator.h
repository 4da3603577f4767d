// Whether a manifest can be followed without further checks: every index has its target, every expression computes, every operand list
// fits its kernel, and every range that is known before the shapes are lies within its buffer. Ranges that depend on symbols are checked
// when a shape is bound. Nothing of a file is trusted before this has passed.
#ifndef STATOR_SERIALIZATION_ARTIFACT_VALIDATOR_H
#define STATOR_SERIALIZATION_ARTIFACT_VALIDATOR_H

#include "serialization/Artifact/Manifest.h"

namespace stator::serialization {

/// InvalidFile with the place: "manifest: methods[0] `forward`: ...".
Status validateManifest(const Manifest &manifest);

} // namespace stator::serialization

#endif // STATOR_SERIALIZATION_ARTIFACT_VALIDATOR_H
