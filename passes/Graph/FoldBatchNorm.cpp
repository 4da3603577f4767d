//===- FoldBatchNorm.cpp - batch normalisation into the filter -------------===//
//
// batch_norm(conv(x, w) + b) with frozen statistics is conv(x, w * s) + b' with
//   s = scale / sqrt(variance + epsilon)   and   b' = (b - mean) * s + bias
// per output channel (Jacob et al., 2018, section 3.2). s and b' are computed
// in double and rounded once; w * s is a recipe, so the filter is not copied.
//
//===----------------------------------------------------------------------===//

#include "dialects/Graph/DerivedParameters.h"
#include "dialects/Graph/Interpreter/TensorValue.h"
#include "dialects/Graph/ParameterRecipes.h"
#include "passes/Graph/EraseDead.h"
#include "passes/Graph/Passes.h"

#include <cmath>

using namespace mlir;

namespace stator::graph {

#define GEN_PASS_DEF_FOLDBATCHNORMPASS
#include "passes/Graph/Passes.h.inc"

namespace {

/// A convolution, and the vector that is added per channel before the normalisation, if any.
struct BiasedConvolution {
  ConvolutionOp convolution;
  Value bias;
};

std::optional<BiasedConvolution> matchConvolution(Value value, int64_t channelAxis) {
  if (!value.hasOneUse())
    return std::nullopt;
  if (auto convolution = value.getDefiningOp<ConvolutionOp>())
    return BiasedConvolution{convolution, Value()};
  auto add = value.getDefiningOp<AddOp>();
  if (!add)
    return std::nullopt;
  for (auto [sum, other] : {std::pair(add.getLhs(), add.getRhs()), std::pair(add.getRhs(), add.getLhs())}) {
    auto convolution = sum.getDefiningOp<ConvolutionOp>();
    auto broadcast = other.getDefiningOp<BroadcastOp>();
    if (convolution && convolution->hasOneUse() && broadcast && broadcast.getDimensions() == ArrayRef<int64_t>{channelAxis})
      return BiasedConvolution{convolution, broadcast.getInput()};
  }
  return std::nullopt;
}

class BatchNormFolder {
public:
  explicit BatchNormFolder(ModuleOp module) : parameters(module) {}

  bool fold(BatchNormOp op) {
    auto type = cast<RankedTensorType>(op.getResult().getType());
    int64_t axis = op.getAxis();
    std::optional<BiasedConvolution> match = matchConvolution(op.getInput(), axis);
    if (!match || axis != (match->convolution.getLayout() == TensorLayout::ChannelsLast ? type.getRank() - 1 : 1))
      return false;
    ParameterOp filter = parameters.frozenOrConstant(match->convolution.getFilter());
    auto scale = numbers(op.getScale()), bias = numbers(op.getBias()), mean = numbers(op.getMean()), variance = numbers(op.getVariance());
    auto added = match->bias ? numbers(match->bias) : std::optional(std::vector<double>(scale ? scale->size() : 0));
    if (!filter || !scale || !bias || !mean || !variance || !added)
      return false;

    std::vector<double> factor, shift;
    for (size_t i = 0; i < scale->size(); ++i) {
      factor.push_back((*scale)[i] / std::sqrt((*variance)[i] + op.getEpsilon().convertToDouble()));
      shift.push_back(((*added)[i] - (*mean)[i]) * factor[i] + (*bias)[i]);
    }
    OpBuilder builder(op);
    ParameterOp factors = vectorParameter("batch_norm.scale", factor, op), shifts = vectorParameter("batch_norm.bias", shift, op);
    ParameterOp scaled = parameters.derive({filter, factors}, "mul_channel", builder.getNamedAttr("axis", builder.getI64IntegerAttr(0)),
                                           filter.tensorType());
    builder.setInsertionPoint(match->convolution);
    match->convolution->setOperand(1, DerivedParameters::read(scaled, match->convolution));
    builder.setInsertionPoint(op);
    Value repeated =
        BroadcastOp::create(builder, op.getLoc(), type, DerivedParameters::read(shifts, op), ArrayRef<int64_t>{axis}).getResult();
    Value sum = AddOp::create(builder, op.getLoc(), match->convolution.getResult(), repeated).getResult();
    op.getResult().replaceAllUsesWith(sum);
    op.erase();
    return true;
  }

  void removeUnused() { parameters.removeUnused(); }

private:
  std::optional<std::vector<double>> numbers(Value value) {
    if (auto constant = value.getDefiningOp<ConstantOp>())
      if (auto elements = dyn_cast<DenseElementsAttr>(constant.getValue()))
        return TensorValue::fromElements(elements).reals();
    ParameterOp parameter = parameters.frozen(value);
    if (!parameter)
      return std::nullopt;
    TensorValue tensor(elementTypeOf(parameter.tensorType().getElementType()), parameter.tensorType().getShape());
    if (failed(materialize(parameter, tables, {reinterpret_cast<char *>(tensor.data.data()), tensor.data.size()})))
      return std::nullopt;
    return tensor.reals();
  }

  ParameterOp vectorParameter(StringRef name, ArrayRef<double> values, BatchNormOp op) {
    Type element = cast<RankedTensorType>(op.getScale().getType()).getElementType();
    TensorValue tensor = TensorValue::of(elementTypeOf(element), {int64_t(values.size())}, values);
    return parameters.own(name, RankedTensorType::get({int64_t(values.size())}, element), tensor.data, op.getLoc());
  }

  DerivedParameters parameters;
  SymbolTableCollection tables;
};

struct FoldBatchNormPass : impl::FoldBatchNormPassBase<FoldBatchNormPass> {
  using FoldBatchNormPassBase::FoldBatchNormPassBase;

  void runOnOperation() override {
    BatchNormFolder folder(getOperation());
    SmallVector<BatchNormOp> ops;
    getOperation().walk([&](BatchNormOp op) { ops.push_back(op); });
    for (BatchNormOp op : ops)
      numFolded += folder.fold(op);
    eraseDead(getOperation());
    folder.removeUnused();
  }
};

} // namespace
} // namespace stator::graph
