// The module under construction: tensors and their late values, the interface of the method, errors.
#include "compiler/Trace/BuilderImpl.h"

#include "compiler/Trace/Capture.h"
#include "dialects/Graph/GraphOps.h"
#include "dialects/Graph/Shapes.h"
#include "mlir/IR/Verifier.h"

namespace stator::trace {

namespace {

constexpr int64_t kMaxElements = int64_t(1) << 40;

/// The product of the constant sizes; some number above 2^40 when it is larger than that.
int64_t constantElements(llvm::ArrayRef<DimExpr> dims) {
  int64_t product = 1;
  bool isEmpty = false;
  for (const DimExpr &dim : dims) {
    std::optional<int64_t> size = dim.constant();
    if (!size || *size == 1)
      continue;
    // Even beside a 0 a size stays below the limit, so that arithmetic on two sizes does not overflow.
    if (*size > kMaxElements)
      return *size;
    isEmpty |= *size == 0;
    if (*size > 0 && product <= kMaxElements && __builtin_mul_overflow(product, *size, &product))
      product = kMaxElements + 1;
  }
  return isEmpty ? 0 : product;
}

} // namespace

BuilderImpl::BuilderImpl(llvm::StringRef methodName)
    : ownedContext_(std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED)), ops_(ownedContext_.get()),
      loc_(mlir::UnknownLoc::get(ownedContext_.get())) {
  ownedContext_->loadDialect<graph::GraphDialect, mlir::func::FuncDialect>();
  ownedModule_ = mlir::ModuleOp::create(loc_);
  module_ = *ownedModule_;
  start(methodName);
}

BuilderImpl::BuilderImpl(mlir::ModuleOp module, llvm::StringRef methodName)
    : module_(module), ops_(module->getContext()), loc_(mlir::UnknownLoc::get(module->getContext())) {
  module->getContext()->loadDialect<graph::GraphDialect, mlir::func::FuncDialect>();
  start(methodName);
}

BuilderImpl::~BuilderImpl() = default;

void BuilderImpl::start(llvm::StringRef methodName) {
  for (auto symbol : module_.getOps<mlir::SymbolOpInterface>())
    symbolNames_.insert(symbol.getName().str());
  bool isTaken = !symbolNames_.insert(methodName.str()).second;
  mlir::Operation *other = isTaken ? mlir::SymbolTable::lookupSymbolIn(module_, methodName) : nullptr;
  ops_.setInsertionPointToEnd(module_.getBody());
  method_ = mlir::func::FuncOp::create(ops_, loc_, methodName, ops_.getFunctionType({}, {}));
  ops_.setInsertionPointToEnd(method_.addEntryBlock());
  TensorNode node;
  node.owner = this;
  nodes_.push_back(node);
  if (other)
    invalid("the module already has a " + llvm::Twine(llvm::isa<graph::ParameterOp>(other) ? "parameter" : "method") + " named `" +
            methodName + "`");
}

Tensor BuilderImpl::poison() { return Tensor(&nodes_.front()); }

Tensor BuilderImpl::add(TensorNode node) {
  if (!ok())
    return poison();
  for (DimExpr &dim : node.dims) {
    if (!dim.isValid())
      return invalid("no valid shape: " + dim.status().message());
    if (std::optional<int64_t> size = dim.constant(); size && *size < 0)
      return invalid("negative size in the shape " + graph::str(node.dims));
    if (DimInterval range = bounds(dim); range.hi && *range.hi < 0)
      return invalid("negative size in the shape " + graph::str(node.dims));
  }
  if (constantElements(node.dims) > kMaxElements)
    return fail(StatusCode::ResourceExhausted, "a tensor of shape " + graph::str(node.dims) + " has more than 2^40 elements");
  for (const DimExpr &dim : node.dims)
    noteOperators(dim);
  if (node.contents)
    for (const Element &element : *node.contents)
      noteOperators(element.numerator());
  node.owner = this;
  nodes_.push_back(std::move(node));
  return Tensor(&nodes_.back());
}

void BuilderImpl::forgetValuesIn(mlir::Operation *op) {
  auto forget = [&](mlir::Value value) {
    auto known = nodeOf_.find(value);
    if (known == nodeOf_.end())
      return;
    known->second->value = nullptr;
    nodeOf_.erase(known);
  };
  op->walk([&](mlir::Operation *inner) {
    for (mlir::Value result : inner->getResults())
      forget(result);
    for (mlir::Region &region : inner->getRegions())
      for (mlir::Block &block : region)
        for (mlir::Value argument : block.getArguments())
          forget(argument);
  });
}

Tensor BuilderImpl::wrap(mlir::Value value) {
  if (!value)
    return ok() ? fail(StatusCode::Internal, "no value") : poison();
  auto known = nodeOf_.find(value);
  if (known != nodeOf_.end())
    return Tensor(known->second);
  auto type = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
  if (!type)
    return fail(StatusCode::Internal, "a value that is no ranked tensor");
  // What would have a negative size cannot be run; saying so by the ranges gives a better message than failing later.
  for (const DimExpr &dim : graph::dimsOf(type))
    if (!dim.isConstant() && bounds(dim).lo.value_or(-1) < 0)
      assumeNonNegative(dim);
  type = llvm::cast<mlir::RankedTensorType>(value.getType());
  TensorNode node;
  node.type = graph::elementTypeOf(type.getElementType());
  for (const DimExpr &dim : graph::dimsOf(type))
    node.dims.push_back(dim);
  node.value = value;
  Tensor tensor = add(std::move(node));
  if (ok())
    nodeOf_[value] = tensor.node_;
  return tensor;
}

Tensor BuilderImpl::known(ElementType type, llvm::ArrayRef<int64_t> dims, Contents contents) {
  TensorNode node;
  node.type = type;
  int64_t count = 1;
  for (int64_t dim : dims) {
    node.dims.emplace_back(dim);
    if (dim < 0)
      return invalid("negative size in the shape " + graph::str(node.dims));
    count *= dim;
  }
  if (static_cast<int64_t>(contents.size()) != count)
    return fail(StatusCode::Internal, "contents of " + llvm::Twine(contents.size()) + " elements for " + graph::str(node.dims));
  for (Element &element : contents)
    if (!element.isNumber() && !element.numerator().isConstant())
      element = Element(simplify(element.numerator()), element.divisor());
  for (const Element &element : contents)
    if (!element.isNumber() && !element.numerator().isValid())
      return invalid("no valid size: " + element.numerator().status().message());
  node.contents = std::move(contents);
  return add(std::move(node));
}

mlir::Value BuilderImpl::value(const Tensor &tensor) {
  if (!ok() || !tensor.node_)
    return {};
  TensorNode &node = *tensor.node_;
  if (node.owner != this) {
    fail(StatusCode::InvalidArgument, "a tensor of another builder");
    return {};
  }
  if (!node.value)
    node.value = materialise(node);
  if (!node.value && ok())
    fail(StatusCode::Internal, "a tensor without a value");
  return node.value;
}

Tensor BuilderImpl::input(llvm::StringRef name, ElementType type, llvm::ArrayRef<DimExpr> dims) {
  if (!ok())
    return poison();
  if (finished_)
    return invalid("input `" + name + "` after the end of the method");
  if (name.empty() || !inputNames_.insert(name.str()).second)
    return invalid(name.empty() ? llvm::Twine("an input without a name") : "two inputs are named `" + name + "`");
  llvm::SmallVector<DimExpr> simplified;
  for (const DimExpr &dim : dims) {
    simplified.push_back(simplify(dim));
    for (const std::string &symbol : simplified.back().symbols())
      if (!ranges_.count(symbol))
        declareSymbol(symbol, 0, 2147483647);
  }
  TensorNode node;
  node.type = type;
  node.dims.assign(simplified.begin(), simplified.end());
  Tensor tensor = add(std::move(node));
  if (!ok())
    return poison();
  unsigned index = method_.getNumArguments();
  mlir::NamedAttribute attr = ops_.getNamedAttr("graph.name", ops_.getStringAttr(name));
  mlir::Type mlirType = graph::tensorType(simplified, graph::toMlirType(type, context()));
  if (mlir::failed(method_.insertArgument(index, mlirType, ops_.getDictionaryAttr(attr), loc_)))
    return fail(StatusCode::Internal, "input `" + name + "` could not be added");
  tensor.node_->value = method_.getArgument(index);
  nodeOf_[tensor.node_->value] = tensor.node_;
  return tensor;
}

void BuilderImpl::output(llvm::StringRef name, const Tensor &value) {
  if (!ok())
    return;
  if (!value)
    invalid("output `" + name + "` has no value");
  else if (value.node_->owner != this)
    invalid("output `" + name + "` is a tensor of another builder");
  else if (name.empty() || !outputNames_.insert(name.str()).second)
    invalid(name.empty() ? llvm::Twine("an output without a name") : "two outputs are named `" + name + "`");
  else
    outputs_.emplace_back(name.str(), value);
}

Status BuilderImpl::finish() {
  if (!ok())
    return status_;
  setLocation("");
  if (finished_) {
    invalid("the method was finished before");
    return status_;
  }
  if (outputs_.empty() && sets_.empty()) {
    invalid("method `" + method_.getSymName() + "` has neither outputs nor state that it sets");
    return status_;
  }
  llvm::SmallVector<mlir::Value> results;
  llvm::SmallVector<mlir::Type> resultTypes;
  llvm::SmallVector<mlir::DictionaryAttr> resultAttrs;
  for (const auto &[name, tensor] : outputs_) {
    mlir::Value result = value(tensor);
    if (!result)
      return status_;
    results.push_back(result);
    resultTypes.push_back(result.getType());
    resultAttrs.push_back(ops_.getDictionaryAttr(ops_.getNamedAttr("graph.name", ops_.getStringAttr(name))));
  }
  if (!emitSets())
    return status_;
  mlir::func::ReturnOp::create(ops_, loc_, results);
  method_.setFunctionType(ops_.getFunctionType(method_.getArgumentTypes(), resultTypes));
  for (unsigned i = 0; i < resultAttrs.size(); ++i)
    method_.setResultAttrs(i, resultAttrs[i]);

  // A symbol's value is read from the input axis whose size it is.
  std::set<std::string> used, readable;
  auto use = [&used](const DimExpr &dim) {
    for (const std::string &symbol : dim.symbols())
      used.insert(symbol);
  };
  for (mlir::BlockArgument argument : method_.getArguments())
    for (const DimExpr &dim : graph::dimsOf(llvm::cast<mlir::RankedTensorType>(argument.getType()))) {
      use(dim);
      if (std::optional<std::string> symbol = dim.asSymbol())
        readable.insert(*symbol);
    }
  llvm::SmallVector<mlir::Attribute> guards;
  for (const auto &[a, b] : guards_) {
    use(a);
    use(b);
    guards.push_back(ops_.getArrayAttr({ops_.getStringAttr(a.str()), ops_.getStringAttr(b.str())}));
  }
  for (const TensorNode &node : nodes_)
    if (node.value)
      for (const DimExpr &dim : node.dims)
        use(dim);
  llvm::SmallVector<mlir::Attribute> symbols;
  for (const std::string &symbol : symbolOrder_) {
    if (!used.count(symbol))
      continue;
    if (!readable.count(symbol)) {
      invalid("symbol `" + symbol + "` is not the size of any axis of an input, so that its value would be unknown");
      return status_;
    }
    symbols.push_back(graph::SymbolAttr::get(context(), ops_.getStringAttr(symbol), *ranges_[symbol].lo, *ranges_[symbol].hi));
  }
  for (const std::string &symbol : used)
    if (!ranges_.count(symbol)) {
      invalid("symbol `" + symbol + "` is not the size of any axis of an input, so that its value would be unknown");
      return status_;
    }
  if (!symbols.empty())
    method_->setAttr("graph.symbols", ops_.getArrayAttr(symbols));
  if (!guards.empty())
    method_->setAttr("graph.guards", ops_.getArrayAttr(guards));
  finished_ = true;

  DiagnosticCapture capture(context(), /*withNames=*/true);
  if (mlir::failed(mlir::verify(module_))) {
    // Each operation was valid when it was made; a size learnt later may contradict it.
    if (replaced_.empty() && !narrowed_)
      fail(StatusCode::Internal, "the traced graph is not valid: " + capture.text());
    else
      invalid("sizes contradict each other: " + capture.text());
  }
  return status_;
}

mlir::OwningOpRef<mlir::ModuleOp> BuilderImpl::takeModule() { return std::move(ownedModule_); }

void BuilderImpl::setLocation(llvm::StringRef nodeName) {
  location_ = nodeName.str();
  loc_ = nodeName.empty() ? mlir::Location(mlir::UnknownLoc::get(context()))
                          : mlir::Location(mlir::NameLoc::get(mlir::StringAttr::get(context(), nodeName)));
}

Tensor BuilderImpl::fail(StatusCode code, const llvm::Twine &message) {
  if (ok())
    status_ = Status(code, location_.empty() ? message.str() : ("`" + location_ + "`: " + message).str());
  return poison();
}

} // namespace stator::trace
