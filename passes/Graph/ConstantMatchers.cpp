//===- ConstantMatchers.cpp - reading numbers out of a graph ---------------===//

#include "passes/Graph/ConstantMatchers.h"

#include <cmath>

using namespace mlir;

namespace stator::graph {

std::optional<double> splatValue(Value value) {
  while (Operation *producer = value.getDefiningOp()) {
    if (isa<BroadcastOp, ReshapeOp>(producer)) {
      value = producer->getOperand(0);
      continue;
    }
    auto constant = dyn_cast<ConstantOp>(producer);
    auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
    if (!elements || !elements.isSplat())
      return std::nullopt;
    if (isa<FloatType>(elements.getElementType())) {
      APFloat number = elements.getSplatValue<APFloat>();
      bool losesInfo = false;
      number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
      return number.convertToDouble();
    }
    APInt number = elements.getSplatValue<APInt>();
    return elements.getElementType().isUnsignedInteger() ? double(number.getZExtValue()) : double(number.getSExtValue());
  }
  return std::nullopt;
}

bool isSplatOf(Value value, double expected) {
  std::optional<double> number = splatValue(value);
  auto type = dyn_cast<FloatType>(cast<RankedTensorType>(value.getType()).getElementType());
  // One part in 2^(mantissa - 1): exporters print constants such as sqrt(2) with the digits of f32.
  double tolerance = type ? std::ldexp(1.0, -int(std::min(type.getFPMantissaWidth(), 24u)) + 1) : 0;
  return number && std::abs(*number - expected) <= tolerance * std::abs(expected);
}

Value beforeBroadcast(Value value) {
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  return broadcast ? broadcast.getInput() : Value();
}

} // namespace stator::graph
