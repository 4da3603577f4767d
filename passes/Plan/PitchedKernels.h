//===- PitchedKernels.h - kernels for rows that lie apart ------------------===//
//
// Kernels are outlined before anybody knows where their operands will lie. Once
// TensorPlacement has decided that some are rows of a larger tensor, the call
// gets a variant of its kernel that knows the distances. Copies from or to such
// places are kernels too: the runtime's copies are of whole runs of bytes.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_PASSES_PLAN_PITCHEDKERNELS_H
#define STATOR_PASSES_PLAN_PITCHEDKERNELS_H

#include "dialects/Plan/PlanOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <functional>
#include <map>

namespace stator::plan {

class PitchedKernels {
public:
  explicit PitchedKernels(mlir::ModuleOp module) : module(module) {}

  /// The variant of `kernel` whose operands and results lie as `inputs` and `outputs` say.
  mlir::SymbolRefAttr variantOf(mlir::SymbolRefAttr kernel, mlir::ValueRange inputs, mlir::ValueRange outputs);

  /// A kernel that copies `inputs[0]` to `output`, or, if `concat` is given, joins all inputs as that does. `method` is where the
  /// symbols of the types come from.
  KernelOp copy(mlir::OpBuilder &builder, mlir::Location loc, mlir::func::FuncOp method, mlir::ValueRange inputs, mlir::Value output,
                llvm::StringRef label, graph::ConcatOp concat = {});

  /// Erases kernels that only their variants are called instead of.
  void eraseUnused();

private:
  mlir::ModuleOp kernels();

  mlir::ModuleOp module;
  /// By name of the kernel and text of the pitches; by text of the function.
  std::map<std::pair<std::string, std::string>, mlir::SymbolRefAttr> variants;
  std::map<std::string, mlir::SymbolRefAttr> copies;
};

} // namespace stator::plan

#endif // STATOR_PASSES_PLAN_PITCHEDKERNELS_H
