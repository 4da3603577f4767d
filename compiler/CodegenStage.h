//===- CodegenStage.h - kernel functions become shared objects -------------===//
//
// The codegen stage: each function of the module @kernels is lowered and
// compiled once for each CPU level, unless a cache has it.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_CODEGENSTAGE_H
#define STATOR_COMPILER_CODEGENSTAGE_H

#include "codegen/Artifact/ManifestBuilder.h"
#include "codegen/Cache/CompileCache.h"
#include "codegen/Cpu/CpuCodegen.h"
#include "compiler/TimeRecorder.h"
#include "stator/Compiler.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace stator::compiler {

struct CompiledKernels {
  std::vector<codegen::KernelLibrary> libraries;
  codegen::KernelScratch scratch;
  codegen::KernelsWithBarrier withBarrier;
  /// Kernels times levels: how many there were, and how many of them the cache had.
  unsigned units = 0, unitsFromCache = 0;
  /// The lowered kernels of each level, for dumps; empty unless they were asked for.
  std::vector<std::pair<std::string, mlir::OwningOpRef<mlir::ModuleOp>>> lowered;
};

/// Runs a pass manager as the driver wants it: with its flags, verification and reproducer.
using PassRunner = std::function<mlir::LogicalResult(mlir::ModuleOp, llvm::function_ref<void(mlir::OpPassManager &)>)>;

struct CodegenRequest {
  std::vector<CpuLevel> levels;
  int optimisationLevel = 2;
  std::string dumpKernelsDir;
  bool keepLowered = false;
  PassRunner runPasses;
  /// May be null. Not asked when something is to be dumped: dumps show all kernels.
  codegen::CompileCache *cache = nullptr;
  /// Never null.
  TimeRecorder *times = nullptr;
  std::function<void(const std::string &detail)> onProgress;
};

/// `module` holds the module @kernels; it is not changed. No kernels: no libraries.
Result<CompiledKernels> compileKernelLibraries(mlir::ModuleOp module, const CodegenRequest &request);

} // namespace stator::compiler

#endif // STATOR_COMPILER_CODEGENSTAGE_H
