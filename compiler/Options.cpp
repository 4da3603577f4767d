//===- Options.cpp - grammar and checks of the compiler's options ----------===//
//
// Every error repeats the text that was given and says what was expected.
//
//===----------------------------------------------------------------------===//

#include "compiler/Options.h"
#include "compiler/Pipeline.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/TargetParser/Host.h"

#include <limits>

using namespace stator;
using namespace stator::compiler;
using llvm::StringRef;

static StringRef toRef(std::string_view text) { return StringRef(text.data(), text.size()); }

static std::optional<int64_t> parseNumber(StringRef text) {
  int64_t value;
  if (text.empty() || !llvm::all_of(text, llvm::isDigit) || text.getAsInteger(10, value))
    return std::nullopt;
  return value;
}

Result<InputSpec> compiler::parseInputSpec(std::string_view given) {
  StringRef text = toRef(given);
  auto refuse = [&](const llvm::Twine &why) {
    return invalidArgument(("input `" + text + "`: " + why + ", expected [NAME=]SHAPExTYPE such as x=1x3x224x224xf32").str());
  };
  InputSpec spec;
  // A name may hold anything, `=` too; a shape holds none.
  StringRef shape = text;
  if (size_t equals = text.rfind('='); equals != StringRef::npos) {
    spec.name = text.take_front(equals).str();
    shape = text.drop_front(equals + 1);
    if (spec.name.empty())
      return refuse("the name is empty");
  }
  llvm::SmallVector<StringRef> parts;
  shape.split(parts, 'x');
  for (auto [i, part] : llvm::enumerate(parts)) {
    bool isLast = i + 1 == parts.size();
    if (std::optional<int64_t> number = parseNumber(part)) {
      spec.dims.push_back({DimSpec::Kind::Number, *number, ""});
    } else if (part == "?") {
      spec.dims.push_back({DimSpec::Kind::FromModel, 0, ""});
    } else if (!part.empty() && llvm::isUpper(part[0]) && llvm::all_of(part, [](char c) { return llvm::isAlnum(c) || c == '_'; })) {
      spec.dims.push_back({DimSpec::Kind::Symbol, 0, part.str()});
    } else if (auto type = isLast ? parseElementType(part.str()) : std::nullopt) {
      spec.type = *type;
    } else {
      return refuse("`" + part + "` is neither a size" + (isLast ? " nor an element type" : ""));
    }
  }
  if (!spec.type && spec.name.empty())
    return refuse("neither a name nor an element type is given");
  return spec;
}

Result<SymbolSpec> compiler::parseSymbolSpec(std::string_view given) {
  StringRef text = toRef(given);
  auto [name, value] = text.rsplit('=');
  auto refuse = [&](StringRef why) {
    return invalidArgument(("dim `" + text + "`: " + why + ", expected NAME=VALUE or NAME=MIN..MAX").str());
  };
  if (name.empty() || name.size() == text.size())
    return refuse("no name is given");
  SymbolSpec spec;
  spec.name = name.str();
  if (size_t dots = value.find(".."); dots != StringRef::npos) {
    StringRef high = value.drop_front(dots + 2);
    std::optional<int64_t> min = parseNumber(value.take_front(dots));
    std::optional<int64_t> max = high.empty() ? std::optional<int64_t>(std::numeric_limits<int32_t>::max()) : parseNumber(high);
    if (!min || !max)
      return refuse("a bound is not a number");
    if (*min > *max)
      return refuse("the lower bound is above the upper one");
    spec.min = *min;
    spec.max = *max;
    return spec;
  }
  std::optional<int64_t> number = parseNumber(value);
  if (!number)
    return refuse("the value is not a number");
  spec.min = spec.max = *number;
  return spec;
}

Result<ConstantSpec> compiler::parseConstantSpec(std::string_view given) {
  StringRef text = toRef(given);
  // A name may hold `=`; numbers hold none, and a path comes after the first `=@`.
  size_t file = text.find("=@");
  auto [name, values] = file == StringRef::npos ? text.rsplit('=') : std::pair(text.take_front(file), text.drop_front(file + 1));
  auto refuse = [&](StringRef why) {
    return invalidArgument(("const `" + text + "`: " + why + ", expected NAME=VALUES or NAME=@FILE.npy").str());
  };
  if (name.empty() || name.size() == text.size())
    return refuse("no name is given");
  ConstantSpec spec;
  spec.name = name.str();
  if (values.consume_front("@")) {
    if (values.empty())
      return refuse("no file is given");
    spec.file = values.str();
    return spec;
  }
  for (StringRef rest = values;;) {
    rest = rest.ltrim(", \t[]");
    if (rest.empty())
      return spec;
    StringRef element = rest.take_until([](char c) { return StringRef(", \t[]").contains(c); });
    spec.elements.push_back(element.str());
    rest = rest.drop_front(element.size());
  }
}

Result<ImportOptions> compiler::importOptionsOf(const CompileOptions &options) {
  ImportOptions out;
  for (const std::string &text : options.inputs) {
    STATOR_TRY(spec, parseInputSpec(text));
    out.inputs.push_back(std::move(spec));
  }
  for (const std::string &text : options.dims) {
    STATOR_TRY(spec, parseSymbolSpec(text));
    out.symbols.push_back(std::move(spec));
  }
  for (const std::string &text : options.constants) {
    STATOR_TRY(spec, parseConstantSpec(text));
    out.constants.push_back(std::move(spec));
  }
  return out;
}

Result<std::vector<CpuLevel>> compiler::cpuLevelsOf(const CompileOptions &options) {
  std::vector<CpuLevel> targets;
  if (!options.processor.empty()) {
    // The features are what is measured on the machine; its name only tunes, and is masked on many virtual machines.
    if (options.processor != "host") {
      if (const CpuLevel *level = findCpuLevel(options.processor))
        return std::vector<CpuLevel>{*level};
      return unsupported("processor `" + options.processor + "` is not known, expected `host` or a level such as x86-64-v3");
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
    return options.cpuLevels.empty() || llvm::any_of(options.cpuLevels, [&](const std::string &name) {
             return name == level.name || (name.size() == 2 && StringRef(level.name).ends_with("-" + name));
           });
  };
  auto levels = cpuLevels();
  for (const CpuLevel &level : llvm::reverse(levels))
    if (wants(level))
      targets.push_back(level);
  for (const std::string &name : options.cpuLevels)
    if (llvm::none_of(levels, [&](const CpuLevel &level) { return name == level.name || StringRef(level.name).ends_with("-" + name); })) {
      std::string known;
      for (const CpuLevel &level : levels)
        known += (known.empty() ? "" : ", ") + std::string(level.name);
      return invalidArgument("CPU level `" + name + "` is not known, expected one of " + known);
    }
  return targets;
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
