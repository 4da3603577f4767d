//===- Driver.cpp - from import to artifact --------------------------------===//
//
// One loop over the table of stages. Most stages are a list of passes on the
// module; import, codegen and artifact have a function each.
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver.h"

#include "codegen/Artifact/ArtifactEmitter.h"
#include "compiler/Options.h"
#include "compiler/ParameterSideFile.h"
#include "compiler/Registration.h"
#include "compiler/Trace/BuilderImpl.h"
#include "dialects/Graph/Shapes.h"
#include "dialects/Plan/PlanOps.h"
#include "dialects/Target/PackedLayouts.h"
#include "passes/Graph/Passes.h"
#include "passes/Optimise/Passes.h"
#include "passes/Plan/ArenaPacking.h"
#include "passes/Plan/InPlace.h"
#include "passes/Plan/Passes.h"
#include "serialization/Base/OutputFile.h"
#include "stator/Trace.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cstdlib>
#include <set>

using namespace mlir;
using namespace stator;
using namespace stator::compiler;

/// Names no folder: there is to be no cache.
static constexpr llvm::StringLiteral kNoCache = "off";
/// On the module, so that dumps carry it: keys and values in turn, for the artifact's list of remarks.
static constexpr llvm::StringLiteral kInfoAttr = "graph.info";

Driver::Driver(MLIRContext &context, const CompileOptions &options, DriverHooks hooks)
    : context(context), options(options), hooks(std::move(hooks)), diagnostics(&context, options.onDiagnostic) {
  DialectRegistry registry;
  registerDialects(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
  context.printOpOnDiagnostic(false); // The place and the text say it; a region of hundreds of operations does not help.
}

void Driver::progress(const Stage &stage, const std::string &detail) {
  stageName = stage.name;
  if (options.onProgress)
    options.onProgress(
        {std::string(stage.name), static_cast<unsigned>(stage.id) + 1, static_cast<unsigned>(pipelineStages().size()), detail});
}

LogicalResult Driver::runPasses(ModuleOp module, llvm::function_ref<void(OpPassManager &)> build, bool reproduce) {
  PassManager passes(&context);
  passes.enableVerifier(options.verifyEach);
  if (reproduce && !options.crashReproducer.empty())
    passes.enableCrashReproducerGeneration(options.crashReproducer);
  if (hooks.configure && failed(hooks.configure(passes)))
    return failure();
  build(passes);
  times.watch(passes, stageName);
  return passes.run(module);
}

Status Driver::importFile(const std::string &path) {
  TimedScope time(times, "stage", "import");
  STATOR_TRY(importOptions, importOptionsOf(options));
  const Stage *first = findStage(options.startFrom);
  if (first && first->id != StageId::Import) {
    Result<OwningOpRef<ModuleOp>> module = readDump(path, context);
    if (!module.ok())
      return diagnostics.failure(module.status().code(), module.status().message());
    ir = std::move(*module);
    return verifyDump(*first);
  }
  progress(pipelineStages().front(), path);
  STATOR_TRY(kind, modelKindOf(path, options.inputType));
  std::vector<SymbolSpec> given = importOptions.symbols;
  model = readModel(path, kind, std::move(importOptions), context);
  if (model.module)
    warnOfNarrowedSizes(given);
  showWarnings();
  if (!model.status.ok()) {
    for (const UnsupportedPart &part : model.unsupported)
      if (options.onDiagnostic)
        options.onDiagnostic({Diagnostic::Severity::Error, part.place, part.reason});
    return diagnostics.failure(model.status.code(), model.status.message());
  }
  ir = std::move(model.module);
  // The file's name without its folder: the same model gives the same artifact wherever it lies.
  std::vector<std::pair<std::string, std::string>> info = {{"source", llvm::sys::path::filename(path).str()}};
  llvm::append_range(info, model.info);
  SmallVector<StringRef> words;
  for (const auto &[key, value] : info)
    words.append({key, value});
  (*ir)->setAttr(kInfoAttr, Builder(&context).getStrArrayAttr(words));
  return verifyImported();
}

/// A model may need more than the ranges that its user gave: three elements for a window of three.
void Driver::warnOfNarrowedSizes(ArrayRef<SymbolSpec> given) {
  for (auto method : model.module->getOps<func::FuncOp>()) {
    std::map<std::string, DimInterval> ranges = graph::symbolRanges(method);
    for (const SymbolSpec &spec : given) {
      auto range = ranges.find(spec.name);
      if (range == ranges.end())
        continue;
      int64_t least = range->second.lo.value_or(spec.min), greatest = range->second.hi.value_or(spec.max);
      if (least > spec.min || greatest < spec.max)
        model.warnings.push_back({"", "size `" + spec.name + "` is given as " + std::to_string(spec.min) + ".." + std::to_string(spec.max) +
                                          ", but `" + method.getName().str() + "` takes " + std::to_string(least) + ".." +
                                          std::to_string(greatest) + " only: the model's operators ask for that"});
    }
  }
}

/// A model that is traced twice, or calls a module twice, causes the same warning twice.
void Driver::showWarnings() {
  std::set<std::pair<std::string, std::string>> shown;
  for (const ImportWarning &warning : model.warnings)
    if (options.onDiagnostic && shown.insert({warning.place, warning.message}).second)
      options.onDiagnostic({Diagnostic::Severity::Warning, warning.place, warning.message});
}

/// A dump of another stage than the one before `first`, or an edited one, would end in an assertion of some pass.
Status Driver::verifyDump(const Stage &first) {
  bool isPlan = first.id > StageId::Plan;
  bool hasMethods = isPlan ? !ir->getOps<plan::MethodOp>().empty() : !ir->getOps<func::FuncOp>().empty();
  std::string stage = "stage `" + std::string(first.name) + "`";
  if (!hasMethods)
    return diagnostics.failure(StatusCode::InvalidFile,
                               "the IR has no " + std::string(isPlan ? "plan.method" : "func.func") + ", which " + stage + " starts from");
  auto verify = [&](OpPassManager &passes) {
    if (isPlan)
      passes.addPass(plan::createPlanVerifyPass());
    else if (first.id == StageId::Plan)
      passes.addNestedPass<func::FuncOp>(optimise::createVerifyFusedPass());
    else if (first.id == StageId::Graph)
      passes.addPass(graph::createVerifyImportedPass());
    else
      passes.addPass(graph::createVerifyGraphPass());
  };
  if (failed(runPasses(*ir, verify, /*reproduce=*/false)))
    return diagnostics.failure(StatusCode::InvalidFile, "the IR is not what " + stage + " starts from");
  return okStatus();
}

Status Driver::adopt(OwningOpRef<ModuleOp> module) {
  progress(pipelineStages().front(), "traced model");
  ir = std::move(module);
  return verifyImported();
}

Status Driver::verifyImported() {
  // What fails here is the model's fault, and the model reproduces it.
  if (failed(runPasses(*ir, [](OpPassManager &passes) { passes.addPass(graph::createVerifyImportedPass()); }, /*reproduce=*/false)))
    return diagnostics.failure(StatusCode::InvalidArgument, "the imported graph is not valid");
  return dump(pipelineStages().front());
}

Status Driver::run() {
  const Stage *first = findStage(options.startFrom);
  for (const Stage &stage : pipelineStages()) {
    bool isDone = stage.id == StageId::Import || (first && stage.id < first->id);
    if (!isDone) {
      progress(stage);
      TimedScope time(times, "stage", std::string(stage.name));
      STATOR_RETURN_IF_ERROR(runStage(stage));
      if (stage.id != StageId::Artifact)
        STATOR_RETURN_IF_ERROR(dump(stage));
    }
    if (isLast(stage))
      break;
  }
  if (hooks.onFinished)
    hooks.onFinished(*ir);
  return okStatus();
}

Status Driver::runStage(const Stage &stage) {
  if (stage.id == StageId::Codegen)
    return runCodegen();
  if (stage.id == StageId::Artifact)
    return runArtifact();
  PipelineOptions pipelineOptions;
  pipelineOptions.optimisationLevel = options.optimisationLevel;
  pipelineOptions.library = options.library;
  STATOR_TRY(levels, cpuLevelsOf(options));
  if (!levels.empty())
    pipelineOptions.level = levels.front().name;
  STATOR_TRY(optimisations, optimisationsOf(options));
  pipelineOptions.optimisations = std::move(optimisations);
  if (options.weightsBudget)
    pipelineOptions.weightsBudget = static_cast<int64_t>(std::min<uint64_t>(*options.weightsBudget, INT64_MAX));
  if (failed(runPasses(*ir, [&](OpPassManager &passes) { stage.build(passes, pipelineOptions); })))
    return diagnostics.failure(StatusCode::Unsupported, "stage `" + std::string(stage.name) + "` failed")
        .withContext("stage `" + std::string(stage.name) + "`");
  if (stage.id == StageId::Optimise && options.embedIr) {
    llvm::raw_string_ostream stream(optimisedGraph);
    ir->print(stream, OpPrintingFlags().elideLargeElementsAttrs());
  }
  return okStatus();
}

/// The folder that the options or the environment name; null for none.
std::unique_ptr<codegen::CompileCache> Driver::openCache() {
  std::string folder = options.cacheDir;
  if (const char *fromEnvironment = std::getenv("STATOR_CACHE_DIR"); folder.empty() && fromEnvironment)
    folder = fromEnvironment;
  if (folder.empty() || folder == kNoCache)
    return nullptr;
  return std::make_unique<codegen::CompileCache>(folder, options.cacheBytes, [this](const std::string &message) {
    if (options.onDiagnostic)
      options.onDiagnostic({Diagnostic::Severity::Warning, "", message});
  });
}

Status Driver::runCodegen() {
  STATOR_TRY(levels, cpuLevelsOf(options));
  std::unique_ptr<codegen::CompileCache> cache = openCache();
  CodegenRequest request;
  request.levels = levels;
  request.optimisationLevel = options.optimisationLevel;
  request.dumpKernelsDir = options.dumpKernelsDir;
  request.keepLowered = !options.dumpIrDir.empty();
  request.cache = cache.get();
  request.times = &times;
  request.runPasses = [this](ModuleOp module, llvm::function_ref<void(OpPassManager &)> build) { return runPasses(module, build); };
  request.onProgress = [this](const std::string &detail) { progress(*findStage("codegen"), detail); };
  Result<CompiledKernels> compiled = compileKernelLibraries(*ir, request);
  if (!compiled.ok())
    return diagnostics.failure(compiled.status().code(), compiled.status().message());
  kernels = std::move(*compiled);
  for (const codegen::KernelLibrary &library : kernels.libraries)
    result.cpuLevels.push_back(library.level);
  if (cache) {
    cache->trim();
    result.usesCache = true;
    result.cacheHits = kernels.unitsFromCache;
    result.cacheMisses = kernels.units - kernels.unitsFromCache;
    result.cacheDamaged = cache->statistics().damaged;
  }
  return okStatus();
}

static MethodMemory memoryOf(plan::MethodOp method) {
  MethodMemory memory;
  memory.method = method.getName().str();
  memory.arena = method.getArenaSize().value_or("0").str();
  memory.livePeakBytes = static_cast<uint64_t>(method.getLivePeak().value_or(0));
  DimExpr size = plan::exprOf(memory.arena);
  std::map<std::string, int64_t> nominal = plan::nominalSymbols(plan::symbolRangesOf(method));
  if (Result<int64_t> bytes = size.evaluate(nominal); bytes.ok())
    memory.arenaBytes = static_cast<uint64_t>(*bytes);
  for (const std::string &symbol : size.symbols())
    memory.sizes += (memory.sizes.empty() ? "" : ", ") + symbol + "=" + std::to_string(nominal[symbol]);
  return memory;
}

Status Driver::runArtifact() {
  codegen::ArtifactContents contents;
  contents.module = *ir;
  contents.libraries = std::move(kernels.libraries);
  contents.scratch = kernels.scratch;
  contents.withBarrier = kernels.withBarrier;
  contents.producer = versionText();
  auto info = (*ir)->getAttrOfType<ArrayAttr>(kInfoAttr);
  for (size_t i = 0; info && i + 1 < info.size(); i += 2) {
    auto key = dyn_cast<StringAttr>(info[i]), value = dyn_cast<StringAttr>(info[i + 1]);
    if (key && value)
      contents.info.emplace_back(key.str(), value.str());
  }
  contents.irText = optimisedGraph;
  contents.onParameter = [this](unsigned i, unsigned count) {
    progress(*findStage("artifact"), "parameter " + std::to_string(i + 1) + " of " + std::to_string(count));
  };
  Result<codegen::ArtifactStatistics> statistics = codegen::writeArtifact(contents, options.output);
  if (!statistics.ok())
    return diagnostics.failure(statistics.status().code(), statistics.status().message());
  result.output = options.output;
  result.methods = statistics->methods;
  result.kernels = statistics->kernels;
  result.kernelCalls = statistics->kernelCalls;
  result.libraryCalls = statistics->libraryCalls;
  result.weightBytes = statistics->weightBytes;
  for (auto parameter : ir->getOps<graph::ParameterOp>())
    if (parameter.getLayout() == llvm::StringRef(winogradPanelsLayout)) {
      // Of n * n elements 9 are what a direct filter has too.
      int64_t bytes = graph::staticByteSize(parameter.tensorType()).value_or(0), elements = parameter.tensorType().getDimSize(1);
      result.winogradBytes += static_cast<uint64_t>(bytes - bytes / elements * 9);
    }
  for (auto method : ir->getOps<plan::MethodOp>())
    result.memory.push_back(memoryOf(method));
  llvm::sys::fs::file_size(options.output, result.artifactBytes);
  return okStatus();
}

Status Driver::writeDump(const std::string &name, Operation *op) {
  llvm::SmallString<256> path(options.dumpIrDir);
  llvm::sys::path::append(path, name);
  // With locations: labels come from them, and a resumed run is to give the same artifact.
  std::string text;
  llvm::raw_string_ostream stream(text);
  op->print(stream, OpPrintingFlags().enableDebugInfo());
  stream << "\n";
  STATOR_TRY(file, OutputFile::create(std::string(path)));
  STATOR_RETURN_IF_ERROR(file->write(text.data(), text.size()));
  return file->commit();
}

Status Driver::dump(const Stage &stage) {
  if (options.dumpIrDir.empty())
    return okStatus();
  if (std::error_code error = llvm::sys::fs::create_directories(options.dumpIrDir, true, llvm::sys::fs::perms(0777)))
    return notFound("`" + options.dumpIrDir + "`: " + error.message());
  std::string number = std::to_string(static_cast<int>(stage.id) + 1);
  STATOR_RETURN_IF_ERROR(writeDump(number + "." + std::string(stage.name) + ".mlir", *ir));
  if (stage.id == StageId::Codegen) {
    for (auto &[level, lowered] : kernels.lowered)
      STATOR_RETURN_IF_ERROR(writeDump(number + "." + std::string(stage.name) + "." + level + ".mlir", *lowered));
    kernels.lowered.clear();
  }
  // Sources are only ever added, so the last stage's file serves the texts of all; it is large, hence written once.
  bool isFinal = isLast(stage) || stage.id == StageId::Codegen;
  if (!isFinal)
    return okStatus();
  llvm::SmallString<256> path(options.dumpIrDir);
  llvm::sys::path::append(path, kParameterSideFileName);
  return writeParameterSideFile(graph::parametersOf(&context), std::string(path));
}

CompileSummary Driver::takeSummary() {
  result.times = times.entries();
  return std::move(result);
}

Result<CompileSummary> compiler::compile(const std::string &path, const CompileOptions &options, DriverHooks hooks) {
  STATOR_RETURN_IF_ERROR(validate(options));
  MLIRContext context;
  Driver driver(context, options, std::move(hooks));
  STATOR_RETURN_IF_ERROR(driver.importFile(path));
  STATOR_RETURN_IF_ERROR(driver.run());
  return driver.takeSummary();
}

Result<CompileSummary> compiler::compile(const std::string &path, const CompileOptions &options) { return compile(path, options, {}); }

Result<CompileSummary> compiler::compile(trace::Builder &model, const CompileOptions &options) {
  STATOR_RETURN_IF_ERROR(validate(options));
  trace::BuilderImpl &impl = trace::BuilderImpl::of(model);
  STATOR_RETURN_IF_ERROR(impl.isFinished() ? model.status() : model.finish());
  Driver driver(*impl.context(), options, {});
  STATOR_RETURN_IF_ERROR(driver.adopt(impl.takeModule()));
  STATOR_RETURN_IF_ERROR(driver.run());
  return driver.takeSummary();
}

std::vector<StageInfo> compiler::stages() {
  std::vector<StageInfo> table;
  for (const Stage &stage : pipelineStages())
    table.push_back(
        {std::string(stage.name), std::string(stage.from), std::string(stage.to), std::string(stage.does), std::string(stage.verifiedBy)});
  return table;
}

std::string compiler::versionText() { return "stator " STATOR_VERSION " (LLVM " LLVM_VERSION_STRING ")"; }
