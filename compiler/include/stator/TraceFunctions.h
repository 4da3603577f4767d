// The functional layer of the tracing API: what model code and importers call. The quirks of the front-ends end here: NumPy
// broadcasting, type promotion, negative axes, padding modes, ceil_mode, numeric defaults. Below, the graph dialect is strict.
// Rules that hold for all functions:
// - Operands broadcast as in NumPy where that makes sense, but a size known only at run time never does: a symbolic size meeting
//   another one (not the number 1) is taken to be equal to it, see Builder::constrainEqual.
// - Mixed element types promote: boolean < integer < float, then the wider; f16 with bf16 gives f32.
// - Axes may be negative. Wrong arguments put an error into the Builder that names the values seen and the values expected.
// - A tensor may not have more than 2^40 elements, nor a constant made here more than 2^28.
#ifndef STATOR_TRACEFUNCTIONS_H
#define STATOR_TRACEFUNCTIONS_H

#include "stator/Trace.h"

#include <functional>
#include <utility>

namespace stator::trace::fn {

// Element-wise, one operand. Float functions take integers as f32.
Tensor abs(const Tensor &x);
Tensor neg(const Tensor &x);
Tensor exp(const Tensor &x);
Tensor expm1(const Tensor &x);
Tensor log(const Tensor &x);
Tensor log1p(const Tensor &x);
Tensor sqrt(const Tensor &x);
Tensor rsqrt(const Tensor &x);
Tensor reciprocal(const Tensor &x);
Tensor square(const Tensor &x);
Tensor sin(const Tensor &x);
Tensor cos(const Tensor &x);
Tensor tan(const Tensor &x);
Tensor asin(const Tensor &x);
Tensor acos(const Tensor &x);
Tensor atan(const Tensor &x);
Tensor sinh(const Tensor &x);
Tensor cosh(const Tensor &x);
Tensor asinh(const Tensor &x);
Tensor acosh(const Tensor &x);
Tensor atanh(const Tensor &x);
Tensor tanh(const Tensor &x);
Tensor erf(const Tensor &x);
Tensor sigmoid(const Tensor &x);
Tensor floor(const Tensor &x);
Tensor ceil(const Tensor &x);
Tensor trunc(const Tensor &x);
/// Halves go to the even neighbour.
Tensor roundEven(const Tensor &x);
Tensor sign(const Tensor &x);
Tensor logicalNot(const Tensor &x);
Tensor bitwiseNot(const Tensor &x);
Tensor isNan(const Tensor &x);
Tensor isInf(const Tensor &x, bool detectNegative = true, bool detectPositive = true);
Tensor identity(const Tensor &x);
/// Float to integer saturates (NaN gives 0), integer to narrower integer wraps, anything to i1 is "not zero".
Tensor cast(const Tensor &x, ElementType type);

// Element-wise, two or more operands.
Tensor add(const Tensor &a, const Tensor &b);
Tensor sub(const Tensor &a, const Tensor &b);
Tensor mul(const Tensor &a, const Tensor &b);
/// Integers truncate toward zero.
Tensor div(const Tensor &a, const Tensor &b);
/// Integers become f32.
Tensor trueDiv(const Tensor &a, const Tensor &b);
Tensor floorDiv(const Tensor &a, const Tensor &b);
/// With the sign of the dividend (C's fmod).
Tensor remainder(const Tensor &a, const Tensor &b);
/// With the sign of the divisor (Python's %).
Tensor modulo(const Tensor &a, const Tensor &b);
/// The result has the type of the base.
Tensor pow(const Tensor &base, const Tensor &exponent);
Tensor atan2(const Tensor &y, const Tensor &x);
/// NaN in either operand gives NaN.
Tensor maximum(const Tensor &a, const Tensor &b);
Tensor minimum(const Tensor &a, const Tensor &b);
Tensor logicalAnd(const Tensor &a, const Tensor &b);
Tensor logicalOr(const Tensor &a, const Tensor &b);
Tensor logicalXor(const Tensor &a, const Tensor &b);
Tensor bitwiseAnd(const Tensor &a, const Tensor &b);
Tensor bitwiseOr(const Tensor &a, const Tensor &b);
Tensor bitwiseXor(const Tensor &a, const Tensor &b);
Tensor shiftLeft(const Tensor &a, const Tensor &b);
Tensor shiftRight(const Tensor &a, const Tensor &b);
Tensor eq(const Tensor &a, const Tensor &b);
Tensor ne(const Tensor &a, const Tensor &b);
Tensor lt(const Tensor &a, const Tensor &b);
Tensor le(const Tensor &a, const Tensor &b);
Tensor gt(const Tensor &a, const Tensor &b);
Tensor ge(const Tensor &a, const Tensor &b);
Tensor where(const Tensor &condition, const Tensor &onTrue, const Tensor &onFalse);
/// Either bound may be absent; they win over NaN never, and `high` wins over `low`.
Tensor clip(const Tensor &x, const Tensor &low, const Tensor &high);
Tensor clip(const Tensor &x, double low, double high);
Tensor sumOf(const Tensors &xs);
Tensor meanOf(const Tensors &xs);
Tensor maxOf(const Tensors &xs);
Tensor minOf(const Tensors &xs);
/// A rank-0 constant of x's element type.
Tensor scalarLike(const Tensor &x, double value);

// Activations.
Tensor relu(const Tensor &x);
Tensor leakyRelu(const Tensor &x, double alpha = 0.01);
/// The slope broadcasts to x (in one direction only).
Tensor prelu(const Tensor &x, const Tensor &slope);
Tensor elu(const Tensor &x, double alpha = 1.0);
Tensor selu(const Tensor &x, double alpha = 1.6732632423543772, double gamma = 1.0507009873554805);
Tensor celu(const Tensor &x, double alpha = 1.0);
Tensor gelu(const Tensor &x, bool tanhApproximation = false);
/// x * sigmoid(alpha * x).
Tensor silu(const Tensor &x, double alpha = 1.0);
Tensor mish(const Tensor &x);
Tensor softplus(const Tensor &x);
Tensor softsign(const Tensor &x);
Tensor hardSigmoid(const Tensor &x, double alpha = 0.2, double beta = 0.5);
Tensor hardSwish(const Tensor &x);
Tensor thresholdedRelu(const Tensor &x, double alpha = 1.0);
Tensor shrink(const Tensor &x, double lambd = 0.5, double bias = 0.0);
/// softmax and its kin. `coerce2D`: x is seen as a matrix [product of the dims before axis, product of the rest] (ONNX before 13).
Tensor softmax(const Tensor &x, int64_t axis = -1, bool coerce2D = false);
Tensor logSoftmax(const Tensor &x, int64_t axis = -1, bool coerce2D = false);
Tensor hardmax(const Tensor &x, int64_t axis = -1, bool coerce2D = false);
/// Inference: x itself.
Tensor dropout(const Tensor &x);

// Contractions.
/// NumPy's matmul: vectors are promoted, leading dims broadcast.
Tensor matmul(const Tensor &a, const Tensor &b);
/// alpha * op(a) @ op(b) + beta * c; c may be absent and broadcasts to the result.
Tensor gemm(const Tensor &a, const Tensor &b, const Tensor &c, double alpha = 1.0, double beta = 1.0, bool transA = false,
            bool transB = false);
/// x @ weight^T + bias over the last axis, weight [out, in], bias [out] or absent.
Tensor linear(const Tensor &x, const Tensor &weight, const Tensor &bias);
/// Explicit and implicit outputs, ellipsis, repeated labels (diagonals) and any number of operands.
Tensor einsum(std::string_view equation, const Tensors &operands);
/// softmax(query @ key^T * scale + mask) @ value over [..., length, width]; the mask is i1 (true: attend) or additive.
Tensor attention(const Tensor &query, const Tensor &key, const Tensor &value, const Tensor &mask, std::optional<double> scale = {},
                 bool causal = false);

/// x [batch, heads, length, width] with pairs of its elements rotated; cosine and sine are [batch or 1, length, rotated / 2]. Pairs are
/// neighbours when `interleaved`, else half of `rotated` apart; elements from `rotated` (0: all) on stay.
Tensor rotaryEmbedding(const Tensor &x, const Tensor &cosine, const Tensor &sine, int64_t rotated = 0, bool interleaved = false);

enum class AutoPad { Explicit, Valid, SameUpper, SameLower };
/// Empty lists mean 1 (strides, dilations) or 0 (pads) along each spatial axis.
struct ConvOptions {
  Ints strides = {}, padLow = {}, padHigh = {}, dilations = {};
  int64_t groups = 1;
  AutoPad autoPad = AutoPad::Explicit;
  /// convTranspose only.
  Ints outputPadding = {}, outputShape = {};
};
/// x [N, C, spatial...], weight [O, C/groups, spatial...], bias [O] or absent; any number of spatial axes.
Tensor conv(const Tensor &x, const Tensor &weight, const Tensor &bias, const ConvOptions &options = {});
/// x [N, C, spatial...], weight [C, O/groups, spatial...].
Tensor convTranspose(const Tensor &x, const Tensor &weight, const Tensor &bias, const ConvOptions &options = {});

// Windows.
struct PoolOptions {
  Ints kernel = {}, strides = {}, padLow = {}, padHigh = {}, dilations = {};
  AutoPad autoPad = AutoPad::Explicit;
  bool ceilMode = false;
  /// Average only.
  bool countIncludePad = false;
};
Tensor maxPool(const Tensor &x, const PoolOptions &options);
Tensor avgPool(const Tensor &x, const PoolOptions &options);
Tensor lpPool(const Tensor &x, int64_t p, const PoolOptions &options);
Tensor globalMaxPool(const Tensor &x);
Tensor globalAvgPool(const Tensor &x);
Tensor globalLpPool(const Tensor &x, int64_t p);

// Normalisation.
Tensor batchNorm(const Tensor &x, const Tensor &scale, const Tensor &bias, const Tensor &mean, const Tensor &variance,
                 double epsilon = 1e-5, int64_t axis = 1);
Tensor instanceNorm(const Tensor &x, const Tensor &scale, const Tensor &bias, double epsilon = 1e-5);
/// scale and bias of [C] or, when `perGroup`, of [groups].
Tensor groupNorm(const Tensor &x, int64_t groups, const Tensor &scale, const Tensor &bias, double epsilon = 1e-5, bool perGroup = false);
/// Over all axes from `axis` on; scale and bias may be absent and broadcast to these axes.
Tensor layerNorm(const Tensor &x, const Tensor &scale, const Tensor &bias, int64_t axis = -1, double epsilon = 1e-5);
Tensor rmsNorm(const Tensor &x, const Tensor &scale, int64_t axis = -1, double epsilon = 1e-5);
Tensor lrn(const Tensor &x, int64_t size, double alpha = 1e-4, double beta = 0.75, double bias = 1.0);
Tensor lpNorm(const Tensor &x, int64_t axis = -1, int64_t p = 2);
Tensor meanVarianceNorm(const Tensor &x, const Ints &axes = {0, 2, 3});

// Reductions and scans.
enum class Reduction { Sum, Mean, Prod, Max, Min, Any, All, L1, L2, LogSum, LogSumExp, SumSquare };
/// No axes: over all of them.
Tensor reduce(const Tensor &x, Reduction kind, const Ints &axes = {}, bool keepDims = true);
/// The same with the axes in a tensor (absent or empty: all axes, or none when `noopWithEmptyAxes`).
Tensor reduce(const Tensor &x, Reduction kind, const Tensor &axes, bool keepDims, bool noopWithEmptyAxes);
/// i64 results.
Tensor argMax(const Tensor &x, int64_t axis, bool keepDims = true, bool selectLast = false);
Tensor argMin(const Tensor &x, int64_t axis, bool keepDims = true, bool selectLast = false);
Tensor cumSum(const Tensor &x, int64_t axis, bool exclusive = false, bool reverse = false);
Tensor cumProd(const Tensor &x, int64_t axis, bool exclusive = false, bool reverse = false);
/// The largest element so far; NaN stays.
Tensor cumMax(const Tensor &x, int64_t axis, bool exclusive = false, bool reverse = false);
/// (values, i64 indices); equal values keep the order of their indices.
std::pair<Tensor, Tensor> topK(const Tensor &x, const Dim &k, int64_t axis = -1, bool largest = true, bool sorted = true);
std::pair<Tensor, Tensor> topK(const Tensor &x, const Tensor &k, int64_t axis, bool largest, bool sorted);

// Shape.
/// Sizes of the axes [start, end) as a 1-D i64 tensor; out-of-range bounds are clamped.
Tensor shapeOf(const Tensor &x, int64_t start = 0, std::optional<int64_t> end = {});
Tensor sizeOf(const Tensor &x);
/// One size may be -1: what is left.
Tensor reshape(const Tensor &x, const Dims &dims);
/// The contents of `shape` must be known; 0 means "as in x" unless allowZero.
Tensor reshape(const Tensor &x, const Tensor &shape, bool allowZero = false);
/// A matrix: the axes before `axis`, and the rest.
Tensor flatten(const Tensor &x, int64_t axis = 1);
/// No permutation: the axes reversed.
Tensor transpose(const Tensor &x, const Ints &permutation = {});
/// No axes: all axes of size 1.
Tensor squeeze(const Tensor &x, const Ints &axes = {});
Tensor unsqueeze(const Tensor &x, const Ints &axes);
/// One-directional broadcast to exactly `dims`.
Tensor broadcastTo(const Tensor &x, const Dims &dims);
/// Two-directional: the result is the broadcast of x's shape with `dims`.
Tensor expand(const Tensor &x, const Dims &dims);
Tensor expand(const Tensor &x, const Tensor &shape);
Tensor tile(const Tensor &x, const Dims &repeats);
Tensor tile(const Tensor &x, const Tensor &repeats);
Tensor concat(const Tensors &xs, int64_t axis);
Tensor stack(const Tensors &xs, int64_t axis);
Tensors split(const Tensor &x, const Dims &sizes, int64_t axis);
/// `count` equal parts; the last one is smaller when the size is not divisible.
Tensors splitEven(const Tensor &x, int64_t count, int64_t axis);
/// NumPy's x[start:end:step] along each axis given; bounds are clamped, steps may be negative. Axes empty: 0, 1, ...
Tensor slice(const Tensor &x, const Dims &starts, const Dims &ends, const Ints &axes = {}, const Ints &steps = {});
/// The same with tensors (axes and steps may be absent). Starts and ends whose contents are unknown are an error.
Tensor slice(const Tensor &x, const Tensor &starts, const Tensor &ends, const Tensor &axes, const Tensor &steps);
Tensor reverse(const Tensor &x, const Ints &axes);
Tensor reverseSequence(const Tensor &x, const Tensor &lengths, int64_t batchAxis, int64_t timeAxis);
/// Negative indices count from the end.
Tensor gather(const Tensor &x, const Tensor &indices, int64_t axis = 0);
Tensor gatherElements(const Tensor &x, const Tensor &indices, int64_t axis = 0);
Tensor gatherND(const Tensor &x, const Tensor &indices, int64_t batchDims = 0);
enum class ScatterReduction { None, Add, Mul, Max, Min };
Tensor scatterElements(const Tensor &x, const Tensor &indices, const Tensor &updates, int64_t axis = 0,
                       ScatterReduction reduction = ScatterReduction::None);
Tensor scatterND(const Tensor &x, const Tensor &indices, const Tensor &updates, ScatterReduction reduction = ScatterReduction::None);
/// The slices along `axis` (of the flattened x if absent) whose condition, which must be known, is true.
Tensor compress(const Tensor &x, const Tensor &condition, std::optional<int64_t> axis = {});
enum class PadMode { Constant, Edge, Reflect, Wrap };
/// One low and high per axis of x; negative ones crop. An absent value is 0.
Tensor pad(const Tensor &x, const Dims &low, const Dims &high, PadMode mode = PadMode::Constant, const Tensor &value = {});
/// ONNX's form: `pads` is [low..., high...] over `axes` (absent: all).
Tensor pad(const Tensor &x, const Tensor &pads, const Tensor &value, const Tensor &axes, PadMode mode);

enum class ResizeMode { Nearest, Linear, Cubic };
enum class ResizeCoordinate { HalfPixel, HalfPixelSymmetric, PytorchHalfPixel, AlignCorners, Asymmetric };
enum class ResizeNearest { RoundPreferFloor, RoundPreferCeil, Floor, Ceil };
enum class ResizeAspect { Stretch, NotLarger, NotSmaller };
struct ResizeOptions {
  ResizeMode mode = ResizeMode::Nearest;
  ResizeCoordinate coordinate = ResizeCoordinate::HalfPixel;
  ResizeNearest nearest = ResizeNearest::RoundPreferFloor;
  ResizeAspect aspect = ResizeAspect::Stretch; // with sizes only
  double cubicCoefficient = -0.75;
  bool excludeOutside = false;
  bool antialias = false;
  Ints axes; // empty: all
};
/// Exactly one of scales and sizes is present; their contents must be known.
Tensor resize(const Tensor &x, const Tensor &scales, const Tensor &sizes, const ResizeOptions &options = {});
enum class SamplePadding { Zeros, Border, Reflection };
struct SampleOptions {
  ResizeMode mode = ResizeMode::Linear;
  SamplePadding padding = SamplePadding::Zeros;
  /// -1 and 1 are the centres of the outermost elements, else their outer edges.
  bool alignCorners = false;
  /// Whether padding by the border or by reflection moves positions that lie outside (ONNX), or only the elements read around them, as
  /// PyTorch's bicubic sampling has it.
  bool movesPositions = true;
};
/// x [N, C, spatial...] read at the positions of grid [N, out..., axes], whose last axis lists coordinates from the last spatial axis to
/// the first, each in -1 .. 1: [N, C, out...].
Tensor gridSample(const Tensor &x, const Tensor &grid, const SampleOptions &options = {});
/// The grid that theta [N, axes, axes + 1] maps positions of an image of the spatial sizes `dims` to: [N, dims..., axes].
Tensor affineGrid(const Tensor &theta, const Dims &dims, bool alignCorners = false);
/// Crops or pads with zeros on both sides, so that the sizes along `axes` become `dims`.
Tensor centerCropPad(const Tensor &x, const Dims &dims, const Ints &axes);
Tensor depthToSpace(const Tensor &x, int64_t blockSize, bool columnRowDepth = false);
Tensor spaceToDepth(const Tensor &x, int64_t blockSize);

// Making data.
/// values = [off, on]; the depth must be known.
Tensor oneHot(const Tensor &indices, const Tensor &depth, const Tensor &values, int64_t axis = -1);
/// start, start + delta, ... below limit; contents must be known.
Tensor range(const Tensor &start, const Tensor &limit, const Tensor &delta);
/// 0, 1, ... along `axis`.
Tensor iota(Builder &builder, ElementType type, const Dims &dims, int64_t axis);
Tensor full(Builder &builder, const Dims &dims, const Tensor &scalar);
Tensor full(Builder &builder, ElementType type, const Dims &dims, double value);
/// `value` has one element; absent: f32 zero.
Tensor constantOfShape(const Tensor &shape, const Tensor &value);
Tensor eyeLike(const Tensor &x, ElementType type, int64_t k = 0);
/// Keeps the upper (lower) triangle of the last two axes, from diagonal k on.
Tensor trilu(const Tensor &x, bool upper, int64_t k = 0);
/// Data-dependent sizes: always an error that says so.
Tensor nonZero(const Tensor &x);

// Quantisation, as arithmetic. Scale and zero point (absent: 0 of ui8) are rank 0, 1-D along `axis`, or of x's rank and broadcast to it.
Tensor quantize(const Tensor &x, const Tensor &scale, const Tensor &zeroPoint, int64_t axis = 1);
Tensor dequantize(const Tensor &x, const Tensor &scale, const Tensor &zeroPoint, int64_t axis = 1);

// Losses.
enum class LossReduction { None, Mean, Sum };
/// -weight[target] * x[target] over the classes along axis 1; targets equal to `ignore` count for nothing, and the mean is weighted.
Tensor negativeLogLikelihood(const Tensor &x, const Tensor &target, const Tensor &weight, LossReduction reduction = LossReduction::Mean,
                             std::optional<int64_t> ignore = {});

// Recurrent layers; shapes, gate orders and absent tensors as in ONNX.
enum class Direction { Forward, Reverse, Bidirectional };
struct RecurrentInputs {
  Tensor x = {};               // [T, B, I]
  Tensor w = {};               // [D, gates*H, I]
  Tensor r = {};               // [D, gates*H, H]
  Tensor bias = {};            // [D, 2*gates*H]
  Tensor sequenceLengths = {}; // i32 [B]
  Tensor initialH = {};        // [D, B, H]
  Tensor initialC = {};        // [D, B, H], lstm
  Tensor peephole = {};        // [D, 3*H], lstm
};
struct RecurrentOptions {
  Direction direction = Direction::Forward;
  bool batchFirst = false;        // x [B, T, I], initial and final states [B, D, H], y [B, T, D, H]
  bool linearBeforeReset = false; // gru
  bool relu = false;              // rnn: instead of tanh
};
struct RecurrentOutputs {
  Tensor y; // [T, D, B, H]
  Tensor h; // [D, B, H]
  Tensor c; // [D, B, H], lstm
};
RecurrentOutputs lstm(const RecurrentInputs &inputs, const RecurrentOptions &options = {});
RecurrentOutputs gru(const RecurrentInputs &inputs, const RecurrentOptions &options = {});
RecurrentOutputs rnn(const RecurrentInputs &inputs, const RecurrentOptions &options = {});

// Control flow. The functions are called at once, possibly not at all (a known condition traces only the branch taken); they may
// use any tensor from outside. A value made inside leaves only through the returned list.
using Branch = std::function<Tensors()>;
/// Both branches return the same number, types and shapes; sizes that differ are taken to be equal.
Tensors ifThenElse(const Tensor &condition, const Branch &onTrue, const Branch &onFalse);
/// while (condition(values)) values = body(values); types and shapes stay as in `initial`.
Tensors whileLoop(const Tensors &initial, const std::function<Tensor(const Tensors &)> &condition,
                  const std::function<Tensors(const Tensors &)> &body);

} // namespace stator::trace::fn

namespace stator::trace {
inline Tensor operator+(const Tensor &a, const Tensor &b) { return fn::add(a, b); }
inline Tensor operator-(const Tensor &a, const Tensor &b) { return fn::sub(a, b); }
inline Tensor operator*(const Tensor &a, const Tensor &b) { return fn::mul(a, b); }
inline Tensor operator/(const Tensor &a, const Tensor &b) { return fn::div(a, b); }
inline Tensor operator-(const Tensor &a) { return fn::neg(a); }
} // namespace stator::trace

#endif // STATOR_TRACEFUNCTIONS_H
