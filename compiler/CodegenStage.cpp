//===- CodegenStage.cpp - one lowering and one object per CPU level --------===//
//
// The functions are cloned for each level because lowering differs from its
// first pass on: the vector width shapes the loops. Scratch too may differ, so
// that a kernel's need is the largest of its levels'.
//
// While one level is lowered, LLVM works on those before it, each on a thread of
// its own; their results are taken in order, so the outcome does not depend on
// who is done first.
//
//===----------------------------------------------------------------------===//

#include "compiler/CodegenStage.h"

#include "passes/Kernel/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <future>

using namespace mlir;
using namespace stator;
using namespace stator::compiler;

static std::string kernelNameOf(LLVM::LLVMFuncOp function) {
  return function.getName().drop_front(StringRef(serialization::kKernelSymbolPrefix).size()).str();
}

/// The barrier is the only function that a kernel may call (kernel-verify).
static void collectBarriers(ModuleOp lowered, codegen::KernelsWithBarrier &withBarrier) {
  for (auto function : lowered.getOps<LLVM::LLVMFuncOp>())
    if (function.walk([](LLVM::CallOp) { return WalkResult::interrupt(); }).wasInterrupted())
      withBarrier.insert(kernelNameOf(function));
}

/// Takes note of the scratch that the lowered kernels ask for.
static void collectScratch(ModuleOp lowered, codegen::KernelScratch &scratch) {
  for (auto function : lowered.getOps<LLVM::LLVMFuncOp>()) {
    auto text = function->getAttrOfType<StringAttr>(plan::kScratchAttrName);
    if (!text)
      continue;
    std::string name = kernelNameOf(function);
    DimExpr bytes = plan::exprOf(text.getValue());
    auto [known, isNew] = scratch.try_emplace(name, bytes);
    if (!isNew && known->second != bytes)
      known->second = known->second.max(bytes);
  }
}

static Status cannotCompile(const std::string &level, llvm::Error error) {
  return internalError("kernels cannot be compiled for " + level + ": " + llvm::toString(std::move(error)));
}

Result<CompiledKernels> compiler::compileKernelLibraries(ModuleOp module, const CodegenRequest &request) {
  CompiledKernels out;
  auto kernels = module.lookupSymbol<ModuleOp>(plan::kKernelModuleName);
  if (!kernels || kernels.getOps<func::FuncOp>().empty())
    return out;
  if (!request.dumpKernelsDir.empty())
    if (std::error_code error = llvm::sys::fs::create_directories(request.dumpKernelsDir, true, llvm::sys::fs::perms(0777)))
      return notFound("`" + request.dumpKernelsDir + "`: " + error.message());
  std::vector<std::future<Result<codegen::KernelLibrary>>> pending;
  for (const CpuLevel &level : request.levels) {
    std::string levelName(level.name);
    if (request.onLevel)
      request.onLevel(levelName);
    OwningOpRef<ModuleOp> clone = cast<ModuleOp>(kernels->clone());
    for (auto function : clone->getOps<func::FuncOp>())
      function.setName((serialization::kKernelSymbolPrefix + function.getName()).str());
    kernel::KernelOptions options;
    options.vectorBits = level.vectorBits;
    options.vectorRegisters = level.vectorRegisters;
    if (failed(request.runPasses(*clone, [&](OpPassManager &passes) { kernel::buildKernelPipeline(passes, options); })))
      return internalError("kernels cannot be lowered for " + levelName);
    collectScratch(*clone, out.scratch);
    collectBarriers(*clone, out.withBarrier);

    codegen::CpuCodegenOptions codegenOptions;
    codegenOptions.optimisationLevel = request.optimisationLevel;
    if (!request.dumpKernelsDir.empty()) {
      llvm::SmallString<256> stem(request.dumpKernelsDir);
      llvm::sys::path::append(stem, levelName);
      codegenOptions.dumpStem = std::string(stem);
    }
    llvm::Expected<codegen::KernelCompilation> compilation = codegen::KernelCompilation::translate(*clone, level, codegenOptions);
    if (!compilation)
      return cannotCompile(levelName, compilation.takeError());
    pending.push_back(
        std::async(std::launch::async, [compilation = std::move(*compilation), levelName]() mutable -> Result<codegen::KernelLibrary> {
          llvm::Expected<codegen::KernelLibrary> library = compilation.compile();
          if (!library)
            return cannotCompile(levelName, library.takeError());
          return std::move(*library);
        }));
    if (request.keepLowered)
      out.lowered.emplace_back(levelName, std::move(clone));
  }
  for (auto &level : pending) {
    STATOR_TRY(library, level.get());
    out.libraries.push_back(std::move(library));
  }
  return out;
}
