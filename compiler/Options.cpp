//===- Options.cpp - checks of the compiler's options ----------------------===//
//
// Every error repeats the text that was given and says what was expected.
//
//===----------------------------------------------------------------------===//

#include "compiler/Options.h"
#include "compiler/Pipeline.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/TargetParser/Host.h"

using namespace stator;
using namespace stator::compiler;
using llvm::StringRef;

Result<std::vector<CpuLevel>> compiler::cpuLevelsOf(const CompileOptions &options) {
  std::vector<CpuLevel> targets;
  auto isNamed = [](const CpuLevel &level, const std::string &name) {
    return name == level.name || (name.size() == 2 && StringRef(level.name).ends_with("-" + name));
  };
  if (!options.processor.empty()) {
    // The features are what is measured on the machine; its name only tunes, and is masked on many virtual machines.
    if (options.processor != "host") {
      for (const CpuLevel &level : cpuLevels())
        if (isNamed(level, options.processor))
          return std::vector<CpuLevel>{level};
      return unsupported("processor `" + options.processor + "` is not known, expected `host` or a level such as x86-64-v3 or v3");
    }
    llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
    auto levels = cpuLevels();
    for (const CpuLevel &level : llvm::reverse(levels))
      if (level.name == "x86-64-v2" || (level.name == "x86-64-v3" && features.lookup("avx2") && features.lookup("fma")) ||
          (level.name == "x86-64-v4" && features.lookup("avx512f") && features.lookup("avx512bw") && features.lookup("avx512vl")))
        return std::vector<CpuLevel>{level};
    return unsupported("this machine has none of the CPU levels that kernels are built for");
  }
  auto wants = [&](const CpuLevel &level) {
    return options.cpuLevels.empty() || llvm::any_of(options.cpuLevels, [&](const std::string &name) { return isNamed(level, name); });
  };
  auto levels = cpuLevels();
  for (const CpuLevel &level : llvm::reverse(levels))
    if (wants(level))
      targets.push_back(level);
  for (const std::string &name : options.cpuLevels)
    if (llvm::none_of(levels, [&](const CpuLevel &level) { return isNamed(level, name); })) {
      std::string known;
      for (const CpuLevel &level : levels)
        known += (known.empty() ? "" : ", ") + std::string(level.name);
      return invalidArgument("CPU level `" + name + "` is not known, expected one of " + known);
    }
  return targets;
}

Result<Optimisations> compiler::optimisationsOf(const CompileOptions &options) {
  Optimisations result;
  std::optional<MathMode> math = parseMathMode(options.math);
  if (!math)
    return invalidArgument("math mode `" + options.math + "` is not known, expected exact, default or fast");
  result.math = *math;
  for (const std::string &name : options.disabledOptimisations) {
    std::string known;
    for (const OptimisationInfo &info : stator::optimisations())
      known += (known.empty() ? "" : ", ") + std::string(info.name);
    if (llvm::none_of(stator::optimisations(), [&](const OptimisationInfo &info) { return info.name == name; }))
      return invalidArgument("optimisation `" + name + "` is not known, expected one of " + known);
    result.disabled.push_back(name);
  }
  return result;
}

std::vector<OptimisationSummary> compiler::optimisations() {
  static constexpr const char *kModes[] = {"exact", "default", "fast"};
  std::vector<OptimisationSummary> table;
  for (const OptimisationInfo &info : stator::optimisations())
    table.push_back({std::string(info.name), kModes[static_cast<int>(info.from)], std::string(info.does)});
  return table;
}

static Status validateStage(const std::string &flag, const std::string &name) {
  if (name.empty() || findStage(name))
    return okStatus();
  std::string known;
  for (const Stage &stage : pipelineStages())
    known += (known.empty() ? "" : ", ") + std::string(stage.name);
  return invalidArgument(flag + " names `" + name + "`, expected one of " + known);
}

Status compiler::validate(const CompileOptions &options) {
  if (options.library != "none" && options.library != "onednn" && options.library != "auto")
    return invalidArgument("library `" + options.library + "` is not known, expected none, onednn or auto");
  STATOR_RETURN_IF_ERROR(optimisationsOf(options).status());
  if (options.optimisationLevel < 0 || options.optimisationLevel > 3)
    return invalidArgument("optimisation level " + std::to_string(options.optimisationLevel) + " is not in 0..3");
  static constexpr StringRef kInputTypes[] = {"", "onnx", "pt", "pt2", "mlir"};
  if (!llvm::is_contained(kInputTypes, options.inputType))
    return unsupported("input type `" + options.inputType + "` is not supported by this version, expected onnx, pt, pt2 or mlir");
  STATOR_RETURN_IF_ERROR(validateStage("--start-from", options.startFrom));
  STATOR_RETURN_IF_ERROR(validateStage("--stop-after", options.stopAfter));
  const Stage *first = findStage(options.startFrom), *last = findStage(options.stopAfter);
  if (first && last && first->id > last->id)
    return invalidArgument("--start-from names `" + options.startFrom + "`, which comes after `" + options.stopAfter + "`");
  if (first && first->id == StageId::Artifact)
    return invalidArgument("the artifact stage cannot be started from: it needs the objects of `codegen`");
  if (options.output.empty() && (!last || last->id == StageId::Artifact))
    return invalidArgument("no output file is given");
  STATOR_RETURN_IF_ERROR(importOptionsOf(options).status());
  return cpuLevelsOf(options).status();
}
