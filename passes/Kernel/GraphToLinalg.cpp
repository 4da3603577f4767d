//===- GraphToLinalg.cpp - kernel functions become linalg ------------------===//
//
// Walks each function once, in order, building the lowered function beside it.
// The families are in LowerX.cpp files.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/ContractionKernel.h"
#include "passes/Kernel/DataKernels.h"
#include "passes/Kernel/LinalgLowering.h"
#include "passes/Kernel/Passes.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;

namespace stator::kernel {

#define GEN_PASS_DEF_GRAPHTOLINALGPASS
#include "passes/Kernel/Passes.h.inc"

LogicalResult LinalgLowering::run() {
  SmallVector<mlir::Type> inputs, results;
  for (mlir::Type type : source.getArgumentTypes())
    inputs.push_back(convert(cast<Type>(type)));
  for (mlir::Type type : source.getResultTypes())
    results.push_back(convert(cast<Type>(type)));
  function = func::FuncOp::create(b, source.getName(), b.getFunctionType(inputs, results));
  function->setDiscardableAttrs(source->getDiscardableAttrDictionary());
  Block *entry = function.addEntryBlock();
  for (auto [original, argument] : llvm::zip_equal(source.getArguments(), entry->getArguments()))
    set(original, argument);
  b.setInsertionPointToStart(entry);
  for (Operation &op : source.getBody().front()) {
    b.setLoc(op.getLoc());
    if (failed(lower(&op))) {
      function.erase();
      return failure();
    }
  }
  source.erase();
  return success();
}

LogicalResult LinalgLowering::lower(Operation *op) {
  if (isa<func::ReturnOp>(op)) {
    SmallVector<Value> values;
    for (Value operand : op->getOperands())
      values.push_back(lookUp(operand));
    func::ReturnOp::create(b, values);
    return success();
  }
  if (auto constant = dyn_cast<graph::ConstantOp>(op)) {
    Type type = convert(cast<Type>(constant.getType()));
    auto elements = cast<DenseElementsAttr>(constant.getValue());
    // The same bytes in another shape.
    auto value = elements.isSplat() ? elements.resizeSplat(cast<ShapedType>(elements.getType().clone(type.getShape())))
                                    : elements.reshape(cast<ShapedType>(elements.getType().clone(type.getShape())));
    if (value.getElementType() != type.getElementType())
      value = value.bitcast(type.getElementType());
    set(constant.getResult(), arith::ConstantOp::create(b, type, value));
    return success();
  }
  if (isa<graph::DimValuesOp>(op)) {
    Operation *copy = b.clone(*op);
    copy->getResult(0).setType(convert(cast<Type>(op->getResult(0).getType())));
    set(op->getResult(0), copy->getResult(0));
    return success();
  }
  if (op->getNumResults() == 1) {
    Value value = lowerElementwise(*this, op);
    if (!value)
      value = lowerShape(*this, op);
    if (!value)
      value = lowerIndexing(*this, op);
    if (!value)
      value = lowerReduction(*this, op);
    if (auto convertOp = dyn_cast<graph::ConvertOp>(op))
      value = lowerConvert(*this, convertOp);
    if (auto gelu = dyn_cast<graph::GeluOp>(op))
      value = lowerGelu(*this, gelu);
    if (auto pool = dyn_cast<graph::PoolOp>(op); pool && pool != contractionOf(source))
      value = lowerPool(*this, pool);
    if (auto resize = dyn_cast<graph::ResizeOp>(op))
      value = lowerResize(*this, resize);
    if (value) {
      set(op->getResult(0), value);
      return success();
    }
  }
  // A fused block has several convolutions.
  if (op == contractionOf(source) || (isa<graph::ConvolutionOp>(op) && contractionOf(source))) {
    IRMapping mapping;
    for (Value operand : op->getOperands())
      mapping.map(operand, lookUp(operand));
    Operation *copy = b.clone(*op, mapping);
    for (auto [original, result] : llvm::zip_equal(op->getResults(), copy->getResults()))
      set(original, result);
    return success();
  }
  return op->emitOpError() << "has no kernel in combination with the other ops of `" << source.getName() << "`";
}

/// Replaces composites by simpler ops, which the families know.
static LogicalResult decomposeComposites(func::FuncOp function) {
  // A decomposition may hold composites again.
  for (bool changed = true; changed;) {
    changed = false;
    SmallVector<graph::GraphComposite> composites;
    function.walk([&](graph::GraphComposite op) {
      auto gelu = dyn_cast<graph::GeluOp>(op.getOperation());
      if (op.getOperation() != contractionOf(function) && !(gelu && isLoweredWhole(gelu)))
        composites.push_back(op);
    });
    for (graph::GraphComposite op : composites) {
      OpBuilder builder(op);
      FailureOr<SmallVector<Value>> values = op.decompose(builder);
      if (failed(values))
        return failure();
      op->replaceAllUsesWith(*values);
      op->erase();
      changed = true;
    }
  }
  return success();
}

namespace {

struct GraphToLinalgPass : impl::GraphToLinalgPassBase<GraphToLinalgPass> {
  using GraphToLinalgPassBase::GraphToLinalgPassBase;

  void runOnOperation() override {
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions) {
      if (function.isDeclaration() || isDataKernel(function))
        continue;
      // Its emitter reads what renames elements around it.
      if (isa_and_nonnull<graph::AttentionOp>(contractionOf(function)))
        continue;
      if (failed(decomposeComposites(function)))
        return signalPassFailure();
      // A contraction keeps its axes; the emitters read them.
      LinalgLowering lowering(function, /*dropsUnitAxes=*/!contractionOf(function));
      if (failed(lowering.run()))
        return signalPassFailure();
    }
  }
};

} // namespace
} // namespace stator::kernel
