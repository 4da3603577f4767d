//===- CodegenStage.cpp - kernels to objects, on all cores -----------------===//
//
// The functions are cloned for each level because lowering differs from its
// first pass on: the vector width shapes the loops. Scratch too may differ, so
// that a kernel's need is the largest of its levels'.
//
// Kernels are independent of each other, so each is a module of its own from
// here to its object, and all cores take part: the pass manager lowers the
// modules of a level in parallel, and while the next level is lowered, LLVM works
// on those before it, the largest kernels first. Results have their place from
// the beginning, so the outcome does not depend on who is done when, nor on what
// a cache has.
//
// Alternatives: one module per level leaves cores idle when a single level is
// compiled, which is the common case (`--mcpu=host`); a few kernels per module
// would share what LLVM sets up for each, but not balance.
//
//===----------------------------------------------------------------------===//

#include "compiler/CodegenStage.h"
#include "compiler/KernelUnit.h"

#include "codegen/Cache/CompilerIdentity.h"
#include "passes/Kernel/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/ThreadPool.h"

#include <condition_variable>

using namespace mlir;
using namespace stator;
using namespace stator::compiler;

namespace {

class KernelCompiler {
public:
  KernelCompiler(ModuleOp kernels, const CodegenRequest &request) : context(*kernels.getContext()), request(request) {
    bool isDumped = request.keepLowered || !request.dumpKernelsDir.empty();
    usesCache = request.cache && !isDumped && !codegen::compilerIdentity().empty();
    for (const CpuLevel &level : request.levels)
      for (auto function : kernels.getOps<func::FuncOp>()) {
        auto family = function->getAttrOfType<StringAttr>(plan::kFamilyAttrName);
        units.push_back({function, &level, function.getName().str(), family ? family.str() : "", {}, {}, {}, false, ""});
      }
  }
  ~KernelCompiler() { finish(); }

  Result<CompiledKernels> run();

private:
  kernel::KernelOptions kernelOptionsOf(const CpuLevel &level) const;
  std::string recipeOf(const CpuLevel &level) const;
  std::string dumpFolderOf(const CpuLevel &level) const;
  void findInCache();
  Status lower(MutableArrayRef<KernelUnit> level);
  void compile(KernelUnit &unit);
  void start(ArrayRef<KernelUnit *> largestFirst);
  void finish();
  void awaitAll();
  Status link(MutableArrayRef<KernelUnit> level, CompiledKernels &out);
  void keepLowered(MutableArrayRef<KernelUnit> level, CompiledKernels &out);

  MLIRContext &context;
  const CodegenRequest &request;
  bool usesCache;
  /// Level by level, in each the kernels in order.
  std::vector<KernelUnit> units;
  std::unique_ptr<llvm::ThreadPoolTaskGroup> tasks;
  std::mutex mutex;
  std::condition_variable changed;
  size_t started = 0, done = 0;
};

} // namespace

kernel::KernelOptions KernelCompiler::kernelOptionsOf(const CpuLevel &level) const {
  kernel::KernelOptions options;
  options.vectorBits = level.vectorBits;
  options.vectorRegisters = level.vectorRegisters;
  return options;
}

/// The passes print themselves with their options, so that no option can be forgotten here.
std::string KernelCompiler::recipeOf(const CpuLevel &level) const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  OpPassManager passes(ModuleOp::getOperationName());
  kernel::buildKernelPipeline(passes, kernelOptionsOf(level));
  stream << codegen::compilerIdentity() << "\n" << level.name << " " << level.llvmFeatures << " -O" << request.optimisationLevel << "\n";
  passes.printAsTextualPipeline(stream);
  return text;
}

std::string KernelCompiler::dumpFolderOf(const CpuLevel &level) const {
  llvm::SmallString<256> path(request.dumpKernelsDir);
  llvm::sys::path::append(path, level.name);
  return std::string(path);
}

void KernelCompiler::findInCache() {
  if (!usesCache)
    return;
  TimedScope time(*request.times, "codegen", "cache");
  std::vector<std::string> texts;
  const CpuLevel *level = nullptr;
  std::string recipe;
  size_t perLevel = units.size() / request.levels.size();
  for (auto [i, unit] : llvm::enumerate(units)) {
    if (i < perLevel)
      texts.push_back(textOf(unit.function));
    if (std::exchange(level, unit.level) != unit.level)
      recipe = recipeOf(*unit.level);
    unit.key = keyOf(texts[i % perLevel], recipe);
    std::optional<std::vector<char>> bytes = request.cache->find(unit.key);
    std::optional<KernelProduct> product = bytes ? deserialise(std::move(*bytes), unit.name) : std::nullopt;
    unit.isCached = product.has_value();
    if (product)
      unit.product = std::move(*product);
  }
}

/// All of a level in one run of a pass manager: it works on the modules in parallel, and keeps diagnostics in order.
Status KernelCompiler::lower(MutableArrayRef<KernelUnit> level) {
  OwningOpRef<ModuleOp> all = ModuleOp::create(UnknownLoc::get(&context));
  SmallVector<KernelUnit *> lowered;
  for (KernelUnit &unit : level)
    if (!unit.isCached) {
      all->push_back(isolate(unit).release());
      lowered.push_back(&unit);
    }
  if (lowered.empty())
    return okStatus();
  kernel::KernelOptions options = kernelOptionsOf(*level.front().level);
  if (failed(request.runPasses(*all, [&](OpPassManager &passes) { kernel::buildKernelPipeline(passes.nest<ModuleOp>(), options); })))
    return internalError("kernels cannot be lowered for " + std::string(level.front().level->name));
  SmallVector<std::pair<size_t, KernelUnit *>> sizes;
  for (auto [unit, module] : llvm::zip_equal(lowered, llvm::to_vector(all->getOps<ModuleOp>()))) {
    module->remove();
    unit->lowered = module;
    describe(module, unit->product);
    size_t ops = 0;
    module->walk([&](Operation *) { ++ops; });
    sizes.push_back({ops, unit});
  }
  llvm::sort(sizes, [](const auto &a, const auto &b) { return std::tie(b.first, a.second->name) < std::tie(a.first, b.second->name); });
  start(llvm::to_vector(llvm::make_second_range(sizes)));
  return okStatus();
}

/// The rest of the work on one kernel, on any thread.
void KernelCompiler::compile(KernelUnit &unit) {
  codegen::CpuCodegenOptions options;
  options.optimisationLevel = request.optimisationLevel;
  if (!request.dumpKernelsDir.empty())
    options.dumpStem = dumpFolderOf(*unit.level) + "/" + unit.name;
  llvm::Expected<codegen::KernelObject> object = codegen::compileObject(*unit.lowered, *unit.level, options);
  if (!object) {
    unit.failure = llvm::toString(object.takeError());
  } else {
    unit.product.object = std::move(*object);
    const codegen::CodegenTimes &times = unit.product.object.times;
    request.times->add("codegen", "to LLVM IR", times.translate);
    request.times->add("codegen", "optimise", times.optimise);
    request.times->add("codegen", "emit", times.emit);
    request.times->add("kernel family", unit.family + ": compile", times.translate + times.optimise + times.emit);
    request.times->add("kernel", unit.name + " (" + std::string(unit.level->name) + ")", times.translate + times.optimise + times.emit);
  }
  if (!request.keepLowered)
    unit.lowered = nullptr;
  std::lock_guard<std::mutex> lock(mutex);
  ++done;
  changed.notify_one();
}

void KernelCompiler::start(ArrayRef<KernelUnit *> largestFirst) {
  for (KernelUnit *unit : largestFirst) {
    ++started;
    if (tasks)
      tasks->async([this, unit] { compile(*unit); });
    else
      compile(*unit);
  }
}

void KernelCompiler::finish() {
  if (tasks)
    tasks->wait();
}

/// Progress is reported from the caller's thread.
void KernelCompiler::awaitAll() {
  size_t seen = 0;
  std::unique_lock<std::mutex> lock(mutex);
  while (seen != started) {
    changed.wait(lock, [&] { return done != seen; });
    seen = done;
    lock.unlock();
    if (request.onProgress)
      request.onProgress("kernel " + std::to_string(seen) + " of " + std::to_string(started));
    lock.lock();
  }
  lock.unlock();
  finish();
}

Status KernelCompiler::link(MutableArrayRef<KernelUnit> level, CompiledKernels &out) {
  TimedScope time(*request.times, "codegen", "link");
  const CpuLevel &cpuLevel = *level.front().level;
  auto fail = [&](const std::string &what) {
    return internalError("kernels cannot be compiled for " + std::string(cpuLevel.name) + ": " + what);
  };
  std::vector<const codegen::KernelObject *> objects;
  for (KernelUnit &unit : level) {
    if (!unit.failure.empty())
      return fail(unit.failure);
    objects.push_back(&unit.product.object);
    if (unit.product.hasBarrier)
      out.withBarrier.insert(unit.name);
    if (!unit.product.scratch.empty()) {
      DimExpr bytes = plan::exprOf(unit.product.scratch);
      auto [known, isNew] = out.scratch.try_emplace(unit.name, bytes);
      if (!isNew && known->second != bytes)
        known->second = known->second.max(bytes);
    }
  }
  auto library = codegen::linkKernels(objects, cpuLevel, request.dumpKernelsDir.empty() ? "" : dumpFolderOf(cpuLevel));
  if (!library)
    return fail(llvm::toString(library.takeError()));
  out.libraries.push_back(std::move(*library));
  return okStatus();
}

/// One module per level, as before they were taken apart.
void KernelCompiler::keepLowered(MutableArrayRef<KernelUnit> level, CompiledKernels &out) {
  OwningOpRef<ModuleOp> all = ModuleOp::create(UnknownLoc::get(&context));
  for (KernelUnit &unit : level) {
    for (Operation &op : llvm::make_early_inc_range(*unit.lowered->getBody())) {
      // Declarations of what is not a kernel are in several modules.
      auto symbol = dyn_cast<SymbolOpInterface>(op);
      if (!symbol || !SymbolTable::lookupSymbolIn(*all, symbol.getName()))
        op.moveBefore(all->getBody(), all->getBody()->end());
    }
    unit.lowered = nullptr;
  }
  out.lowered.emplace_back(std::string(level.front().level->name), std::move(all));
}

Result<CompiledKernels> KernelCompiler::run() {
  findInCache();
  codegen::prepareForCodegen(context);
  if (context.isMultithreadingEnabled())
    tasks = std::make_unique<llvm::ThreadPoolTaskGroup>(context.getThreadPool());
  size_t perLevel = units.size() / request.levels.size();
  auto level = [&](size_t i) { return MutableArrayRef<KernelUnit>(units).slice(i * perLevel, perLevel); };
  for (size_t i = 0; i < request.levels.size(); ++i) {
    if (request.onProgress)
      request.onProgress(std::string(request.levels[i].name));
    if (!request.dumpKernelsDir.empty())
      if (std::error_code error = llvm::sys::fs::create_directories(dumpFolderOf(request.levels[i]), true, llvm::sys::fs::perms(0777)))
        return notFound("`" + dumpFolderOf(request.levels[i]) + "`: " + error.message());
    STATOR_RETURN_IF_ERROR(lower(level(i)));
  }
  awaitAll();
  CompiledKernels out;
  for (size_t i = 0; i < request.levels.size(); ++i) {
    STATOR_RETURN_IF_ERROR(link(level(i), out));
    if (request.keepLowered)
      keepLowered(level(i), out);
  }
  out.units = units.size();
  for (KernelUnit &unit : units) {
    out.unitsFromCache += unit.isCached;
    if (usesCache && !unit.isCached)
      request.cache->store(unit.key, serialise(unit.product));
  }
  return out;
}

Result<CompiledKernels> compiler::compileKernelLibraries(ModuleOp module, const CodegenRequest &request) {
  auto kernels = module.lookupSymbol<ModuleOp>(plan::kKernelModuleName);
  if (!kernels || kernels.getOps<func::FuncOp>().empty())
    return CompiledKernels();
  return KernelCompiler(kernels, request).run();
}
