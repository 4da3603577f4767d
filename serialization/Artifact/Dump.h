// An artifact for people and scripts: what `stator inspect` prints. Methods with their typed inputs and outputs and the ranges of their
// symbols, each step with its kernel or library and the reason, the memory plan, the parameters, and the shared objects by CPU level.
#ifndef STATOR_SERIALIZATION_ARTIFACT_DUMP_H
#define STATOR_SERIALIZATION_ARTIFACT_DUMP_H

#include "serialization/Artifact/ArtifactReader.h"

namespace stator::serialization {

struct DumpOptions {
  bool steps = true;
  bool memory = true; ///< The buffers of each plan.
  bool parameters = true;
  bool entries = true; ///< Of the zip.
};

std::string dumpText(const ArtifactReader &artifact, const DumpOptions &options = {});
/// Everything, whatever is printed as text. Keys are part of the tool's interface: added, never renamed.
std::string dumpJson(const ArtifactReader &artifact);

} // namespace stator::serialization

#endif // STATOR_SERIALIZATION_ARTIFACT_DUMP_H
