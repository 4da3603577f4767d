// How the parts of a manifest are called in dumps, text and JSON alike.
#ifndef STATOR_SERIALIZATION_ARTIFACT_DUMPNAMES_H
#define STATOR_SERIALIZATION_ARTIFACT_DUMPNAMES_H

#include "serialization/Artifact/Manifest.h"
#include "serialization/Base/DimExpr.h"

namespace stator::serialization {

const char *nameOf(BufferKind kind);
const char *nameOf(InstructionKind kind);

/// A method and its plan with expressions as text. The manifest has passed the validator and outlives this.
class MethodNames {
public:
  MethodNames(const Manifest &manifest, const Method &method);

  /// What the code of the expression computes, in canonical form.
  const std::string &expression(uint32_t index) const { return texts[index]; }
  /// "f32[N, 64]".
  std::string type(ElementType elementType, const std::vector<uint32_t> &dims) const;
  /// "x", "fc1.weight", "%12" for buffer 12 in the arena, "x[128]" for a view.
  std::string buffer(uint32_t index) const;
  /// "64*N", or "64*N (64 to 4096)" when the ranges of the symbols bound it.
  std::string size(uint32_t index) const;
  /// Between which values the expression lies.
  DimInterval bounds(uint32_t index) const { return intervals[index]; }
  const Plan &plan() const { return manifest.plans[method.plan]; }

private:
  const Manifest &manifest;
  const Method &method;
  std::vector<std::string> texts;
  std::vector<DimInterval> intervals;
};

/// What a method does with one mutable parameter.
struct StateUse {
  uint32_t parameter = 0;
  bool isRead = false;
  /// Steps by their number in dumps: in the order of the text, those of branches and bodies counted where they stand.
  std::vector<size_t> writers;
};
/// In the order of the parameters.
std::vector<StateUse> stateUsesOf(const Plan &plan);

/// "f32[3, 64]".
std::string typeOf(const Parameter &parameter);
/// The level names of the feature bits, and the bits without a name as numbers: "x86-64-v2, x86-64-v3".
std::string featuresOf(uint64_t bits);

} // namespace stator::serialization

#endif // STATOR_SERIALIZATION_ARTIFACT_DUMPNAMES_H
