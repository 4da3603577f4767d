// Borders. In modes other than constant the dialect does not cut, so a negative amount becomes a slice first.
#include "compiler/Trace/ElementwiseSupport.h"

namespace stator::trace::fn {

Tensor pad(const Tensor &given, const Dims &lowDims, const Dims &highDims, PadMode mode, const Tensor &value) {
  Tensor x = given;
  Call call("pad", {x}, {value});
  if (!call)
    return call.failed();
  Tensor fill = value ? cast(value, x.type()) : scalarOf(*call, x.type(), 0);
  if (fill.rank() != 0)
    fill = reshape(fill, Dims{});
  if (!call)
    return call.failed();
  Sizes low = call.sizes(lowDims), high = call.sizes(highDims);
  if (static_cast<int64_t>(low.size()) != x.rank() || static_cast<int64_t>(high.size()) != x.rank())
    return call.invalid(llvm::Twine(low.size()) + " low and " + llvm::Twine(high.size()) + " high amounts for a tensor of rank " +
                        llvm::Twine(x.rank()));
  auto isZero = [](const DimExpr &amount) { return amount.isConstant(0); };
  if (mode != PadMode::Constant) {
    Dims starts, ends;
    bool isCut = false;
    for (int64_t axis = 0; axis < x.rank(); ++axis) {
      DimExpr size = call->dims(x)[axis], start(0), end = size;
      if (std::optional<int64_t> amount = low[axis].constant(); amount && *amount < 0) {
        start = DimExpr(0) - low[axis];
        low[axis] = DimExpr(0);
        isCut = true;
      }
      if (std::optional<int64_t> amount = high[axis].constant(); amount && *amount < 0) {
        end = size + high[axis];
        high[axis] = DimExpr(0);
        isCut = true;
      }
      starts.emplace_back(start);
      ends.emplace_back(end);
    }
    if (isCut)
      x = slice(x, starts, ends);
    if (!call)
      return call.failed();
  }
  if (llvm::all_of(low, isZero) && llvm::all_of(high, isZero))
    return x;
  // Cutting supposes that there is something to cut. A constant size that is negative is an error of the operation's verifier.
  for (int64_t axis = 0; axis < x.rank(); ++axis)
    if (DimExpr size = call->dims(x)[axis] + low[axis] + high[axis]; !size.isConstant())
      call->assumeNonNegative(size);
  // A mirror image needs something to mirror; the dialect leaves this open.
  for (int64_t axis = 0; axis < x.rank() && mode != PadMode::Constant; ++axis) {
    std::optional<int64_t> size = call->dims(x)[axis].constant();
    for (const DimExpr &amount : {low[axis], high[axis]})
      if (std::optional<int64_t> count = amount.constant();
          size && count && (mode == PadMode::Reflect ? *count >= *size : *size == 0) && *count > 0)
        return call.invalid("padding by " + llvm::Twine(*count) + " of an axis with " + llvm::Twine(*size) + " elements");
  }
  static_assert(static_cast<int>(PadMode::Wrap) == static_cast<int>(graph::PadMode::Wrap), "both enums list the same modes");
  return emit(*call, "graph.pad", {x, fill},
              Attributes(*call)
                  .sizes("low", low)
                  .sizes("high", high)
                  .ints("interior", Axes(x.rank(), 0))
                  .attr("mode", graph::PadModeAttr::get(call->context(), static_cast<graph::PadMode>(mode))));
}

Tensor pad(const Tensor &x, const Tensor &pads, const Tensor &value, const Tensor &axesTensor, PadMode mode) {
  Call call("pad", {x, pads}, {value, axesTensor});
  if (!call)
    return call.failed();
  std::optional<Sizes> amounts = call.sizes("the amounts", pads);
  if (!amounts)
    return call.failed();
  Axes axes;
  for (int64_t axis = 0; axis < x.rank(); ++axis)
    axes.push_back(axis);
  if (axesTensor) {
    std::optional<Axes> constants = call.constants("the axes", axesTensor);
    if (!constants || !call.axes(*constants, x.rank()))
      return call.failed();
    axes = *constants;
  }
  if (amounts->size() != 2 * axes.size())
    return call.invalid(llvm::Twine(amounts->size()) + " amounts for " + llvm::Twine(axes.size()) + " axes");
  Dims low(x.rank(), Dim(0)), high(x.rank(), Dim(0));
  for (size_t i = 0; i < axes.size(); ++i) {
    int64_t axis = axes[i] < 0 ? axes[i] + x.rank() : axes[i];
    low[axis] = Dim((*amounts)[i]);
    high[axis] = Dim((*amounts)[axes.size() + i]);
  }
  return pad(x, low, high, mode, value);
}

} // namespace stator::trace::fn
