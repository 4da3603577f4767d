//===- ArtifactEmitter.h - plan, objects and weights become one file -------===//
//
// The last stage. The manifest comes from ManifestBuilder, the layout of the
// file from serialization/ArtifactWriter; what happens here is that each
// parameter's bytes flow from where they are (a mapped model file, through
// packing recipes) into the artifact without ever being in memory as a whole.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_CODEGEN_ARTIFACT_ARTIFACTEMITTER_H
#define STATOR_CODEGEN_ARTIFACT_ARTIFACTEMITTER_H

#include "codegen/Artifact/ManifestBuilder.h"
#include "codegen/Cpu/CpuCodegen.h"

#include <string>
#include <utility>
#include <vector>

namespace stator::codegen {

struct ArtifactContents {
  /// What plan-verify has accepted.
  mlir::ModuleOp module;
  /// From the most demanding level to the least.
  std::vector<KernelLibrary> libraries;
  KernelScratch scratch;
  KernelsWithBarrier withBarrier;
  std::string producer;
  /// For people: "source", "compiler flags", ...
  std::vector<std::pair<std::string, std::string>> info;
  /// Not empty: stored as `ir/graph.mlir`.
  std::string irText;
  /// Told the number of each parameter before it is written, and how many there are.
  std::function<void(unsigned, unsigned)> onParameter;
};

struct ArtifactStatistics {
  unsigned methods = 0, kernels = 0, kernelCalls = 0, libraryCalls = 0;
  uint64_t weightBytes = 0;
};

/// Writes the artifact to `path`, which appears when it is complete.
Result<ArtifactStatistics> writeArtifact(const ArtifactContents &contents, const std::string &path);

} // namespace stator::codegen

#endif // STATOR_CODEGEN_ARTIFACT_ARTIFACTEMITTER_H
