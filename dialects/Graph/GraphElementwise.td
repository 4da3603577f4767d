// Element-wise operations of one operand, and the conversions. Formulas are those of IEEE 754 and C's <math.h>; where a front-end
// defines an op differently, the functional layer of the tracing API composes it.
#ifndef STATOR_DIALECTS_GRAPH_GRAPHELEMENTWISE_TD
#define STATOR_DIALECTS_GRAPH_GRAPHELEMENTWISE_TD

include "dialects/Graph/GraphBase.td"

/// `result[i] = f(input[i])`, with the type of the input.
class Graph_UnaryOp<string mnemonic, Type type, string what, string text, list<Trait> traits = []>
    : Graph_InferredOp<mnemonic, [Graph_Elementwise] # traits> {
  let summary = what;
  let description = text # "\n\nThe result has the type of the operand.\n\nExample: `%y = graph." # mnemonic #
                    " %x : (tensor<4xf32>) -> tensor<4xf32>`\n";
  let arguments = (ins type:$input);
  let results = (outs Graph_Tensor:$result);
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(::mlir::MLIRContext *, std::optional<::mlir::Location> location, Adaptor adaptor,
                                                      ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return inferSameType(location, getOperationName(), adaptor.getOperands(), types);
    }
  }];
}
class Graph_FloatUnaryOp<string mnemonic, string what, string text, list<Trait> traits = []>
    : Graph_UnaryOp<mnemonic, Graph_FloatTensor, what, text, traits>;
class Graph_NumberUnaryOp<string mnemonic, string what, string text, list<Trait> traits = []>
    : Graph_UnaryOp<mnemonic, Graph_NumberTensor, what, text, traits>;

def Graph_AbsOp : Graph_NumberUnaryOp<"abs", "absolute value",
  "`|x|`. The smallest signed integer, which has no counterpart, stays as it is; so do unsigned elements.">;
def Graph_NegOp : Graph_NumberUnaryOp<"neg", "negation",
  "`-x`: the sign bit flipped (so `-0.0` for `0.0`); integers, unsigned ones included, wrap."> { let hasFolder = 1; }
def Graph_SignOp : Graph_NumberUnaryOp<"sign", "sign",
  "`1` for positive, `-1` for negative elements, `0` for zeros of either sign; NaN gives NaN.">;
def Graph_ReluOp : Graph_NumberUnaryOp<"relu", "rectified linear unit",
  "`max(x, 0)`. NaN gives NaN, `-0.0` gives `0.0`."> { let hasFolder = 1; }

def Graph_ExpOp : Graph_FloatUnaryOp<"exp", "exponential", "`e^x`.">;
def Graph_Expm1Op : Graph_FloatUnaryOp<"expm1", "exponential minus one", "`e^x - 1`, exact for small `x` as in C's `expm1`.">;
def Graph_LogOp : Graph_FloatUnaryOp<"log", "natural logarithm", "`ln x`: negative elements give NaN, zeros give `-inf`.">;
def Graph_Log1pOp : Graph_FloatUnaryOp<"log1p", "logarithm of one plus the element", "`ln(1 + x)`, exact for small `x` as in C's `log1p`.">;
def Graph_SqrtOp : Graph_FloatUnaryOp<"sqrt", "square root", "`sqrt(x)`, correctly rounded: negative elements give NaN.">;
def Graph_RsqrtOp : Graph_FloatUnaryOp<"rsqrt", "reciprocal square root", "`1 / sqrt(x)`: zeros give infinity, negative elements NaN.">;
def Graph_SinOp : Graph_FloatUnaryOp<"sin", "sine", "Sine of an angle in radians; infinities give NaN.">;
def Graph_CosOp : Graph_FloatUnaryOp<"cos", "cosine", "Cosine of an angle in radians; infinities give NaN.">;
def Graph_TanOp : Graph_FloatUnaryOp<"tan", "tangent", "Tangent of an angle in radians; infinities give NaN.">;
def Graph_AsinOp : Graph_FloatUnaryOp<"asin", "inverse sine", "In `[-pi/2, pi/2]`; outside of `[-1, 1]` NaN.">;
def Graph_AcosOp : Graph_FloatUnaryOp<"acos", "inverse cosine", "In `[0, pi]`; outside of `[-1, 1]` NaN.">;
def Graph_AtanOp : Graph_FloatUnaryOp<"atan", "inverse tangent", "In `[-pi/2, pi/2]`.">;
def Graph_SinhOp : Graph_FloatUnaryOp<"sinh", "hyperbolic sine", "`(e^x - e^-x) / 2`.">;
def Graph_CoshOp : Graph_FloatUnaryOp<"cosh", "hyperbolic cosine", "`(e^x + e^-x) / 2`.">;
def Graph_AsinhOp : Graph_FloatUnaryOp<"asinh", "inverse hyperbolic sine", "`ln(x + sqrt(x^2 + 1))`.">;
def Graph_AcoshOp : Graph_FloatUnaryOp<"acosh", "inverse hyperbolic cosine", "`ln(x + sqrt(x^2 - 1))`; below 1 NaN.">;
def Graph_AtanhOp : Graph_FloatUnaryOp<"atanh", "inverse hyperbolic tangent", "`ln((1 + x) / (1 - x)) / 2`; outside of `[-1, 1]` NaN.">;
def Graph_TanhOp : Graph_FloatUnaryOp<"tanh", "hyperbolic tangent", "`(e^x - e^-x) / (e^x + e^-x)`.">;
def Graph_ErfOp : Graph_FloatUnaryOp<"erf", "error function", "`2/sqrt(pi)` times the integral of `e^(-t^2)` from 0 to `x`.">;
def Graph_SigmoidOp : Graph_FloatUnaryOp<"sigmoid", "logistic function",
  "`1 / (1 + e^-x)`. SiLU is `graph.mul` of `x` and this; there is no op of its own.">;
def Graph_FloorOp : Graph_FloatUnaryOp<"floor", "round towards minus infinity", "The largest integer not above `x`.">;
def Graph_CeilOp : Graph_FloatUnaryOp<"ceil", "round towards plus infinity", "The smallest integer not below `x`.">;
def Graph_RoundEvenOp : Graph_FloatUnaryOp<"round_even", "round to the nearest integer, halves to even",
  "As IEEE 754 `roundToIntegralTiesToEven`: 0.5 gives 0, 1.5 gives 2.">;

def Graph_NotOp : Graph_UnaryOp<"not", Graph_BitsTensor, "complement",
  "Logical for `i1`, all bits flipped for integers."> { let hasFolder = 1; }

/// `result[i]` is an i1.
class Graph_FloatTestOp<string mnemonic, string what, string text> : Graph_InferredOp<mnemonic, [Graph_Elementwise]> {
  let summary = what;
  let description = text # "\n\nThe result has the shape of the operand and elements `i1`.\n\nExample: `%y = graph." # mnemonic #
                    " %x : (tensor<4xf32>) -> tensor<4xi1>`\n";
  let arguments = (ins Graph_FloatTensor:$input);
  let results = (outs Graph_BoolTensor:$result);
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(::mlir::MLIRContext *, std::optional<::mlir::Location> location, Adaptor adaptor,
                                                      ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return inferBool(location, getOperationName(), adaptor.getOperands(), types);
    }
  }];
}
def Graph_IsNanOp : Graph_FloatTestOp<"is_nan", "test for NaN", "Whether the element is not a number.">;
def Graph_IsInfOp : Graph_FloatTestOp<"is_inf", "test for infinity", "Whether the element is an infinity of either sign.">;

def Graph_ConvertOp : Graph_TypedOp<"convert", [Graph_Elementwise]> {
  let summary = "change of the element type";
  let description = [{
    Each element in the element type of the result, which has the shape of the operand.

    - to a narrower float: rounded to nearest, ties to even; what is too large becomes an infinity
    - float to integer: towards zero; out of range saturates; NaN gives 0
    - integer to a narrower integer: the low bits are kept (wraps)
    - integer to float: rounded to nearest even
    - anything to `i1`: whether it differs from zero (NaN does); `i1` to anything: 0 or 1

    Example: `%y = graph.convert %x : (tensor<4xf32>) -> tensor<4xi32>`
  }];
  let arguments = (ins Graph_Tensor:$input);
  let results = (outs Graph_Tensor:$result);
  let hasFolder = 1;
}

#endif // STATOR_DIALECTS_GRAPH_GRAPHELEMENTWISE_TD
