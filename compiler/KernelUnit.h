//===- KernelUnit.h - one kernel for one CPU level -------------------------===//
//
// The smallest thing that is compiled, cached and timed: a kernel function on
// its way to an object, and what the artifact must know of the object besides.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_KERNELUNIT_H
#define STATOR_COMPILER_KERNELUNIT_H

#include "codegen/Cpu/CpuCodegen.h"
#include "dialects/Target/CpuLevel.h"
#include "serialization/Artifact/Hash.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <optional>
#include <string>
#include <vector>

namespace stator::compiler {

/// What becomes of a kernel at one level.
struct KernelProduct {
  codegen::KernelObject object;
  /// Bytes for each worker, an expression of the kernel's sizes; empty: none.
  std::string scratch;
  /// Whether its workers wait for each other.
  bool hasBarrier = false;
};

struct KernelUnit {
  mlir::func::FuncOp function; // In the module @kernels.
  const CpuLevel *level;
  std::string name, family;
  serialization::Hash128 key{};
  /// From lowering until its object is there.
  mlir::OwningOpRef<mlir::ModuleOp> lowered;
  KernelProduct product;
  bool isCached = false;
  /// Not empty: compiling failed.
  std::string failure;
};

/// The text that a function's code depends on. Locations do not count.
std::string textOf(mlir::func::FuncOp function);
/// `recipe` is all else that the code depends on: the compiler, the level, the passes and their options.
serialization::Hash128 keyOf(llvm::StringRef functionText, llvm::StringRef recipe);

/// A copy of the unit's function, under the name that it gets in the object, in a module of its own.
mlir::OwningOpRef<mlir::ModuleOp> isolate(KernelUnit &unit);
/// Reads scratch and barrier from the lowered module.
void describe(mlir::ModuleOp lowered, KernelProduct &product);

/// For the cache.
std::vector<char> serialise(const KernelProduct &product);
std::optional<KernelProduct> deserialise(std::vector<char> bytes, const std::string &name);

} // namespace stator::compiler

#endif // STATOR_COMPILER_KERNELUNIT_H
