//===- CpuCodegen.h - LLVM dialect to one shared object per CPU level ------===//
//
// Kernels leave MLIR here: a module in the LLVM dialect becomes LLVM IR, is
// optimised and compiled for one feature level into a relocatable object; the
// objects of a level are linked in process into a self-contained shared object.
// That one has no dependency and no undefined symbol, so the loader can map it
// from inside the artifact.
//
// Kernels call nothing but the barrier that they are given, so each can be a
// module of its own: compiled on any thread, in any order, or taken from a cache.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_CODEGEN_CPU_CPUCODEGEN_H
#define STATOR_CODEGEN_CPU_CPUCODEGEN_H

#include "dialects/Target/CpuLevel.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace stator::codegen {

struct CpuCodegenOptions {
  /// 0..3: 0 only what correctness needs, 2 the default.
  unsigned optimisationLevel = 2;
  /// When not empty, `<stem>.ll` (optimised) and `<stem>.s` are written there; linking writes `<stem>.so`.
  std::string dumpStem;
  /// When not empty, overrides the level's processor ("znver4") ...
  std::string processor;
  /// ... and adds target features ("+avx512bf16").
  std::string extraFeatures;
};

/// Where the time went, in seconds.
struct CodegenTimes {
  double translate = 0, optimise = 0, emit = 0;
};

/// What one module of kernels became.
struct KernelObject {
  /// The bytes of a relocatable ELF object.
  std::vector<char> bytes;
  /// Exported functions in module order.
  std::vector<std::string> symbols;
  CodegenTimes times;
};

struct KernelLibrary {
  std::string level;
  uint32_t requiredFeatures = 0;
  /// The bytes of an ELF shared object.
  std::vector<char> sharedObject;
  /// Exported functions in module order.
  std::vector<std::string> symbols;
};

/// To be called once for a context before compileObject() is: from then on calls for it may come from several threads.
void prepareForCodegen(mlir::MLIRContext &context);

/// Compiles every public `llvm.func` of `module`. The same module and options give the same bytes.
llvm::Expected<KernelObject> compileObject(mlir::ModuleOp module, const CpuLevel &level, const CpuCodegenOptions &options = {});

/// Joins objects of one level; their order is that of the functions in the result. `dumpStem` as in the options.
llvm::Expected<KernelLibrary> linkKernels(llvm::ArrayRef<const KernelObject *> objects, const CpuLevel &level,
                                          const std::string &dumpStem = "");

/// All of it, for a module that holds all kernels.
llvm::Expected<KernelLibrary> compileKernels(mlir::ModuleOp module, const CpuLevel &level, const CpuCodegenOptions &options = {});

} // namespace stator::codegen

#endif // STATOR_CODEGEN_CPU_CPUCODEGEN_H
