// The closed choices that operations carry. In C++ an accessor returns the enum class; in IR text a choice reads
// `#graph.reduce_kind<sum>`.
#ifndef STATOR_DIALECTS_GRAPH_GRAPHENUMS_TD
#define STATOR_DIALECTS_GRAPH_GRAPHENUMS_TD

include "dialects/Graph/GraphDialect.td"
include "mlir/IR/EnumAttr.td"

class Graph_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::stator::graph";
  let genSpecializedAttr = 0;
}

class Graph_EnumAttr<EnumInfo info, string mnemonic> : EnumAttr<Graph_Dialect, info, mnemonic> {
  let assemblyFormat = "`<` $value `>`";
}

def Graph_CompareDirection : Graph_Enum<"CompareDirection", "relation tested by a comparison", [
  I32EnumAttrCase<"Eq", 0, "eq">, I32EnumAttrCase<"Ne", 1, "ne">, I32EnumAttrCase<"Lt", 2, "lt">,
  I32EnumAttrCase<"Le", 3, "le">, I32EnumAttrCase<"Gt", 4, "gt">, I32EnumAttrCase<"Ge", 5, "ge">]>;
def Graph_CompareDirectionAttr : Graph_EnumAttr<Graph_CompareDirection, "compare_direction">;

def Graph_PadMode : Graph_Enum<"PadMode", "what fills the border", [
  I32EnumAttrCase<"Constant", 0, "constant">, I32EnumAttrCase<"Edge", 1, "edge">,
  I32EnumAttrCase<"Reflect", 2, "reflect">, I32EnumAttrCase<"Wrap", 3, "wrap">]>;
def Graph_PadModeAttr : Graph_EnumAttr<Graph_PadMode, "pad_mode">;

def Graph_ScatterReduction : Graph_Enum<"ScatterReduction", "how an update meets the value that it hits", [
  I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"Add", 1, "add">, I32EnumAttrCase<"Mul", 2, "mul">,
  I32EnumAttrCase<"Max", 3, "max">, I32EnumAttrCase<"Min", 4, "min">]>;
def Graph_ScatterReductionAttr : Graph_EnumAttr<Graph_ScatterReduction, "scatter_reduction">;

def Graph_ResizeMode : Graph_Enum<"ResizeMode", "interpolation", [
  I32EnumAttrCase<"Nearest", 0, "nearest">, I32EnumAttrCase<"Linear", 1, "linear">, I32EnumAttrCase<"Cubic", 2, "cubic">]>;
def Graph_ResizeModeAttr : Graph_EnumAttr<Graph_ResizeMode, "resize_mode">;

def Graph_ResizeCoordinate : Graph_Enum<"ResizeCoordinate", "map from a result position to an input position", [
  I32EnumAttrCase<"HalfPixel", 0, "half_pixel">, I32EnumAttrCase<"Asymmetric", 1, "asymmetric">,
  I32EnumAttrCase<"AlignCorners", 2, "align_corners">, I32EnumAttrCase<"PytorchHalfPixel", 3, "pytorch_half_pixel">,
  I32EnumAttrCase<"HalfPixelSymmetric", 4, "half_pixel_symmetric">]>;
def Graph_ResizeCoordinateAttr : Graph_EnumAttr<Graph_ResizeCoordinate, "resize_coordinate">;

def Graph_ResizeNearest : Graph_Enum<"ResizeNearest", "rounding of the nearest position", [
  I32EnumAttrCase<"RoundPreferFloor", 0, "round_prefer_floor">, I32EnumAttrCase<"RoundPreferCeil", 1, "round_prefer_ceil">,
  I32EnumAttrCase<"Floor", 2, "floor">, I32EnumAttrCase<"Ceil", 3, "ceil">]>;
def Graph_ResizeNearestAttr : Graph_EnumAttr<Graph_ResizeNearest, "resize_nearest">;

def Graph_ReduceKind : Graph_Enum<"ReduceKind", "what a reduction computes", [
  I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Prod", 1, "prod">, I32EnumAttrCase<"Max", 2, "max">,
  I32EnumAttrCase<"Min", 3, "min">, I32EnumAttrCase<"Any", 4, "any">, I32EnumAttrCase<"All", 5, "all">]>;
def Graph_ReduceKindAttr : Graph_EnumAttr<Graph_ReduceKind, "reduce_kind">;

def Graph_ArgReduceKind : Graph_Enum<"ArgReduceKind", "whose position is wanted", [
  I32EnumAttrCase<"Max", 0, "max">, I32EnumAttrCase<"Min", 1, "min">]>;
def Graph_ArgReduceKindAttr : Graph_EnumAttr<Graph_ArgReduceKind, "arg_reduce_kind">;

def Graph_CumulativeKind : Graph_Enum<"CumulativeKind", "what a scan computes", [
  I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Prod", 1, "prod">, I32EnumAttrCase<"Max", 2, "max">]>;
def Graph_CumulativeKindAttr : Graph_EnumAttr<Graph_CumulativeKind, "cumulative_kind">;

def Graph_TensorLayout : Graph_Enum<"TensorLayout", "where the channels of an image-like tensor are", [
  I32EnumAttrCase<"ChannelsFirst", 0, "channels_first">, I32EnumAttrCase<"ChannelsLast", 1, "channels_last">]>;
def Graph_TensorLayoutAttr : Graph_EnumAttr<Graph_TensorLayout, "layout">;

def Graph_PoolKind : Graph_Enum<"PoolKind", "what a window computes", [
  I32EnumAttrCase<"Max", 0, "max">, I32EnumAttrCase<"Average", 1, "average">]>;
def Graph_PoolKindAttr : Graph_EnumAttr<Graph_PoolKind, "pool_kind">;

def Graph_GeluApproximation : Graph_Enum<"GeluApproximation", "which formula of GELU", [
  I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"Tanh", 1, "tanh">]>;
def Graph_GeluApproximationAttr : Graph_EnumAttr<Graph_GeluApproximation, "gelu_approximation">;

def Graph_RecurrentDirection : Graph_Enum<"RecurrentDirection", "order in which a sequence is read", [
  I32EnumAttrCase<"Forward", 0, "forward">, I32EnumAttrCase<"Reverse", 1, "reverse">,
  I32EnumAttrCase<"Bidirectional", 2, "bidirectional">]>;
def Graph_RecurrentDirectionAttr : Graph_EnumAttr<Graph_RecurrentDirection, "recurrent_direction">;

def Graph_RnnActivation : Graph_Enum<"RnnActivation", "activation of a plain recurrent cell", [
  I32EnumAttrCase<"Tanh", 0, "tanh">, I32EnumAttrCase<"Relu", 1, "relu">]>;
def Graph_RnnActivationAttr : Graph_EnumAttr<Graph_RnnActivation, "rnn_activation">;

#endif // STATOR_DIALECTS_GRAPH_GRAPHENUMS_TD
