// Control flow. A condition that tracing knows chooses at once, and the other branch is never traced; this is how models test their
// own shapes. What depends on data becomes graph.if and graph.while. Branches and bodies are traced where the operation stands, so
// that sizes learnt inside hold outside too; the operation is made anew once its result types are known.
#include "compiler/Trace/ControlFlow.h"
#include "compiler/Trace/FunctionSupport.h"

namespace stator::trace {

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

void abandon(BuilderImpl &b, mlir::Operation *&draft) {
  if (!draft)
    return;
  b.ops().setInsertionPointAfter(draft);
  b.forgetValuesIn(draft);
  draft->erase();
  draft = nullptr;
}

Tensors wrapAll(BuilderImpl &b, mlir::ValueRange values) {
  Tensors tensors;
  for (mlir::Value value : values)
    tensors.push_back(b.wrap(value));
  return tensors;
}

/// The value as a rank-0 boolean; nothing after an error.
std::optional<Tensor> asCondition(const Call &call, const Tensor &value) {
  Tensor test = fn::cast(value, ElementType::I1);
  if (!call)
    return std::nullopt;
  if (!(productOf(call->dims(test)) == DimExpr(1))) {
    call.invalid("the condition has the shape " + shapeText(call->dims(test)) + ", expected one element");
    return std::nullopt;
  }
  return reshapeTo(*call, test, {});
}

} // namespace

IfBuilder::IfBuilder(Builder &builder, const Tensor &condition) : b_(BuilderImpl::of(builder)) {
  Call call("if", {condition});
  if (!call)
    return;
  std::optional<Tensor> test = asCondition(call, condition);
  mlir::Value value = test ? b_.value(*test) : mlir::Value();
  if (!value)
    return;
  draft_ = makeDraft(b_, graph::IfOp::getOperationName(), {value});
  addBlock(b_, draft_->getRegion(0), {});
  addBlock(b_, draft_->getRegion(1), {});
  leave();
}

IfBuilder::~IfBuilder() { abandon(b_, draft_); }

void IfBuilder::enter(unsigned region) {
  if (draft_)
    b_.ops().setInsertionPointToEnd(&draft_->getRegion(region).front());
}

void IfBuilder::leave() {
  if (draft_)
    b_.ops().setInsertionPointAfter(draft_);
}

Tensors IfBuilder::finish(Tensors onTrue, Tensors onFalse) {
  if (!draft_ || !b_.ok())
    return {};
  Call call("if", b_);
  leave();
  if (!checkPresent(call, "the first branch", onTrue) || !checkPresent(call, "the second branch", onFalse))
    return {};
  if (onTrue.size() != onFalse.size()) {
    call.invalid("the branches give " + llvm::Twine(onTrue.size()) + " and " + llvm::Twine(onFalse.size()) + " results");
    return {};
  }
  std::vector<Sizes> shapes = unify(call, "result", onTrue, onFalse);
  if (!call)
    return {};
  endBlock(b_, &draft_->getRegion(0).front(), onTrue, shapes);
  endBlock(b_, &draft_->getRegion(1).front(), onFalse, shapes);
  if (!call)
    return {};
  mlir::Operation *op = replaceDraft(b_, draft_, typesOf(b_, onTrue));
  draft_ = nullptr;
  return wrapAll(b_, op->getResults());
}

WhileBuilder::WhileBuilder(Builder &builder, const Tensors &initial) : b_(BuilderImpl::of(builder)), initial_(initial) {
  Call call("while", initial);
  llvm::SmallVector<mlir::Value> values;
  for (const Tensor &tensor : initial)
    values.push_back(b_.value(tensor));
  if (!b_.ok())
    return;
  draft_ = makeDraft(b_, graph::WhileOp::getOperationName(), values);
  leave();
}

WhileBuilder::~WhileBuilder() { abandon(b_, draft_); }

Tensors WhileBuilder::enter(unsigned region) {
  if (!draft_)
    return initial_;
  return wrapAll(b_, addBlock(b_, draft_->getRegion(region), typesOf(b_, initial_))->getArguments());
}

Tensors WhileBuilder::enterCondition() { return enter(0); }
Tensors WhileBuilder::enterBody() { return enter(1); }

void WhileBuilder::leave() {
  if (draft_)
    b_.ops().setInsertionPointAfter(draft_);
}

void WhileBuilder::finishCondition(const Tensor &condition) {
  if (!draft_ || !b_.ok())
    return;
  Call call("while", b_);
  Tensors test{condition};
  if (!checkPresent(call, "the condition", test))
    return;
  if (std::optional<Tensor> boolean = asCondition(call, condition)) {
    test = {*boolean};
    endBlock(b_, &draft_->getRegion(0).front(), test, {Sizes{}});
  }
}

Tensors WhileBuilder::finish(Tensors next) {
  if (!draft_ || !b_.ok())
    return {};
  Call call("while", b_);
  leave();
  if (!checkPresent(call, "the body", next))
    return {};
  if (next.size() != initial_.size()) {
    call.invalid("the body gives " + llvm::Twine(next.size()) + " values for " + llvm::Twine(initial_.size()));
    return {};
  }
  std::vector<Sizes> shapes = unify(call, "value", initial_, next);
  if (!call)
    return {};
  // Were a size only equal under a guard, the carried value would have two types.
  for (size_t i = 0; i < shapes.size(); ++i)
    if (b_.dims(initial_[i]) != llvm::ArrayRef<DimExpr>(shapes[i])) {
      call.unsupported("value " + llvm::Twine(i) + " has the shape " + shapeText(b_.dims(initial_[i])) + " at first and " +
                       shapeText(b_.dims(next[i])) + " after a step");
      return {};
    }
  endBlock(b_, &draft_->getRegion(1).front(), next, shapes);
  if (!call)
    return {};
  mlir::Operation *op = replaceDraft(b_, draft_, typesOf(b_, initial_));
  draft_ = nullptr;
  return wrapAll(b_, op->getResults());
}

namespace fn {

Tensors ifThenElse(const Tensor &condition, const Branch &onTrue, const Branch &onFalse) {
  Call call("if", {condition});
  if (!call)
    return {};
  const Contents *contents = call->contents(condition);
  if (contents && contents->size() == 1)
    if (std::optional<double> value = contents->front().constant())
      return *value != 0 ? onTrue() : onFalse();
  std::string location = call->location();
  IfBuilder builder(*call->builder(), condition);
  if (!call)
    return {};
  builder.enterThen();
  Tensors left = onTrue();
  builder.enterElse();
  Tensors right = onFalse();
  call->setLocation(location);
  return builder.finish(std::move(left), std::move(right));
}

Tensors whileLoop(const Tensors &initial, const std::function<Tensor(const Tensors &)> &condition,
                  const std::function<Tensors(const Tensors &)> &body) {
  Call call("while", initial);
  if (!call)
    return {};
  std::string location = call->location();
  WhileBuilder builder(*call->builder(), initial);
  if (!call)
    return {};
  builder.finishCondition(condition(builder.enterCondition()));
  if (!call)
    return {};
  Tensors next = body(builder.enterBody());
  call->setLocation(location);
  return builder.finish(std::move(next));
}

} // namespace fn
} // namespace stator::trace
