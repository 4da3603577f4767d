//===- LowerShape.cpp - ops that move elements -----------------------------===//
//
// Broadcast and transpose are indexing maps. The others compute, for an element
// of the result, where in the input it comes from.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/LinalgLowering.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace stator::kernel {

using Body = LinalgLowering::Body;
using Values = SmallVector<Value>;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

static Value firstElement(Body &, ValueRange elements) { return elements[0]; }

static Value lowerBroadcast(LinalgLowering &lowering, graph::BroadcastOp op) {
  LinalgLowering::Input input{op.getInput(), SmallVector<int64_t>(op.getDimensions())};
  return lowering.elementwise(typeOf(op.getResult()), input, firstElement);
}

static Value lowerTranspose(LinalgLowering &lowering, graph::TransposeOp op) {
  // Axis permutation[i] of the input runs with axis i of the result.
  LinalgLowering::Input input{op.getInput(), SmallVector<int64_t>(op.getPermutation().size())};
  for (auto [axis, from] : llvm::enumerate(op.getPermutation()))
    input.axes[from] = axis;
  return lowering.elementwise(typeOf(op.getResult()), input, firstElement);
}

/// An op whose element at `index(0), index(1), ...` is the input's element at `positions`.
static Value lowerMove(LinalgLowering &lowering, Operation *op, Value input, llvm::function_ref<Values(Body &)> positions) {
  return lowering.elementwise(typeOf(op->getResult(0)), {}, [&](Body &b, ValueRange) { return b.extract(input, positions(b)); });
}

static Value lowerSlice(LinalgLowering &lowering, graph::SliceOp op) {
  return lowerMove(lowering, op, op.getInput(), [&](Body &b) {
    Values positions;
    for (auto [axis, stride] : llvm::enumerate(op.getStrides())) {
      Value offset = b.mul(b.index(axis), b.indexConstant(stride));
      positions.push_back(b.add(offset, b.size(op.getStarts().dim(axis))));
    }
    return positions;
  });
}

static Value lowerReverse(LinalgLowering &lowering, graph::ReverseOp op) {
  SmallVector<DimExpr> dims = graph::dimsOf(typeOf(op.getInput()));
  return lowerMove(lowering, op, op.getInput(), [&](Body &b) {
    Values positions;
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      Value index = b.index(axis);
      bool isReversed = llvm::is_contained(op.getAxes(), static_cast<int64_t>(axis));
      positions.push_back(isReversed ? b.sub(b.size(dims[axis] - 1), index) : index);
    }
    return positions;
  });
}

/// Division of an index that is not negative.
static Value divide(Body &b, Value x, Value y) { return arith::DivUIOp::create(b, x, y); }
static Value remainder(Body &b, Value x, Value y) { return arith::RemUIOp::create(b, x, y); }

static Value lowerReshape(LinalgLowering &lowering, graph::ReshapeOp op) {
  RankedTensorType from = typeOf(op.getInput()), to = typeOf(op.getResult());
  if (lowering.convert(from) == lowering.convert(to))
    return lowering.get(op.getInput());
  SmallVector<DimExpr> source = graph::dimsOf(from), target = graph::dimsOf(to);
  return lowerMove(lowering, op, op.getInput(), [&](Body &b) {
    // Cut both shapes into the shortest runs of axes with equal products: positions are renumbered within a run only.
    Values positions(source.size());
    size_t s = 0, t = 0;
    while (s < source.size() || t < target.size()) {
      size_t sBegin = s, tBegin = t;
      DimExpr sProduct = s < source.size() ? source[s++] : DimExpr(1), tProduct = t < target.size() ? target[t++] : DimExpr(1);
      while (!(sProduct == tProduct) && (s < source.size() || t < target.size())) {
        // Lengthen the shorter run where that can be told, else whichever is left.
        auto sKnown = sProduct.constant(), tKnown = tProduct.constant();
        bool lengthenSource =
            t == target.size() || (s < source.size() && (!sKnown || !tKnown || *sKnown < *tKnown) && s - sBegin <= t - tBegin);
        if (lengthenSource && s < source.size())
          sProduct = sProduct * source[s++];
        else if (t < target.size())
          tProduct = tProduct * target[t++];
        else
          sProduct = sProduct * source[s++];
      }
      Value linear = b.indexConstant(0);
      for (size_t axis = tBegin; axis < t; ++axis)
        linear = axis == tBegin ? b.index(axis) : b.add(b.mul(linear, b.size(target[axis])), b.index(axis));
      for (size_t axis = s; axis-- > sBegin;) {
        if (axis == sBegin) {
          positions[axis] = linear;
          break;
        }
        Value size = b.size(source[axis]);
        positions[axis] = remainder(b, linear, size);
        linear = divide(b, linear, size);
      }
    }
    return positions;
  });
}

static Value lowerIota(LinalgLowering &lowering, graph::IotaOp op) {
  RankedTensorType type = typeOf(op.getResult());
  return lowering.elementwise(type, {}, [&](Body &b, ValueRange) -> Value {
    Type element = scalarType(type.getElementType());
    Value index = b.toInteger(b.index(op.getAxis()), b.getI64Type());
    if (isa<FloatType>(element))
      return arith::SIToFPOp::create(b, element, index);
    return element.isInteger(64) ? index : arith::TruncIOp::create(b, element, index).getResult();
  });
}

//===----------------------------------------------------------------------===//
// Pad
//===----------------------------------------------------------------------===//

/// Where position `p` relative to the input (it may lie outside) reads it.
static Value borderPosition(Body &b, graph::PadMode mode, Value p, Value size) {
  Value zero = b.indexConstant(0);
  if (mode == graph::PadMode::Reflect) {
    Value last = b.sub(size, b.indexConstant(1));
    Value folded = b.select(b.less(p, zero), b.sub(zero, p), p);
    folded = b.select(b.less(last, folded), b.sub(b.add(last, last), folded), folded);
    return b.clamp(folded, size);
  }
  if (mode == graph::PadMode::Wrap) {
    Value divisor = b.max(size, b.indexConstant(1));
    Value folded = arith::RemSIOp::create(b, p, divisor);
    return b.select(b.less(folded, zero), b.add(folded, divisor), folded);
  }
  return b.clamp(p, size);
}

static Value lowerPad(LinalgLowering &lowering, graph::PadOp op) {
  SmallVector<DimExpr> dims = graph::dimsOf(typeOf(op.getInput()));
  LinalgLowering::Input value{op.getValue(), {}};
  return lowering.elementwise(typeOf(op.getResult()), value, [&](Body &b, ValueRange elements) -> Value {
    Values positions;
    Value isInside;
    auto require = [&](Value condition) { isInside = isInside ? arith::AndIOp::create(b, isInside, condition).getResult() : condition; };
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      DimExpr low = op.getLow().dim(axis), high = op.getHigh().dim(axis);
      int64_t interior = op.getInterior()[axis];
      Value p = b.sub(b.index(axis), b.size(low));
      if (low.isConstant(0) && high.isConstant(0) && interior == 0) {
        positions.push_back(p);
        continue;
      }
      Value size = b.size(dims[axis]);
      if (op.getMode() != graph::PadMode::Constant) {
        positions.push_back(borderPosition(b, op.getMode(), p, size));
        continue;
      }
      Value zero = b.indexConstant(0);
      require(arith::CmpIOp::create(b, arith::CmpIPredicate::sge, p, zero));
      if (interior > 0) {
        Value step = b.indexConstant(interior + 1);
        Value bounded = b.max(p, zero);
        require(arith::CmpIOp::create(b, arith::CmpIPredicate::eq, remainder(b, bounded, step), zero));
        p = divide(b, bounded, step);
      }
      require(b.less(p, size));
      positions.push_back(b.clamp(p, size));
    }
    Value element = b.extract(op.getInput(), positions);
    return isInside ? b.select(isInside, element, elements[0]) : element;
  });
}

Value lowerShape(LinalgLowering &lowering, Operation *op) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](graph::BroadcastOp op) { return lowerBroadcast(lowering, op); })
      .Case([&](graph::TransposeOp op) { return lowerTranspose(lowering, op); })
      .Case([&](graph::ReshapeOp op) { return lowerReshape(lowering, op); })
      .Case([&](graph::SliceOp op) { return lowerSlice(lowering, op); })
      .Case([&](graph::ReverseOp op) { return lowerReverse(lowering, op); })
      .Case([&](graph::PadOp op) { return lowerPad(lowering, op); })
      .Case([&](graph::IotaOp op) { return lowerIota(lowering, op); })
      .Default([](Operation *) { return Value(); });
}

} // namespace stator::kernel
