//===- KernelSymbols.h - a kernel's own names for the sizes it depends on --===//
//
// Kernel functions are shared between methods and places, so the sizes they
// depend on are numbered by order of appearance: s0, s1, ... The caller passes
// the values.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_PASSES_PLAN_KERNELSYMBOLS_H
#define STATOR_PASSES_PLAN_KERNELSYMBOLS_H

#include "dialects/Graph/GraphOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>
#include <string>

namespace stator::plan {

class KernelSymbols {
public:
  /// `method` is the function whose symbols (and ranges) the region uses.
  explicit KernelSymbols(mlir::func::FuncOp method);

  /// Numbers the symbols in the types and attributes of `op` and of everything in it.
  void collect(mlir::Operation *op);
  /// Replaces the symbols everywhere in `op`.
  void renameIn(mlir::Operation *op) const;

  /// The kernel's symbols with the ranges of those they stand for.
  mlir::ArrayAttr localSymbols() const;
  /// The caller's values for them.
  graph::DimsAttr sizes() const;

private:
  void collectFrom(graph::DimsAttr dims);

  mlir::MLIRContext *context;
  std::map<std::string, graph::SymbolAttr> ranges;
  std::map<std::string, DimExpr> localOf;
  llvm::SmallVector<std::string> order;
};

} // namespace stator::plan

#endif // STATOR_PASSES_PLAN_KERNELSYMBOLS_H
