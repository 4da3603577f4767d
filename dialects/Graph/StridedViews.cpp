//===- StridedViews.cpp - tensors as parts of others, through strides ------===//

#include "dialects/Graph/StridedViews.h"

#include "dialects/Graph/Shapes.h"

using namespace mlir;

namespace stator::graph {

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

StridedView StridedView::dense(Value value) {
  StridedView view;
  view.base = value;
  view.sizes = dimsOf(typeOf(value));
  view.strides.resize(view.sizes.size());
  DimExpr stride(1);
  for (size_t axis = view.sizes.size(); axis-- > 0; stride *= view.sizes[axis])
    view.strides[axis] = stride;
  return view;
}

std::optional<StridedView> reshaped(const StridedView &view, ArrayRef<DimExpr> sizes) {
  auto isOne = [](const DimExpr &size) { return size.isConstant(1); };
  // Runs of axes that are one axis in memory, from the innermost outwards.
  struct Run {
    DimExpr size, stride;
  };
  SmallVector<Run> runs;
  for (size_t axis = view.sizes.size(); axis-- > 0;) {
    const DimExpr &size = view.sizes[axis], &stride = view.strides[axis];
    if (size.isConstant(0))
      return std::nullopt;
    if (isOne(size))
      continue;
    if (!runs.empty() && runs.back().stride * runs.back().size == stride)
      runs.back().size *= size;
    else
      runs.push_back({size, stride});
  }
  StridedView result{view.base, view.offset, SmallVector<DimExpr>(sizes), SmallVector<DimExpr>(sizes.size(), DimExpr(0))};
  size_t axis = sizes.size();
  for (const Run &run : runs) {
    DimExpr covered(1);
    while (covered != run.size) {
      if (axis == 0)
        return std::nullopt;
      --axis;
      if (isOne(sizes[axis]))
        continue;
      result.strides[axis] = run.stride * covered;
      covered *= sizes[axis];
    }
  }
  while (axis > 0)
    if (!isOne(sizes[--axis]))
      return std::nullopt;
  return result;
}

static StridedView transposed(const StridedView &view, ArrayRef<int64_t> permutation) {
  StridedView result{view.base, view.offset, {}, {}};
  for (int64_t axis : permutation) {
    result.sizes.push_back(view.sizes[axis]);
    result.strides.push_back(view.strides[axis]);
  }
  return result;
}

namespace {

class ViewFinder {
public:
  ViewFinder(unsigned limit, unsigned maxParts, function_ref<bool(Operation *)> admit) : limit(limit), maxParts(maxParts), admit(admit) {}

  StridedParts find(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || limit == 0 || !isa<TransposeOp, SliceOp, ReshapeOp, ConcatOp>(op) || !admit(op))
      return itself(value);
    --limit;
    if (auto concat = dyn_cast<ConcatOp>(op))
      return findConcat(concat);
    StridedParts source = find(op->getOperand(0));
    std::optional<StridedParts> result = apply(op, source);
    if (!result)
      return itself(value);
    result->through.insert(result->through.begin(), op);
    return *result;
  }

private:
  static StridedParts itself(Value value) { return {{StridedView::dense(value)}, 0, {}}; }

  StridedParts findConcat(ConcatOp concat) {
    StridedParts result;
    result.axis = concat.getAxis();
    result.through.push_back(concat);
    for (Value input : concat->getOperands()) {
      StridedParts part = find(input);
      if (part.parts.size() > 1)
        part = itself(input);
      result.parts.append(part.parts);
      result.through.append(part.through);
    }
    return result.parts.size() <= maxParts ? result : itself(concat.getResult());
  }

  static std::optional<StridedParts> apply(Operation *op, const StridedParts &source) {
    StridedParts result = source;
    bool isParted = source.parts.size() > 1;
    if (auto transpose = dyn_cast<TransposeOp>(op)) {
      for (StridedView &view : result.parts)
        view = transposed(view, transpose.getPermutation());
      result.axis = llvm::find(transpose.getPermutation(), source.axis) - transpose.getPermutation().begin();
      return result;
    }
    // What cuts or renumbers a concatenated axis would have to look at each part.
    if (isParted)
      return std::nullopt;
    StridedView &view = result.parts.front();
    SmallVector<DimExpr> sizes = dimsOf(typeOf(op->getResult(0)));
    if (auto slice = dyn_cast<SliceOp>(op)) {
      SmallVector<DimExpr> starts = slice.getStarts().dims();
      for (size_t axis = 0; axis < sizes.size(); ++axis) {
        view.offset += starts[axis] * view.strides[axis];
        if (!slice.getStrides().empty())
          view.strides[axis] *= DimExpr(slice.getStrides()[axis]);
      }
      view.sizes = sizes;
      return result;
    }
    std::optional<StridedView> moved = reshaped(view, sizes);
    if (!moved)
      return std::nullopt;
    view = *moved;
    return result;
  }

  unsigned limit, maxParts;
  function_ref<bool(Operation *)> admit;
};

} // namespace

StridedParts viewOf(Value value, unsigned limit, unsigned maxParts, function_ref<bool(Operation *)> admit) {
  return ViewFinder(limit, maxParts, admit).find(value);
}

std::optional<StridedView> viewInto(Value value, Value final) {
  StridedView view = StridedView::dense(final);
  // From the end backwards: where the elements of each operand are to go.
  for (Value current = final; current != value;) {
    Operation *op = current.getDefiningOp();
    if (!op || !isa<TransposeOp, ReshapeOp>(op))
      return std::nullopt;
    current = op->getOperand(0);
    if (auto transpose = dyn_cast<TransposeOp>(op)) {
      SmallVector<int64_t> inverse(view.sizes.size());
      for (auto [position, axis] : llvm::enumerate(transpose.getPermutation()))
        inverse[axis] = position;
      view = transposed(view, inverse);
      continue;
    }
    std::optional<StridedView> moved = reshaped(view, dimsOf(typeOf(current)));
    if (!moved)
      return std::nullopt;
    view = *moved;
  }
  return view;
}

} // namespace stator::graph
