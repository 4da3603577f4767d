// A loaded artifact: the mapped file, its validated manifest, the kernels for this machine, and the libraries that it needs. Loading does
// no work that grows with the weights: they stay in the mapping, shared with every process that maps the file, and are read when a
// kernel first touches them.
#ifndef STATOR_RUNTIME_LOADER_LOADEDMODULE_H
#define STATOR_RUNTIME_LOADER_LOADEDMODULE_H

#include "runtime/Kernels/LibraryPlugin.h"
#include "runtime/Loader/KernelLibrary.h"
#include "serialization/Artifact/ArtifactReader.h"

#include <memory>
#include <string>
#include <vector>

namespace stator::runtime {

/// Immutable after load(); shared by all its sessions, from any thread.
class LoadedModule {
public:
  /// `cpuLevel`: the level whose kernels to use; empty: STATOR_CPU_LEVEL, else the best that the machine has.
  static Result<std::shared_ptr<const LoadedModule>> load(const std::string &path, const std::string &cpuLevel);

  const serialization::Manifest &manifest() const { return artifact.manifest(); }
  /// The level of the chosen variant; "none" when the artifact has no kernels.
  const std::string &cpuLevel() const { return level; }
  StatorKernelFunction kernel(size_t index) const { return kernels[index]; }
  /// A parameter's bytes in the mapping; read-only.
  const std::byte *parameter(size_t index) const { return parameters[index]; }
  /// The context of a library that the manifest requires; null for others.
  std::shared_ptr<LibraryContext> library(const std::string &name) const;

private:
  LoadedModule() = default;
  Status chooseKernels(const std::string &requestedLevel);
  Status loadKernels(size_t variant);

  serialization::ArtifactReader artifact;
  std::string level = "none";
  KernelLibrary kernelLibrary;
  std::vector<StatorKernelFunction> kernels;
  std::vector<const std::byte *> parameters;
  std::vector<std::shared_ptr<LibraryContext>> libraries;
};

/// The variant to use on a machine with these feature bits: the first (most demanding) one that it can run, or the one of that level
/// when `requestedLevel` is not empty. Unsupported, with both sides named, when there is none.
Result<size_t> chooseVariant(const std::vector<serialization::Variant> &variants, uint32_t features, const std::string &requestedLevel);

} // namespace stator::runtime

#endif // STATOR_RUNTIME_LOADER_LOADEDMODULE_H
