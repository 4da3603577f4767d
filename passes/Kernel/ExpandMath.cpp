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

namespace {

struct ExpandMathPass : impl::ExpandMathPassBase<ExpandMathPass> {
  using ExpandMathPassBase::ExpandMathPassBase;

  void runOnOperation() override {
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
