// Interfaces of operations.
#ifndef STATOR_DIALECTS_GRAPH_GRAPHINTERFACES_TD
#define STATOR_DIALECTS_GRAPH_GRAPHINTERFACES_TD

include "mlir/IR/OpBase.td"

def GraphComposite : OpInterface<"GraphComposite"> {
  let cppNamespace = "::stator::graph";
  let description = [{
    An operation that is kept because a fused kernel or a better gradient exists for it, and that can always be written with simpler
    ones. The simpler ones compute the same up to rounding.
  }];
  let methods = [
    InterfaceMethod<
      [{Builds the simpler operations at the builder's insertion point and returns the values that replace the results. Fails, having
        emitted a diagnostic, only when the op is not valid.}],
      "::llvm::FailureOr<::llvm::SmallVector<::mlir::Value>>", "decompose", (ins "::mlir::OpBuilder &":$builder)>
  ];
}

#endif // STATOR_DIALECTS_GRAPH_GRAPHINTERFACES_TD
