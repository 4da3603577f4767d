// Control flow that depends on data, step by step: for importers, which learn only after tracing both branches what these give, or
// which values a body changes. fn::ifThenElse and fn::whileLoop are written with it.
//
// Lifetime: an IfBuilder or WhileBuilder lives no longer than its Builder; between its calls operations go where they say. One that is
// destroyed without finish() removes what was traced inside; sizes learnt meanwhile stay learnt.
#ifndef STATOR_COMPILER_TRACE_CONTROLFLOW_H
#define STATOR_COMPILER_TRACE_CONTROLFLOW_H

#include "compiler/Trace/BuilderImpl.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace stator::trace {

class IfBuilder {
public:
  /// `condition` has one element. After an error in the Builder nothing else happens.
  IfBuilder(Builder &builder, const Tensor &condition);
  ~IfBuilder();
  /// Operations go to the end of the first branch, or of the second.
  void enterThen() { enter(0); }
  void enterElse() { enter(1); }
  /// Operations go behind the `if` again.
  void leave();
  /// Ends both branches with these values, of the same number, types and shapes (sizes that differ are taken to be equal). Empty after
  /// an error.
  Tensors finish(Tensors onTrue, Tensors onFalse);

private:
  void enter(unsigned region);

  BuilderImpl &b_;
  mlir::Operation *draft_ = nullptr;
};

class WhileBuilder {
public:
  WhileBuilder(Builder &builder, const Tensors &initial);
  ~WhileBuilder();
  /// The values as the condition sees them; operations go there.
  Tensors enterCondition();
  /// Ends the condition with its result, which has one element.
  void finishCondition(const Tensor &condition);
  /// The values as the body sees them; operations go there.
  Tensors enterBody();
  /// Operations go behind the `while` again.
  void leave();
  /// Ends the body with the next values; types and shapes as in the beginning. The values after the loop; empty after an error.
  Tensors finish(Tensors next);

private:
  Tensors enter(unsigned region);

  BuilderImpl &b_;
  Tensors initial_;
  mlir::Operation *draft_ = nullptr;
};

} // namespace stator::trace

#endif // STATOR_COMPILER_TRACE_CONTROLFLOW_H
