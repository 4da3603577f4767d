//===- CausalMasks.cpp - triangular masks become causal attention ----------===//
//
// A kernel that knows that position i only attends to 0 .. i + offset skips the
// keys above, half of the work, and reads no mask. Exporters write the triangle
// as a table of constants or as a comparison of two counters.
//
//===----------------------------------------------------------------------===//

#include "dialects/Graph/ParameterRecipes.h"
#include "dialects/Graph/Shapes.h"
#include "passes/Graph/ConstantMatchers.h"
#include "passes/Optimise/Passes.h"

#include "mlir/IR/SymbolTable.h"

#include <cmath>
#include <cstring>

using namespace mlir;

namespace stator::optimise {

#define GEN_PASS_DEF_CAUSALMASKSPASS
#include "passes/Optimise/Passes.h.inc"

namespace {

using namespace stator::graph;

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// What a mask allows, if that is a triangle: position i may attend to 0 .. i + offset.
struct CausalMask {
  /// Everything is allowed.
  bool isFull = false;
  DimExpr offset;
};

/// A counter along one of the last two axes, plus a number.
struct Counter {
  bool alongKeys;
  DimExpr offset;
};

/// The elements of a static tensor that is known now, as doubles.
std::optional<std::vector<double>> knownElements(Value value, Operation *user) {
  RankedTensorType type = typeOf(value);
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getInput();
  std::vector<double> result;
  if (auto constant = value.getDefiningOp<ConstantOp>()) {
    auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!elements)
      return std::nullopt;
    if (isa<FloatType>(elements.getElementType()))
      for (APFloat number : elements.getValues<APFloat>()) {
        bool losesInfo = false;
        number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
        result.push_back(number.convertToDouble());
      }
    else
      for (APInt number : elements.getValues<APInt>())
        result.push_back(number.isZero() ? 0 : 1);
    return result;
  }
  auto get = value.getDefiningOp<GetParameterOp>();
  auto parameter = get ? SymbolTable::lookupNearestSymbolFrom<ParameterOp>(user, get.getParameterAttr()) : ParameterOp();
  if (!parameter || parameter.getIsMutable() || parameter.getLayout() || !(type.getElementType().isF32() || isBoolElement(type.getElementType())))
    return std::nullopt;
  SymbolTableCollection symbols;
  std::optional<int64_t> bytes = staticByteSize(type);
  std::vector<char> data(bytes.value_or(0));
  if (!bytes || failed(materialize(parameter, symbols, data)))
    return std::nullopt;
  for (size_t i = 0; i < data.size(); i += type.getElementType().isF32() ? 4 : 1) {
    float number = 0;
    if (type.getElementType().isF32())
      std::memcpy(&number, &data[i], 4);
    result.push_back(type.getElementType().isF32() ? number : data[i]);
  }
  return result;
}

std::optional<CausalMask> triangleOf(Value mask, Operation *user) {
  RankedTensorType type = typeOf(mask);
  int64_t rank = type.getRank();
  if (!type.hasStaticShape())
    return std::nullopt;
  int64_t rows = type.getDimSize(rank - 2), columns = type.getDimSize(rank - 1);
  if (type.getNumElements() != rows * columns || rows * columns == 0)
    return std::nullopt;
  std::optional<std::vector<double>> elements = knownElements(mask, user);
  if (!elements)
    return std::nullopt;
  // A number this low leaves nothing of a weight, unless all scores of the row have it.
  const bool isBool = isBoolElement(type.getElementType());
  auto isAllowed = [&](double element) { return isBool ? element != 0 : element == 0; };
  auto isBlocked = [&](double element) { return isBool ? element == 0 : element <= -1e30; };
  int64_t seen = 0;
  while (seen < columns && isAllowed((*elements)[seen]))
    ++seen;
  if (seen == 0)
    return std::nullopt;
  bool isFull = true;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column) {
      double element = (*elements)[row * columns + column];
      isFull &= isAllowed(element);
      if (column < seen + row ? !isAllowed(element) : !isBlocked(element))
        return std::nullopt;
    }
  return CausalMask{isFull, DimExpr(seen - 1)};
}

std::optional<DimExpr> numberOf(Value value) {
  while (isa_and_nonnull<BroadcastOp, ReshapeOp, ConvertOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  if (auto values = value.getDefiningOp<DimValuesOp>(); values && values.getValues().dims().size() == 1)
    return values.getValues().dims()[0];
  std::optional<double> number = splatValue(value);
  return number && std::floor(*number) == *number ? std::optional(DimExpr(int64_t(*number))) : std::nullopt;
}

/// `axes[i]` is where axis i of `value` lies in the mask, counted from its end: 1 for keys, 2 for queries.
std::optional<Counter> counterOf(Value value, SmallVector<int64_t> axes) {
  Operation *op = value.getDefiningOp();
  if (auto iota = dyn_cast_or_null<IotaOp>(op)) {
    int64_t place = axes[iota.getAxis()];
    return place == 1 || place == 2 ? std::optional(Counter{place == 1, DimExpr(0)}) : std::nullopt;
  }
  if (auto convert = dyn_cast_or_null<ConvertOp>(op))
    return isIntElement(typeOf(convert.getInput()).getElementType()) ? counterOf(convert.getInput(), axes) : std::nullopt;
  if (auto broadcast = dyn_cast_or_null<BroadcastOp>(op)) {
    SmallVector<int64_t> inner;
    for (int64_t axis : broadcast.getDimensions())
      inner.push_back(axes[axis]);
    return counterOf(broadcast.getInput(), inner);
  }
  if (auto reshape = dyn_cast_or_null<ReshapeOp>(op)) {
    // One axis that is not 1 on both sides.
    auto only = [](RankedTensorType type) -> std::optional<size_t> {
      std::optional<size_t> found;
      for (auto [axis, size] : llvm::enumerate(dimsOf(type)))
        if (!size.isConstant(1)) {
          if (found)
            return std::nullopt;
          found = axis;
        }
      return found;
    };
    std::optional<size_t> to = only(typeOf(value)), from = only(typeOf(reshape.getInput()));
    if (!to || !from)
      return std::nullopt;
    SmallVector<int64_t> inner(typeOf(reshape.getInput()).getRank(), 0);
    inner[*from] = axes[*to];
    return counterOf(reshape.getInput(), inner);
  }
  for (bool isSum : {true, false}) {
    Value lhs, rhs;
    if (auto sum = dyn_cast_or_null<AddOp>(op); sum && isSum)
      lhs = sum.getLhs(), rhs = sum.getRhs();
    else if (auto difference = dyn_cast_or_null<SubOp>(op); difference && !isSum)
      lhs = difference.getLhs(), rhs = difference.getRhs();
    if (!lhs)
      continue;
    if (isSum && numberOf(lhs))
      std::swap(lhs, rhs);
    std::optional<DimExpr> number = numberOf(rhs);
    std::optional<Counter> counter = number ? counterOf(lhs, axes) : std::nullopt;
    if (counter)
      counter->offset = isSum ? counter->offset + *number : counter->offset - *number;
    return counter;
  }
  return std::nullopt;
}

std::optional<CausalMask> comparisonOf(Value mask) {
  int64_t rank = typeOf(mask).getRank();
  SmallVector<int64_t> axes;
  for (int64_t axis = 0; axis < rank; ++axis)
    axes.push_back(rank - axis);
  while (auto reshape = mask.getDefiningOp<ReshapeOp>()) {
    // Sizes of 1 in front.
    SmallVector<DimExpr> from = dimsOf(typeOf(reshape.getInput())), to = dimsOf(typeOf(mask));
    while (!from.empty() && !to.empty() && from.back() == to.back())
      from.pop_back(), to.pop_back();
    if (!llvm::all_of(from, [](const DimExpr &size) { return size.isConstant(1); }) || to.size() < from.size())
      return std::nullopt;
    axes.erase(axes.begin(), axes.begin() + (to.size() - from.size()));
    mask = reshape.getInput();
  }
  auto compare = mask.getDefiningOp<CompareOp>();
  if (!compare)
    return std::nullopt;
  std::optional<Counter> lhs = counterOf(compare.getLhs(), axes), rhs = counterOf(compare.getRhs(), axes);
  if (!lhs || !rhs || lhs->alongKeys == rhs->alongKeys)
    return std::nullopt;
  CompareDirection direction = compare.getDirection();
  // As key <= query + offset.
  bool isUp = direction == CompareDirection::Le || direction == CompareDirection::Lt;
  bool isDown = direction == CompareDirection::Ge || direction == CompareDirection::Gt;
  bool isStrict = direction == CompareDirection::Lt || direction == CompareDirection::Gt;
  if (lhs->alongKeys ? !isUp : !isDown)
    return std::nullopt;
  const Counter &key = lhs->alongKeys ? *lhs : *rhs, &query = lhs->alongKeys ? *rhs : *lhs;
  DimExpr offset = query.offset - key.offset - DimExpr(isStrict ? 1 : 0);
  if (!offset.isValid())
    return std::nullopt;
  return CausalMask{false, offset};
}

std::optional<CausalMask> matchCausal(Value mask, Operation *user) {
  if (typeOf(mask).getRank() < 2)
    return std::nullopt;
  if (isBoolElement(typeOf(mask).getElementType()))
    if (std::optional<CausalMask> compared = comparisonOf(mask))
      return compared;
  return triangleOf(mask, user);
}

/// Whether the mask has every position, and the same for all heads.
bool isMatrixOf(graph::AttentionOp op) {
  SmallVector<DimExpr> mask = dimsOf(typeOf(op.getMask())), query = dimsOf(typeOf(op.getQuery())), key = dimsOf(typeOf(op.getKey()));
  size_t rank = mask.size();
  return mask[rank - 2] == query[rank - 2] && mask[rank - 1] == key[rank - 2] &&
         llvm::all_of(ArrayRef(mask).drop_back(2), [](const DimExpr &size) { return size.isConstant(1); });
}

struct CausalMasksPass : impl::CausalMasksPassBase<CausalMasksPass> {
  using CausalMasksPassBase::CausalMasksPassBase;

  void runOnOperation() override {
    getOperation().walk([&](graph::AttentionOp op) {
      if (!op.getMask() || op.getCausal() || !isMatrixOf(op))
        return;
      std::optional<CausalMask> causal = matchCausal(op.getMask(), op);
      if (!causal)
        return;
      op.getMaskMutable().clear();
      if (causal->isFull)
        return;
      op.setCausal(true);
      if (causal->offset != DimExpr(0))
        op.setCausalOffsetAttr(graph::DimsAttr::get(&getContext(), causal->offset));
    });
  }
};

} // namespace
} // namespace stator::optimise
