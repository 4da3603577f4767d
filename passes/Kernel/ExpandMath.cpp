//===- ExpandMath.cpp - no library calls in kernels ------------------------===//
//
// A walk instead of a pattern driver: every operation is replaced once, by code
// that needs no further expansion.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/MathExpansion.h"
#include "passes/Kernel/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace stator::kernel {

#define GEN_PASS_DEF_EXPANDMATHPASS
#include "passes/Kernel/Passes.h.inc"

/// The replacement, or null for what needs none.
static Value expand(Operation *op) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  MathExpansion math(b, op->getResult(0).getType());
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](math::ExpOp op) { return math.exp(op.getOperand()); })
      .Case([&](math::ExpM1Op op) { return math.expm1(op.getOperand()); })
      .Case([&](math::LogOp op) { return math.log(op.getOperand()); })
      .Case([&](math::Log1pOp op) { return math.log1p(op.getOperand()); })
      .Case([&](math::TanhOp op) { return math.tanh(op.getOperand()); })
      .Case([&](math::ErfOp op) { return math.erf(op.getOperand()); })
      .Case([&](math::SinOp op) { return math.sin(op.getOperand()); })
      .Case([&](math::CosOp op) { return math.cos(op.getOperand()); })
      .Case([&](math::TanOp op) { return math.tan(op.getOperand()); })
      .Case([&](math::AsinOp op) { return math.asin(op.getOperand()); })
      .Case([&](math::AcosOp op) { return math.acos(op.getOperand()); })
      .Case([&](math::AtanOp op) { return math.atan(op.getOperand()); })
      .Case([&](math::Atan2Op op) { return math.atan2(op.getLhs(), op.getRhs()); })
      .Case([&](math::SinhOp op) { return math.sinh(op.getOperand()); })
      .Case([&](math::CoshOp op) { return math.cosh(op.getOperand()); })
      .Case([&](math::AsinhOp op) { return math.asinh(op.getOperand()); })
      .Case([&](math::AcoshOp op) { return math.acosh(op.getOperand()); })
      .Case([&](math::AtanhOp op) { return math.atanh(op.getOperand()); })
      .Case([&](math::PowFOp op) { return math.pow(op.getLhs(), op.getRhs()); })
      .Case([&](math::RsqrtOp op) { return math.rsqrt(op.getOperand()); })
      .Case([&](arith::RemFOp op) { return math.remainder(op.getLhs(), op.getRhs()); })
      .Default([](Operation *) { return Value(); });
}

/// 1.0 in all lanes.
static bool isOne(Value value) {
  if (auto broadcast = value.getDefiningOp<vector::BroadcastOp>())
    value = broadcast.getSource();
  return matchPattern(value, m_OneFloat());
}

/// 1 / (1 + e^-x) of f32, and its products with x: SiLU needs no more than a division by the same sum.
static void expandLogistic(arith::DivFOp quotient) {
  if (!getElementTypeOrSelf(quotient.getType()).isF32() || !isOne(quotient.getLhs()))
    return;
  auto sum = quotient.getRhs().getDefiningOp<arith::AddFOp>();
  if (!sum)
    return;
  Value other = isOne(sum.getLhs()) ? sum.getRhs() : isOne(sum.getRhs()) ? sum.getLhs() : Value();
  auto exponential = other ? other.getDefiningOp<math::ExpOp>() : math::ExpOp();
  auto negated = exponential ? exponential.getOperand().getDefiningOp<arith::NegFOp>() : arith::NegFOp();
  if (!negated)
    return;
  Value x = negated.getOperand();
  ImplicitLocOpBuilder b(quotient.getLoc(), quotient);
  Value divisor = MathExpansion(b, x.getType()).onePlusExpNeg(x);
  for (Operation *user : llvm::to_vector(quotient->getUsers())) {
    auto product = dyn_cast<arith::MulFOp>(user);
    if (!product || (product.getLhs() != x && product.getRhs() != x))
      continue;
    b.setInsertionPoint(product);
    product.replaceAllUsesWith(arith::DivFOp::create(b, x, divisor).getResult());
    product.erase();
  }
  quotient.setOperand(1, divisor);
  for (Operation *op : {quotient.getOperation(), sum.getOperation(), exponential.getOperation(), negated.getOperation()})
    if (op->use_empty())
      op->erase();
}

namespace {

struct ExpandMathPass : impl::ExpandMathPassBase<ExpandMathPass> {
  using ExpandMathPassBase::ExpandMathPassBase;

  void runOnOperation() override {
    SmallVector<arith::DivFOp> quotients;
    getOperation().walk([&](arith::DivFOp op) { quotients.push_back(op); });
    for (arith::DivFOp op : quotients)
      expandLogistic(op);

    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<arith::RemFOp>(op) || (isa<math::MathDialect>(op->getDialect()) && isa<FloatType>(elementOf(op))))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      if (Value replacement = expand(op)) {
        op->replaceAllUsesWith(ValueRange(replacement));
        op->erase();
      }
    }
    // llvm.intr.fma would be a library call on processors without the instruction.
    getOperation().walk([](math::FmaOp op) {
      ImplicitLocOpBuilder b(op.getLoc(), op);
      Value fused = LLVM::FMulAddOp::create(b, op.getA(), op.getB(), op.getC());
      op.replaceAllUsesWith(fused);
      op.erase();
    });
  }

  static Type elementOf(Operation *op) { return getElementTypeOrSelf(op->getResult(0).getType()); }
};

} // namespace
} // namespace stator::kernel
