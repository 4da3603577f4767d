//===- FoldConstants.cpp - evaluating what is known at compile time --------===//
//
// One walk in program order. The value of each folded op is remembered, so a
// chain of ops is evaluated link by link, and the work is linear in the graph.
//
//===----------------------------------------------------------------------===//

#include "dialects/Graph/DerivedParameters.h"
#include "dialects/Graph/Interpreter/Interpreter.h"
#include "dialects/Graph/ParameterRecipes.h"
#include "passes/Graph/Passes.h"

#include <cstring>

using namespace mlir;

namespace stator::graph {

#define GEN_PASS_DEF_FOLDCONSTANTSPASS
#include "passes/Graph/Passes.h.inc"

namespace {

/// What graph.constant may hold; see its description.
constexpr int64_t maxConstantElements = 1024;
/// Folding must not take longer than running: about a second of interpretation for one op.
constexpr int64_t maxWork = int64_t(1) << 27;

/// Ops that are cheaper to compute again than to read as data.
bool isLazy(Operation *op) { return isa<BroadcastOp, IotaOp>(op); }

class Folder {
public:
  Folder(ModuleOp module, int64_t maxElements) : module(module), parameters(module), maxElements(maxElements) {}

  uint64_t run() {
    SmallVector<Operation *> ops;
    module.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op->getNumRegions() && !isa<ModuleOp, func::FuncOp, IfOp, WhileOp>(op))
        return WalkResult::skip();
      if (!op->getNumRegions() && op->getNumResults() && isMemoryEffectFree(op))
        ops.push_back(op);
      return WalkResult::advance();
    });
    for (Operation *op : ops)
      if (isFoldable(op) && evaluate(op))
        replace(op);
    for (Operation *op : llvm::reverse(ops))
      if (op->use_empty())
        op->erase();
    return folded;
  }

private:
  bool isFoldable(Operation *op) {
    if (isLazy(op) || isa<ConstantOp, GetParameterOp, DimValuesOp>(op) || op->getNumOperands() == 0)
      return false;
    // A transform of a weight is a recipe; of a constant it is folded here.
    if (isa<TransposeOp, ReshapeOp, ConvertOp>(op) && parameters.frozen(op->getOperand(0)))
      return false;
    return true;
  }

  /// The value of an operand, if it is known.
  const TensorValue *valueOf(Value value) {
    auto found = values.find(value);
    if (found != values.end())
      return &found->second;
    Operation *producer = value.getDefiningOp();
    if (!producer || !isSmallEnough(value.getType()))
      return nullptr;
    if (auto constant = dyn_cast<ConstantOp>(producer)) {
      auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
      return elements ? &(values[value] = TensorValue::fromElements(elements)) : nullptr;
    }
    if (ParameterOp parameter = parameters.frozen(value))
      return readParameter(value, parameter);
    if (isLazy(producer) && evaluate(producer))
      return &values[value];
    return nullptr;
  }

  const TensorValue *readParameter(Value value, ParameterOp parameter) {
    RankedTensorType type = parameter.tensorType();
    TensorValue tensor(elementTypeOf(type.getElementType()), type.getShape());
    MutableArrayRef<char> bytes(reinterpret_cast<char *>(tensor.data.data()), tensor.data.size());
    if (failed(materialize(parameter, tables, bytes)))
      return nullptr;
    return &(values[value] = std::move(tensor));
  }

  bool isSmallEnough(Type type) {
    std::optional<int64_t> count = staticElementCount(cast<RankedTensorType>(type));
    return count && *count <= maxElements;
  }

  bool evaluate(Operation *op) {
    for (Type type : op->getResultTypes())
      if (!isSmallEnough(type))
        return false;
    SmallVector<TensorValue> operands;
    for (Value operand : op->getOperands()) {
      const TensorValue *value = valueOf(operand);
      if (!value)
        return false;
      operands.push_back(*value);
    }
    // What the interpreter refuses here (too much work, an index outside) is an error only if it is ever run.
    ScopedDiagnosticHandler quiet(op->getContext(), [](Diagnostic &) { return success(); });
    InterpretOptions options;
    options.maxWork = maxWork;
    SmallVector<TensorValue> results;
    if (failed(interpretOp(op, operands, results, options)))
      return false;
    for (auto [result, value] : llvm::zip_equal(op->getResults(), results))
      values[result] = std::move(value);
    return true;
  }

  void replace(Operation *op) {
    ++folded;
    for (Value result : op->getResults()) {
      if (result.use_empty())
        continue;
      // Taken out of the map: the next entry may move the others.
      TensorValue value = std::move(values[result]);
      Value constant = isSplat(value) || value.count() <= maxConstantElements ? makeConstant(op, value) : makeParameter(op, result, value);
      values[constant] = std::move(value);
      result.replaceAllUsesWith(constant);
    }
  }

  static bool isSplat(const TensorValue &value) {
    unsigned size = value.elementBytes();
    for (int64_t i = 1; i < value.count(); ++i)
      if (std::memcmp(value.element(0), value.element(i), size) != 0)
        return false;
    return value.count() > 0;
  }

  Value makeConstant(Operation *op, const TensorValue &value) {
    DenseElementsAttr elements = value.toElements(op->getContext());
    if (isSplat(value) && !elements.isSplat())
      elements = DenseElementsAttr::get(elements.getType(), *elements.value_begin<Attribute>());
    OpBuilder builder(op);
    return ConstantOp::create(builder, op->getLoc(), elements).getResult();
  }

  Value makeParameter(Operation *op, Value result, const TensorValue &value) {
    ParameterOp parameter = parameters.own("folded", cast<RankedTensorType>(result.getType()), value.data, op->getLoc());
    return DerivedParameters::read(parameter, op);
  }

  ModuleOp module;
  DerivedParameters parameters;
  SymbolTableCollection tables;
  int64_t maxElements;
  llvm::DenseMap<Value, TensorValue> values;
  uint64_t folded = 0;
};

struct FoldConstantsPass : impl::FoldConstantsPassBase<FoldConstantsPass> {
  using FoldConstantsPassBase::FoldConstantsPassBase;

  void runOnOperation() override { numFolded += Folder(getOperation(), maxElements).run(); }
};

} // namespace
} // namespace stator::graph
