//===- CpuCodegen.cpp - LLVM dialect to one shared object per CPU level ----===//
//
// Kernels arrive vectorised and register-tiled, so LLVM's loop and SLP
// vectorisers stay off: they would only add compile time and alternative loop
// versions. What is used is the scalar clean-up, unrolling, scheduling and
// register allocation.
//
// Kernels must not call anything. LLVM turns loops into memset and memcpy
// calls unless a function carries "no-builtins", so each one does; the linker
// then refuses whatever would still be undefined.
//
//===----------------------------------------------------------------------===//

#include "codegen/Cpu/CpuCodegen.h"
#include "codegen/Cpu/LinkSharedObject.h"
#include "codegen/Cpu/SingleLaneStores.h"
#include "serialization/Base/OutputFile.h"

#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <chrono>
#include <mutex>
#include <utility>

namespace stator::codegen {

static constexpr llvm::StringLiteral hostTriple = "x86_64-unknown-linux-gnu";

static void initialiseX86() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
  });
}

static llvm::CodeGenOptLevel codeGenLevel(unsigned level) {
  return level == 0   ? llvm::CodeGenOptLevel::None
         : level == 1 ? llvm::CodeGenOptLevel::Less
         : level == 2 ? llvm::CodeGenOptLevel::Default
                      : llvm::CodeGenOptLevel::Aggressive;
}

static llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createTargetMachine(const CpuLevel &level, const CpuCodegenOptions &options) {
  initialiseX86();
  llvm::Triple triple(hostTriple);
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return llvm::createStringError("LLVM has no target for `%s`: %s", hostTriple.data(), error.c_str());
  std::string processor = options.processor.empty() ? std::string(level.name) : options.processor;
  std::string features(level.llvmFeatures);
  if (!options.extraFeatures.empty())
    features += (features.empty() ? "" : ",") + options.extraFeatures;
  llvm::TargetOptions targetOptions;
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(triple, processor, features, targetOptions, llvm::Reloc::PIC_,
                                                                           std::nullopt, codeGenLevel(options.optimisationLevel)));
  if (!machine)
    return llvm::createStringError("LLVM cannot generate code for processor `%s`", processor.c_str());
  return machine;
}

/// Marks functions for this processor and collects the exported names.
static std::vector<std::string> prepareFunctions(llvm::Module &module, const llvm::TargetMachine &machine, const CpuLevel &level) {
  std::vector<std::string> symbols;
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    if (!machine.getTargetFeatureString().empty())
      function.addFnAttr("target-features", machine.getTargetFeatureString());
    function.addFnAttr("prefer-vector-width", std::to_string(level.vectorBits));
    function.addFnAttr("no-builtins");
    function.addFnAttr(llvm::Attribute::NoUnwind);
    if (!function.hasLocalLinkage())
      symbols.push_back(function.getName().str());
  }
  return symbols;
}

static void optimise(llvm::Module &module, llvm::TargetMachine &machine, unsigned level) {
  llvm::LoopAnalysisManager loopAnalyses;
  llvm::FunctionAnalysisManager functionAnalyses;
  llvm::CGSCCAnalysisManager cgsccAnalyses;
  llvm::ModuleAnalysisManager moduleAnalyses;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  tuning.LoopInterleaving = false;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(moduleAnalyses);
  builder.registerCGSCCAnalyses(cgsccAnalyses);
  builder.registerFunctionAnalyses(functionAnalyses);
  builder.registerLoopAnalyses(loopAnalyses);
  builder.crossRegisterProxies(loopAnalyses, functionAnalyses, cgsccAnalyses, moduleAnalyses);
  llvm::OptimizationLevel passes = level >= 3   ? llvm::OptimizationLevel::O3
                                   : level == 2 ? llvm::OptimizationLevel::O2
                                                : llvm::OptimizationLevel::O1;
  builder.buildPerModuleDefaultPipeline(passes).run(module, moduleAnalyses);
}

static llvm::Error emit(llvm::Module &module, llvm::TargetMachine &machine, llvm::CodeGenFileType kind,
                        llvm::SmallVectorImpl<char> &bytes) {
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, kind))
    return llvm::createStringError("LLVM cannot emit code for this target");
  passes.run(module);
  return llvm::Error::success();
}

static llvm::Error dump(const std::string &path, llvm::StringRef text) {
  Result<std::unique_ptr<OutputFile>> file = OutputFile::create(path);
  Status status = file.ok() ? (*file)->write(text.data(), text.size()) : file.status();
  if (status.ok())
    status = (*file)->commit();
  if (!status.ok())
    return llvm::createStringError(status.message());
  return llvm::Error::success();
}

/// Writes the IR and the assembly text. Code generation changes the module, so it works on a clone.
static llvm::Error dumpTexts(llvm::Module &module, llvm::TargetMachine &machine, const std::string &stem) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  if (llvm::Error error = dump(stem + ".ll", text))
    return error;
  llvm::SmallVector<char, 0> assembly;
  std::unique_ptr<llvm::Module> clone = llvm::CloneModule(module);
  if (llvm::Error error = emit(*clone, machine, llvm::CodeGenFileType::AssemblyFile, assembly))
    return error;
  return dump(stem + ".s", llvm::StringRef(assembly.data(), assembly.size()));
}

namespace {
class Stopwatch {
public:
  /// Seconds since the last call, or since the beginning.
  double lap() {
    auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(now - std::exchange(start, now)).count();
  }

private:
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};
} // namespace

void prepareForCodegen(mlir::MLIRContext &context) {
  mlir::registerBuiltinDialectTranslation(context);
  mlir::registerLLVMDialectTranslation(context);
  initialiseX86();
}

llvm::Expected<KernelObject> compileObject(mlir::ModuleOp source, const CpuLevel &level, const CpuCodegenOptions &options) {
  auto machine = createTargetMachine(level, options);
  if (!machine)
    return machine.takeError();
  KernelObject object;
  Stopwatch watch;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = mlir::translateModuleToLLVMIR(source, context, "stator-kernels");
  if (!module)
    return llvm::createStringError("the kernels could not be translated to LLVM IR");
  module->setDataLayout((*machine)->createDataLayout());
  module->setTargetTriple(llvm::Triple(hostTriple));
  object.symbols = prepareFunctions(*module, **machine, level);
  object.times.translate = watch.lap();

  if (options.optimisationLevel > 0)
    optimise(*module, **machine, options.optimisationLevel);
  replaceSingleLaneStores(*module);
  object.times.optimise = watch.lap();
  if (!options.dumpStem.empty())
    if (llvm::Error error = dumpTexts(*module, **machine, options.dumpStem))
      return std::move(error);

  watch.lap();
  llvm::SmallVector<char, 0> bytes;
  if (llvm::Error error = emit(*module, **machine, llvm::CodeGenFileType::ObjectFile, bytes))
    return std::move(error);
  object.bytes.assign(bytes.begin(), bytes.end());
  object.times.emit = watch.lap();
  return object;
}

llvm::Expected<KernelLibrary> linkKernels(llvm::ArrayRef<const KernelObject *> objects, const CpuLevel &level,
                                          const std::string &dumpStem) {
  KernelLibrary library;
  library.level = level.name;
  library.requiredFeatures = level.requiredFeatures;
  llvm::SmallVector<llvm::ArrayRef<char>> inputs;
  for (const KernelObject *object : objects) {
    inputs.push_back(object->bytes);
    library.symbols.insert(library.symbols.end(), object->symbols.begin(), object->symbols.end());
  }
  auto linked = linkSharedObject(inputs);
  if (!linked)
    return linked.takeError();
  library.sharedObject = std::move(*linked);
  if (!dumpStem.empty())
    if (llvm::Error error = dump(dumpStem + ".so", llvm::StringRef(library.sharedObject.data(), library.sharedObject.size())))
      return std::move(error);
  return library;
}

llvm::Expected<KernelLibrary> compileKernels(mlir::ModuleOp module, const CpuLevel &level, const CpuCodegenOptions &options) {
  prepareForCodegen(*module.getContext());
  llvm::Expected<KernelObject> object = compileObject(module, level, options);
  if (!object)
    return object.takeError();
  return linkKernels({&*object}, level, options.dumpStem);
}

} // namespace stator::codegen
