// How views are read and written, apart from the operators that make them: `x[1:3]` as an alias, and `slice_scatter`, which puts a new
// part into a copy, are the same pair of functions. Each plan holds them together with the strides and the offset that PyTorch gives
// the view. A plan is made for the shape that a tensor has now; an argument that is out of range is recorded as an error of the call, and
// then there is no plan.
#ifndef STATOR_COMPILER_IMPORT_TORCH_ATEN_VIEWS_H
#define STATOR_COMPILER_IMPORT_TORCH_ATEN_VIEWS_H

#include "compiler/Import/Torch/Aten/OpCall.h"

namespace stator::torch {

struct ViewPlan {
  ViewStep step;
  trace::Dims strides;
  trace::Dim offset;
};
using MaybePlan = std::optional<ViewPlan>;

/// All of the tensor, under other sizes of the same product.
ViewPlan reshapePlan(OpCall &call, const TensorRef &base, const trace::Dims &dims);
/// Axis i of the view is axis permutation[i] of the base.
ViewPlan permutePlan(OpCall &call, const TensorRef &base, const trace::Ints &permutation);
/// Python's start:end:step along an axis, clamped; absent bounds are the ends.
MaybePlan slicePlan(OpCall &call, const TensorRef &base, int64_t axis, const std::optional<trace::Dim> &start,
                    const std::optional<trace::Dim> &end, int64_t step);
/// One position, without its axis. Positions below zero count from the end.
MaybePlan selectPlan(OpCall &call, const TensorRef &base, int64_t axis, const trace::Dim &index);
/// The same for a position that is data: a rank-0 integer tensor.
ViewPlan selectPlan(OpCall &call, const TensorRef &base, int64_t axis, const trace::Tensor &index);
/// Sizes that are 1 repeated to `dims`, to which axes may be added in front.
MaybePlan expandPlan(OpCall &call, const TensorRef &base, const trace::Dims &dims);
/// The diagonal of two axes, as the last axis.
MaybePlan diagonalPlan(OpCall &call, const TensorRef &base, int64_t offset, int64_t axis1, int64_t axis2);
/// Windows of `size` elements along an axis, `step` apart, as a new last axis.
MaybePlan unfoldPlan(OpCall &call, const TensorRef &base, int64_t axis, int64_t size, int64_t step);
/// Any sizes and strides over the memory of `base`, as far as base covers it without gaps.
MaybePlan stridedPlan(OpCall &call, const TensorRef &base, const trace::Dims &dims, const trace::Dims &strides,
                      const std::optional<trace::Dim> &offset);

/// The view as an alias; poison without a plan.
Value viewResult(OpCall &call, const TensorRef &base, const MaybePlan &plan);
/// The view's elements in memory of their own.
Value copyResult(OpCall &call, const TensorRef &base, const MaybePlan &plan);
/// A copy of base with `part`, which is cast and broadcast, in the place of the view.
Value scatterResult(OpCall &call, const TensorRef &base, const trace::Tensor &part, const MaybePlan &plan);

/// Makes `self` itself what `other` is, and returns it.
Value becomeResult(OpCall &call, const TensorRef &self, const TensorRef &other);
/// The handlers that a plan gives; its arguments after the tensor begin at `first`.
using Planner = MaybePlan (*)(OpCall &call, size_t first);
template <Planner planner>
Value asView(OpCall &call) {
  return viewResult(call, call.ref(0), planner(call, 1));
}
template <Planner planner>
Value asCopy(OpCall &call) {
  return copyResult(call, call.ref(0), planner(call, 1));
}
/// (self, src, ...)
template <Planner planner>
Value asScatter(OpCall &call) {
  return scatterResult(call, call.ref(0), call.tensor(1), planner(call, 2));
}
/// One size may be -1: what is left.
std::optional<trace::Dims> completeDims(OpCall &call, const TensorRef &base, trace::Dims wanted);

MaybePlan sliceArguments(OpCall &call, size_t first);
MaybePlan selectArguments(OpCall &call, size_t first);
MaybePlan diagonalArguments(OpCall &call, size_t first);
MaybePlan stridedArguments(OpCall &call, size_t first);

/// c10's numbers of memory formats.
constexpr int64_t kContiguousFormat = 0, kPreserveFormat = 1, kChannelsLastFormat = 2, kChannelsLast3dFormat = 3;
/// The strides that a new tensor gets in a memory format; for "preserve", those of `like` when they are a permutation without gaps.
trace::Dims formatStrides(Context &context, const trace::Dims &dims, int64_t format, const TensorRef &like);
/// Whether the tensor lies in memory in this format.
bool hasFormat(Context &context, const TensorRef &tensor, int64_t format);
/// The axes from the outermost in memory to the innermost, when the elements fill memory without gaps or overlap.
std::optional<trace::Ints> memoryOrder(const trace::Dims &dims, const trace::Dims &strides);

trace::Dims withoutAxis(trace::Dims dims, int64_t axis);
trace::Dims withAxis(trace::Dims dims, int64_t axis, const trace::Dim &size);
trace::Ints iotaInts(int64_t count);
/// 0, 1, ... along `axis` of a shape that is 1 everywhere else.
trace::Tensor positions(trace::Builder &builder, const trace::Dim &size, int64_t axis, int64_t rank);

} // namespace stator::torch

#endif // STATOR_COMPILER_IMPORT_TORCH_ATEN_VIEWS_H
