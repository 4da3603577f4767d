// Loading: the file, the variant, the kernels, the libraries.
#include "runtime/Loader/LoadedModule.h"
#include "runtime/Devices/Cpu/CpuInfo.h"

#include <cstdlib>

namespace stator::runtime {

using serialization::Variant;

static std::string levelNames(const std::vector<Variant> &variants) {
  std::string names;
  for (const Variant &variant : variants)
    names += (names.empty() ? "`" : ", `") + variant.level + "`";
  return names.empty() ? "none" : names;
}

Result<size_t> chooseVariant(const std::vector<Variant> &variants, uint32_t features, const std::string &requestedLevel) {
  for (size_t i = 0; i < variants.size(); ++i) {
    bool fits = (variants[i].requiredFeatures & ~uint64_t(features)) == 0;
    if (requestedLevel.empty() ? fits : fits && variants[i].level == requestedLevel)
      return i;
  }
  for (const Variant &variant : variants)
    if (!requestedLevel.empty() && variant.level == requestedLevel)
      return unsupported("this machine cannot run kernels for `" + requestedLevel + "`, it has " + describeCpuFeatures(features));
  if (!requestedLevel.empty())
    return notFound("the artifact has no kernels for `" + requestedLevel + "`, it has them for " + levelNames(variants));
  return unsupported("the artifact has kernels for " + levelNames(variants) + ", this machine has " + describeCpuFeatures(features));
}

Status LoadedModule::loadKernels(size_t index) {
  const Variant &variant = manifest().variants[index];
  Result<KernelLibrary> loaded = KernelLibrary::load(artifact.kernelBytes(index));
  if (!loaded.ok())
    return loaded.status().withContext("`" + variant.entry + "`");
  kernelLibrary = std::move(loaded).value();
  for (const serialization::Kernel &kernel : manifest().kernels) {
    StatorKernelFunction function = kernelLibrary.find(serialization::kKernelSymbolPrefix + kernel.name);
    if (!function)
      return invalidFile("`" + variant.entry + "` has no kernel `" + kernel.name + "`");
    kernels.push_back(function);
  }
  level = variant.level;
  return okStatus();
}

Status LoadedModule::chooseKernels(const std::string &requestedLevel) {
  // A model that only moves data about may have no kernels, and then needs no variant.
  if (manifest().kernels.empty() && manifest().variants.empty())
    return okStatus();
  std::string wanted = requestedLevel;
  if (const char *fromEnvironment = std::getenv("STATOR_CPU_LEVEL"); wanted.empty() && fromEnvironment)
    wanted = fromEnvironment;
  STATOR_TRY(chosen, chooseVariant(manifest().variants, detectCpuFeatures(), wanted));
  return loadKernels(chosen);
}

Result<std::shared_ptr<const LoadedModule>> LoadedModule::load(const std::string &path, const std::string &cpuLevel) {
  std::shared_ptr<LoadedModule> module(new LoadedModule());
  STATOR_TRY(reader, serialization::ArtifactReader::open(path));
  module->artifact = std::move(reader);
  STATOR_RETURN_IF_ERROR(module->chooseKernels(cpuLevel).withContext("`" + path + "`"));
  for (size_t i = 0; i < module->manifest().parameters.size(); ++i)
    module->parameters.push_back(module->artifact.parameterBytes(i).data());
  for (const std::string &requirement : module->manifest().requirements) {
    Result<std::shared_ptr<LibraryContext>> library = LibraryContext::open(requirement);
    if (!library.ok())
      return library.status().withContext("`" + path + "`");
    module->libraries.push_back(std::move(library).value());
  }
  return std::shared_ptr<const LoadedModule>(std::move(module));
}

std::shared_ptr<LibraryContext> LoadedModule::library(const std::string &name) const {
  for (const std::shared_ptr<LibraryContext> &library : libraries)
    if (library->library() == name)
      return library;
  return nullptr;
}

} // namespace stator::runtime
