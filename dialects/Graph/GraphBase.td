// What the families of operations share: type constraints, base classes, traits.
#ifndef STATOR_DIALECTS_GRAPH_GRAPHBASE_TD
#define STATOR_DIALECTS_GRAPH_GRAPHBASE_TD

include "dialects/Graph/GraphAttrs.td"
include "dialects/Graph/GraphInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Graph_TensorOf<string predicate, string what>
    : Type<CPred<"::stator::graph::isGraphTensor($_self) && ::stator::graph::" # predicate #
                 "(::llvm::cast<::mlir::RankedTensorType>($_self).getElementType())">,
           what, "::mlir::RankedTensorType">;

def Graph_Tensor : Type<CPred<"::stator::graph::isGraphTensor($_self)">,
  "ranked tensor of a supported element type whose unknown sizes are named by `#graph.dims`", "::mlir::RankedTensorType">;
def Graph_FloatTensor : Graph_TensorOf<"isFloatElement", "tensor of floating-point elements">;
def Graph_NumberTensor : Graph_TensorOf<"isNumberElement", "tensor of integers or floating-point elements, not i1">;
def Graph_IntTensor : Graph_TensorOf<"isIntElement", "tensor of integers, not i1">;
def Graph_BitsTensor : Graph_TensorOf<"isBitsElement", "tensor of integers or i1">;
def Graph_BoolTensor : Graph_TensorOf<"isBoolElement", "tensor of i1">;
def Graph_IndexTensor : Graph_TensorOf<"isIndexElement", "tensor of i32 or i64">;

/// One element of the result depends on the elements at the same position of the operands, and on nothing else. All operands and
/// results have equal shapes.
def Graph_Elementwise : NativeOpTrait<"Elementwise"> {
  let cppNamespace = "::stator::graph";
}

class Graph_Op<string mnemonic, list<Trait> traits = []> : Op<Graph_Dialect, mnemonic, traits> {
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

/// An op whose result type follows from its operands and attributes; the verifier compares.
class Graph_InferredOp<string mnemonic, list<Trait> traits = []> : Graph_Op<mnemonic, [Pure, InferTypeOpAdaptor] # traits>;

/// An op whose result type is given and checked.
class Graph_TypedOp<string mnemonic, list<Trait> traits = []> : Graph_Op<mnemonic, [Pure] # traits> {
  let hasVerifier = 1;
}

class Graph_Flag<string value> : DefaultValuedAttr<BoolAttr, value>;

#endif // STATOR_DIALECTS_GRAPH_GRAPHBASE_TD
