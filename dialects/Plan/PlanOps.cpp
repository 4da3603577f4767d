//===- PlanOps.cpp - verifiers and queries of the plan dialect -------------===//
//
// Structural rules of single operations. What only holds for a whole method
// (lives, overlaps, types of kernels) is checked by the pass plan-verify.
//
//===----------------------------------------------------------------------===//

#include "dialects/Plan/PlanOps.h"
#include "dialects/Graph/Shapes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace stator;
using namespace stator::plan;

#include "dialects/Plan/PlanDialect.cpp.inc"
#include "dialects/Plan/PlanOpsEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/Plan/PlanOpsTypes.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/Plan/PlanOps.cpp.inc"

void PlanDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/Plan/PlanOpsTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Plan/PlanOps.cpp.inc"
      >();
}

//===-- Queries ----------------------------------------------------------===//

DimExpr plan::sizeBytesOf(RankedTensorType type) {
  DimExpr bytes(static_cast<int64_t>(byteSize(graph::elementTypeOf(type.getElementType()))));
  for (const DimExpr &dim : graph::dimsOf(type))
    bytes *= dim;
  return bytes;
}

DimExpr plan::exprOf(StringRef text) {
  Result<DimExpr> expr = DimExpr::parse(std::string_view(text.data(), text.size()));
  return expr.ok() ? *expr : DimExpr::invalid(expr.status().message());
}

StringAttr plan::exprAttr(MLIRContext *context, const DimExpr &expr) { return StringAttr::get(context, expr.str()); }

BufferRef plan::resolveBuffer(Value buffer) {
  if (auto view = buffer.getDefiningOp<ViewOp>())
    return {view.getBase().getDefiningOp<BufferOp>(), exprOf(view.getOffset()), view.getTensorType()};
  auto declaration = buffer.getDefiningOp<BufferOp>();
  return {declaration, DimExpr(0), declaration.getTensorType()};
}

RankedTensorType plan::tensorTypeOf(Value buffer) {
  if (auto view = buffer.getDefiningOp<ViewOp>())
    return view.getTensorType();
  return buffer.getDefiningOp<BufferOp>().getTensorType();
}

std::optional<graph::Pitch> plan::pitchOf(Value buffer) {
  auto view = buffer.getDefiningOp<ViewOp>();
  if (!view || !view.getPitch())
    return std::nullopt;
  return graph::Pitch{(*view.getPitch())[0], (*view.getPitch())[1]};
}

BufferAccesses plan::accessesOf(Operation *instruction) {
  BufferAccesses accesses;
  llvm::TypeSwitch<Operation *>(instruction)
      .Case<KernelOp, LibraryOp>([&](auto op) {
        llvm::append_range(accesses.reads, op.getInputs());
        llvm::append_range(accesses.writes, op.getOutputs());
      })
      .Case<CopyOp>([&](CopyOp op) {
        accesses.reads.push_back(op.getSource());
        accesses.writes.push_back(op.getDestination());
      })
      .Case<ShapeOp>([&](ShapeOp op) { accesses.writes.push_back(op.getDestination()); })
      .Case<IfOp, LoopOp>([&](auto op) { accesses.reads.push_back(op.getCondition()); });
  return accesses;
}

//===-- Declarations -----------------------------------------------------===//

void MethodOp::build(OpBuilder &builder, OperationState &state, StringRef name) {
  state.addAttribute(getSymNameAttrName(state.name), builder.getStringAttr(name));
  state.addRegion()->emplaceBlock();
}

static LogicalResult verifyExpr(Operation *op, StringRef what, StringRef text) {
  Result<DimExpr> expr = DimExpr::parse(std::string_view(text.data(), text.size()));
  if (!expr.ok())
    return op->emitOpError() << what << " `" << text << "` is not a size expression: " << expr.status().message();
  if (expr->str() != text)
    return op->emitOpError() << what << " `" << text << "` is not in canonical form, which is `" << expr->str() << "`";
  return success();
}

LogicalResult BufferOp::verify() {
  bool isParameter = getKind() == BufferKind::parameter || getKind() == BufferKind::state;
  bool isArgument = getKind() == BufferKind::input || getKind() == BufferKind::output;
  if (isParameter != static_cast<bool>(getParameterAttr()))
    return emitOpError() << "of kind `" << stringifyBufferKind(getKind()) << "` "
                         << (isParameter ? "needs the name of a parameter" : "must not name a parameter");
  if (isArgument != static_cast<bool>(getIndexAttr()))
    return emitOpError() << "of kind `" << stringifyBufferKind(getKind()) << "` "
                         << (isArgument ? "needs an index" : "must not have an index");
  if (getIndexAttr() && static_cast<int64_t>(*getIndex()) < 0)
    return emitOpError("index must not be negative");
  if (auto offset = getOffset()) {
    if (getKind() != BufferKind::arena)
      return emitOpError("only arena buffers have an offset");
    return verifyExpr(*this, "offset", *offset);
  }
  return success();
}

LogicalResult ViewOp::verify() {
  auto base = getBase().getDefiningOp<BufferOp>();
  if (!base)
    return emitOpError("the base of a view must be declared by `plan.buffer`");
  if (failed(verifyExpr(*this, "offset", getOffset())))
    return failure();
  if (auto pitch = getPitch()) {
    if (pitch->size() != 2 || (*pitch)[0] < 1 || (*pitch)[1] <= (*pitch)[0] ||
        !graph::hasRowsOf(graph::dimsOf(getTensorType()), {(*pitch)[0], (*pitch)[1]}))
      return emitOpError() << "of type " << getTensorType() << " has a pitch that is not [elements of its last axes, a larger distance]";
  }
  // Only what is certain is refused: with symbols, the runtime checks the bounds of each shape.
  DimExpr slack = sizeBytesOf(base.getTensorType()) - exprOf(getOffset()) - sizeBytesOf(getTensorType());
  if (auto constant = slack.constant(); constant && *constant < 0)
    return emitOpError() << "ends " << -*constant << " bytes after its base of type " << base.getTensorType();
  return success();
}

//===-- Instructions -----------------------------------------------------===//

/// Finds the kernel function that `user` names and compares the number of operands, results and sizes.
static LogicalResult verifyKernelUse(Operation *user, SymbolRefAttr kernel, size_t numInputs, size_t numResults, size_t numSizes,
                                     SymbolTableCollection &symbols) {
  Operation *found = symbols.lookupNearestSymbolFrom(user, kernel);
  auto function = dyn_cast_or_null<FunctionOpInterface>(found);
  if (!function)
    return user->emitOpError() << "names `" << kernel << "`, which is not a function";
  auto functionOp = dyn_cast<func::FuncOp>(found);
  if (!functionOp) // Lowered: its signature is two pointers.
    return success();
  auto complain = [&](StringRef what, size_t seen, size_t expected) {
    auto diagnostic = user->emitOpError() << "has " << seen << " " << what << ", the kernel " << expected;
    diagnostic.attachNote(found->getLoc()) << "kernel defined here";
    return failure();
  };
  if (functionOp.getNumArguments() != numInputs)
    return complain("inputs", numInputs, functionOp.getNumArguments());
  if (functionOp.getNumResults() != numResults)
    return complain("results", numResults, functionOp.getNumResults());
  auto locals = functionOp->getAttrOfType<ArrayAttr>(graph::kSymbolsAttr);
  size_t numLocals = locals ? locals.size() : 0;
  if (numLocals != numSizes)
    return complain("sizes", numSizes, numLocals);
  return success();
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyKernelUse(*this, getKernel(), getInputs().size(), getNumResults(), getSizes().size(), symbols);
}

LogicalResult KernelOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyKernelUse(*this, getKernel(), getInputs().size(), getOutputs().size(), getSizes().size(), symbols);
}

LogicalResult CopyOp::verify() {
  DimExpr source = sizeBytesOf(tensorTypeOf(getSource())), destination = sizeBytesOf(tensorTypeOf(getDestination()));
  if (source == destination)
    return success();
  return emitOpError() << "copies " << source.str() << " bytes to a buffer of " << destination.str();
}

LogicalResult ShapeOp::verify() {
  RankedTensorType type = tensorTypeOf(getDestination());
  if (!type.getElementType().isSignlessInteger(64) && !type.getElementType().isSignlessInteger(32))
    return emitOpError() << "writes to elements of type " << type.getElementType() << ", expected i64 or i32";
  size_t numValues = getValues().size();
  if (!type.hasStaticShape() || type.getNumElements() != static_cast<int64_t>(numValues))
    return emitOpError() << "writes " << numValues << " values to a buffer of type " << type;
  return success();
}

static LogicalResult verifyCondition(Operation *op, Value condition) {
  RankedTensorType type = tensorTypeOf(condition);
  if (!type.hasStaticShape() || type.getNumElements() != 1 || !type.getElementType().isSignlessInteger(1))
    return op->emitOpError() << "condition has type " << type << ", expected one i1";
  return success();
}

LogicalResult IfOp::verify() { return verifyCondition(*this, getCondition()); }
LogicalResult LoopOp::verify() { return verifyCondition(*this, getCondition()); }
