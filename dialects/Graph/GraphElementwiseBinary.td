// Element-wise operations of two and three operands. All operands have the same shape: the layer that builds the graph broadcasts and
// promotes.
#ifndef STATOR_DIALECTS_GRAPH_GRAPHELEMENTWISEBINARY_TD
#define STATOR_DIALECTS_GRAPH_GRAPHELEMENTWISEBINARY_TD

include "dialects/Graph/GraphBase.td"

/// `result[i] = f(lhs[i], rhs[i])`, all of one type.
class Graph_BinaryOp<string mnemonic, Type type, string what, string text, list<Trait> traits = []>
    : Graph_InferredOp<mnemonic, [Graph_Elementwise] # traits> {
  let summary = what;
  let description = text # "\n\nBoth operands have one type, which is that of the result.\n\nExample: `%z = graph." # mnemonic #
                    " %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>`\n";
  let arguments = (ins type:$lhs, type:$rhs);
  let results = (outs Graph_Tensor:$result);
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(::mlir::MLIRContext *, std::optional<::mlir::Location> location, Adaptor adaptor,
                                                      ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return inferSameType(location, getOperationName(), adaptor.getOperands(), types);
    }
  }];
}
class Graph_NumberBinaryOp<string mnemonic, string what, string text, list<Trait> traits = []>
    : Graph_BinaryOp<mnemonic, Graph_NumberTensor, what, text, traits>;

def Graph_AddOp : Graph_NumberBinaryOp<"add", "sum", "`lhs + rhs`; integers wrap.", [Commutative]> { let hasFolder = 1; }
def Graph_SubOp : Graph_NumberBinaryOp<"sub", "difference", "`lhs - rhs`; integers wrap."> { let hasFolder = 1; }
def Graph_MulOp : Graph_NumberBinaryOp<"mul", "product", "`lhs * rhs`; integers wrap.", [Commutative]> { let hasFolder = 1; }
def Graph_DivOp : Graph_NumberBinaryOp<"div", "quotient",
  "`lhs / rhs`. Floats divide as in IEEE 754. Integers are truncated towards zero; division by zero gives 0; the smallest signed integer divided by -1 wraps to itself."> { let hasFolder = 1; }
def Graph_FloorDivOp : Graph_NumberBinaryOp<"floor_div", "quotient rounded towards minus infinity",
  "`floor(lhs / rhs)`. For floats it is the rounded quotient from which `graph.modulo` leaves no more than the divisor: `(lhs - modulo(lhs, rhs)) / rhs`, rounded to an integer, and `lhs / rhs` when the divisor is zero. For integers division by zero gives 0, and the smallest signed integer divided by -1 wraps to itself.">;
def Graph_RemainderOp : Graph_NumberBinaryOp<"remainder", "remainder with the sign of the dividend",
  "`lhs - rhs * trunc(lhs / rhs)`, exact, as C's `fmod`. For integers the remainder by zero is 0. A float divided by zero gives NaN.">;
def Graph_ModuloOp : Graph_NumberBinaryOp<"modulo", "remainder with the sign of the divisor",
  "`lhs - rhs * floor(lhs / rhs)`, as `%` of Python. For integers the modulo by zero is 0. A float divided by zero gives NaN. A zero result has the sign of the divisor.">;
def Graph_PowOp : Graph_NumberBinaryOp<"pow", "power",
  "`lhs ^ rhs`: C's `pow` for floats. Integers multiply and wrap; a negative exponent gives the truncated value of the real power (0 unless the base is 1 or -1; base 0 gives 0)."> { let hasFolder = 1; }
def Graph_Atan2Op : Graph_BinaryOp<"atan2", Graph_FloatTensor, "angle of a point",
  "The angle in `[-pi, pi]` of the point with ordinate `lhs` and abscissa `rhs`, as C's `atan2`.">;
def Graph_MaximumOp : Graph_NumberBinaryOp<"maximum", "larger of two", "The larger element; NaN if either is NaN; `0.0` is larger than `-0.0`.", [Commutative]>;
def Graph_MinimumOp : Graph_NumberBinaryOp<"minimum", "smaller of two", "The smaller element; NaN if either is NaN; `-0.0` is smaller than `0.0`.", [Commutative]>;

class Graph_BitsBinaryOp<string mnemonic, string what, string text, list<Trait> traits = []>
    : Graph_BinaryOp<mnemonic, Graph_BitsTensor, what, text, traits> {
  let description = text # "\n\nBoth operands have one type, which is that of the result.\n\nExample: `%z = graph." # mnemonic #
                    " %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>`\n";
}
def Graph_AndOp : Graph_BitsBinaryOp<"and", "conjunction", "Bit by bit; logical for `i1`.", [Commutative]>;
def Graph_OrOp : Graph_BitsBinaryOp<"or", "disjunction", "Bit by bit; logical for `i1`.", [Commutative]>;
def Graph_XorOp : Graph_BitsBinaryOp<"xor", "exclusive or", "Bit by bit; logical for `i1`.", [Commutative]>;
def Graph_ShiftLeftOp : Graph_BinaryOp<"shift_left", Graph_IntTensor, "shift to the left",
  "The bits of `lhs` moved up by `rhs` places, zeros entering. An amount that is negative or not below the width gives 0.">;
def Graph_ShiftRightOp : Graph_BinaryOp<"shift_right", Graph_IntTensor, "shift to the right",
  "The bits of `lhs` moved down by `rhs` places; the sign enters, zeros for unsigned elements. An amount that is negative or not below the width gives what shifting out every bit gives: 0, or -1 for negative elements.">;

def Graph_CompareOp : Graph_InferredOp<"compare", [Graph_Elementwise]> {
  let summary = "comparison";
  let description = [{
    `lhs direction rhs` as `i1`. Floats compare as in IEEE 754: every relation with NaN is false except `ne`, and the zeros are equal.
    `ui8` compares unsigned; of `i1`, true is the larger.

    Example: `%z = graph.compare %x, %y {direction = #graph.compare_direction<lt>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>`
  }];
  let arguments = (ins Graph_Tensor:$lhs, Graph_Tensor:$rhs, Graph_CompareDirectionAttr:$direction);
  let results = (outs Graph_BoolTensor:$result);
}

def Graph_SelectOp : Graph_InferredOp<"select", [Graph_Elementwise]> {
  let summary = "choice between two tensors, element by element";
  let description = [{
    `condition ? onTrue : onFalse`. The condition has the shape of the others; a scalar condition is broadcast first.

    Example: `%z = graph.select %c, %x, %y : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>`
  }];
  let arguments = (ins Graph_BoolTensor:$condition, Graph_Tensor:$onTrue, Graph_Tensor:$onFalse);
  let results = (outs Graph_Tensor:$result);
  let hasFolder = 1;
}

#endif // STATOR_DIALECTS_GRAPH_GRAPHELEMENTWISEBINARY_TD
