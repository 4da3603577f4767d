// Control flow. A condition that tracing knows chooses at once, and the other branch is never traced; this is how models test their
// own shapes. What depends on data becomes graph.if and graph.while. Branches and bodies are traced where the operation stands, so
// that sizes learnt inside hold outside too; the operation is made anew once its result types are known.
#include "compiler/Trace/FunctionSupport.h"

namespace stator::trace::fn {

namespace {

bool checkPresent(const Call &call, llvm::StringRef what, const Tensors &values) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (!values[i])
      call.invalid("result " + llvm::Twine(i) + " of " + what + " is absent");
    else if (values[i].node()->owner != call.operator->())
      call.invalid("result " + llvm::Twine(i) + " of " + what + " is a tensor of another builder");
  }
  return bool(call);
}

/// The values, spelt with these sizes, and the yield that ends `block`.
void endBlock(BuilderImpl &b, mlir::Block *block, Tensors &values, llvm::ArrayRef<Sizes> shapes) {
  mlir::OpBuilder::InsertionGuard guard(b.ops());
  b.ops().setInsertionPointToEnd(block);
  llvm::SmallVector<mlir::Value> results;
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = reshapeTo(b, values[i], shapes[i]);
    results.push_back(b.value(values[i]));
  }
  if (b.ok())
    graph::YieldOp::create(b.ops(), b.loc(), results);
}

/// Makes types and shapes of two lists agree; the shapes that both are to have.
std::vector<Sizes> unify(const Call &call, llvm::StringRef what, const Tensors &a, const Tensors &b) {
  std::vector<Sizes> shapes;
  for (size_t i = 0; i < a.size() && call; ++i) {
    if (a[i].type() != b[i].type() || a[i].rank() != b[i].rank()) {
      std::string left = name(a[i].type()) + shapeText(call->dims(a[i])), right = name(b[i].type()) + shapeText(call->dims(b[i]));
      call.unsupported(what + " " + llvm::Twine(i) + " is " + left + " in one place and " + right + " in another");
      return {};
    }
    Sizes dims;
    for (int64_t axis = 0; axis < a[i].rank(); ++axis)
      dims.push_back(call->requireEqual(call->dims(a[i])[axis], call->dims(b[i])[axis], call.name()));
    shapes.push_back(dims);
  }
  for (Sizes &dims : shapes)
    for (DimExpr &dim : dims)
      dim = call->simplify(dim);
  return shapes;
}

mlir::Block *addBlock(BuilderImpl &b, mlir::Region &region, llvm::ArrayRef<mlir::Type> arguments) {
  llvm::SmallVector<mlir::Location> locations(arguments.size(), b.loc());
  return b.ops().createBlock(&region, region.end(), arguments, locations);
}

/// The operation with its final result types, in place of `draft`, whose regions it takes.
mlir::Operation *replaceDraft(BuilderImpl &b, mlir::Operation *draft, llvm::ArrayRef<mlir::Type> types) {
  b.ops().setInsertionPointAfter(draft);
  mlir::OperationState state(draft->getLoc(), draft->getName());
  state.addOperands(draft->getOperands());
  state.addTypes(types);
  for (unsigned i = 0; i < draft->getNumRegions(); ++i)
    state.addRegion()->takeBody(draft->getRegion(i));
  mlir::Operation *op = b.ops().create(state);
  draft->erase();
  return op;
}

mlir::Operation *makeDraft(BuilderImpl &b, llvm::StringRef opName, llvm::ArrayRef<mlir::Value> operands) {
  mlir::OperationState state(b.loc(), opName);
  state.addOperands(operands);
  state.addRegion();
  state.addRegion();
  return b.ops().create(state);
}

llvm::SmallVector<mlir::Type> typesOf(BuilderImpl &b, llvm::ArrayRef<Tensor> values) {
  llvm::SmallVector<mlir::Type> types;
  for (const Tensor &value : values)
    types.push_back(b.value(value).getType());
  return types;
}

} // namespace

Tensors ifThenElse(const Tensor &condition, const Branch &onTrue, const Branch &onFalse) {
  Call call("if", {condition});
  if (!call)
    return {};
  BuilderImpl &b = *call;
  const Contents *contents = b.contents(condition);
  if (contents && contents->size() == 1)
    if (std::optional<double> value = contents->front().constant())
      return *value != 0 ? onTrue() : onFalse();
  Tensor test = cast(condition, ElementType::I1);
  if (!(productOf(b.dims(test)) == DimExpr(1))) {
    call.invalid("the condition has the shape " + shapeText(b.dims(test)) + ", expected one element");
    return {};
  }
  mlir::Value testValue = b.value(reshapeTo(b, test, {}));
  if (!testValue)
    return {};

  std::string location = b.location();
  mlir::Operation *draft = makeDraft(b, graph::IfOp::getOperationName(), {testValue});
  mlir::Block *blocks[2] = {addBlock(b, draft->getRegion(0), {}), nullptr};
  Tensors left = onTrue();
  blocks[1] = addBlock(b, draft->getRegion(1), {});
  Tensors right = onFalse();
  b.setLocation(location);
  b.ops().setInsertionPointAfter(draft);
  if (!checkPresent(call, "the first branch", left) || !checkPresent(call, "the second branch", right))
    return {};
  if (left.size() != right.size()) {
    call.invalid("the branches give " + llvm::Twine(left.size()) + " and " + llvm::Twine(right.size()) + " results");
    return {};
  }
  std::vector<Sizes> shapes = unify(call, "result", left, right);
  if (!call)
    return {};
  endBlock(b, blocks[0], left, shapes);
  endBlock(b, blocks[1], right, shapes);
  if (!call)
    return {};
  mlir::Operation *op = replaceDraft(b, draft, typesOf(b, left));
  Tensors results;
  for (mlir::Value result : op->getResults())
    results.push_back(b.wrap(result));
  return results;
}

Tensors whileLoop(const Tensors &initial, const std::function<Tensor(const Tensors &)> &condition,
                  const std::function<Tensors(const Tensors &)> &body) {
  Call call("while", initial);
  if (!call)
    return {};
  BuilderImpl &b = *call;
  llvm::SmallVector<mlir::Value> values;
  for (const Tensor &tensor : initial)
    values.push_back(b.value(tensor));
  if (!b.ok())
    return {};
  std::string location = b.location();
  mlir::Operation *draft = makeDraft(b, graph::WhileOp::getOperationName(), values);
  auto arguments = [&](mlir::Block *block) {
    Tensors tensors;
    for (mlir::Value argument : block->getArguments())
      tensors.push_back(b.wrap(argument));
    return tensors;
  };

  mlir::Block *testBlock = addBlock(b, draft->getRegion(0), typesOf(b, initial));
  Tensors test{condition(arguments(testBlock))};
  if (!checkPresent(call, "the condition", test))
    return {};
  test[0] = cast(test[0], ElementType::I1);
  if (!call || !(productOf(b.dims(test[0])) == DimExpr(1))) {
    call.invalid("the condition has the shape " + shapeText(b.dims(test[0])) + ", expected one element");
    return {};
  }
  endBlock(b, testBlock, test, {Sizes{}});
  if (!call)
    return {};

  mlir::Block *bodyBlock = addBlock(b, draft->getRegion(1), typesOf(b, initial));
  Tensors next = body(arguments(bodyBlock));
  b.setLocation(location);
  b.ops().setInsertionPointAfter(draft);
  if (!checkPresent(call, "the body", next))
    return {};
  if (next.size() != initial.size()) {
    call.invalid("the body gives " + llvm::Twine(next.size()) + " values for " + llvm::Twine(initial.size()));
    return {};
  }
  std::vector<Sizes> shapes = unify(call, "value", initial, next);
  if (!call)
    return {};
  // Were a size only equal under a guard, the carried value would have two types.
  for (size_t i = 0; i < shapes.size(); ++i)
    if (b.dims(initial[i]) != llvm::ArrayRef<DimExpr>(shapes[i])) {
      call.unsupported("value " + llvm::Twine(i) + " has the shape " + shapeText(b.dims(initial[i])) + " at first and " +
                       shapeText(b.dims(next[i])) + " after a step");
      return {};
    }
  endBlock(b, bodyBlock, next, shapes);
  if (!call)
    return {};
  mlir::Operation *op = replaceDraft(b, draft, typesOf(b, initial));
  Tensors results;
  for (mlir::Value result : op->getResults())
    results.push_back(b.wrap(result));
  return results;
}

} // namespace stator::trace::fn
