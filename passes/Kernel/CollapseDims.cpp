//===- CollapseDims.cpp - fewer, longer loops ------------------------------===//
//
// Two neighbouring dims of a tensor can be one if every op that touches the
// tensor walks them together: as neighbouring loops of the same kind, present in
// both or neither of its other operands, where they can be one too. Starting from
// "all can", pairs that break the rule are struck out until nothing changes; what
// is left is merged everywhere at once.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/Passes.h"

#include "dialects/Graph/GraphOps.h"
#include "dialects/Graph/Pitch.h"
#include "dialects/Graph/Shapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace stator::kernel {

#define GEN_PASS_DEF_COLLAPSEDIMSPASS
#include "passes/Kernel/Passes.h.inc"

namespace {

/// A tensor and the loop that runs along each of its dims.
struct Access {
  Value tensor;
  AffineMap map;
};

class DimCollapser {
public:
  explicit DimCollapser(func::FuncOp source) : source(source), b(source) {}

  void run() {
    if (!isEligible())
      return;
    for (BlockArgument argument : source.getArguments())
      start(argument);
    source.walk([&](Operation *op) {
      if (op->getParentOp() == source)
        for (Value result : op->getResults())
          start(result);
    });
    separateRows();
    while (strikeOut()) {
    }
    bool anyLeft = llvm::any_of(joined, [](auto &entry) { return llvm::is_contained(entry.second, true); });
    if (anyLeft)
      rewrite();
  }

private:
  bool isEligible() {
    return llvm::all_of(source.getBody().front(), [](Operation &op) {
      return isa<linalg::GenericOp, linalg::FillOp, arith::ConstantOp, ub::PoisonOp, graph::DimValuesOp, func::ReturnOp>(op);
    });
  }

  void start(Value tensor) {
    auto type = dyn_cast<RankedTensorType>(tensor.getType());
    int64_t pairs = type ? std::max<int64_t>(type.getRank() - 1, 0) : 0;
    // A body that reads elements by position needs the dims as they are.
    bool isExtracted = llvm::any_of(tensor.getUsers(), [&](Operation *user) { return user->getParentOp() != source; });
    joined[tensor] = SmallVector<bool>(pairs, !isExtracted);
  }

  /// Where the rows of a buffer lie apart, the dim of rows is not one with those inside of them.
  void separateRows() {
    auto separate = [&](unsigned buffer, Value tensor) {
      std::optional<graph::Pitch> pitch = graph::pitchOfBuffer(source, buffer);
      if (!pitch)
        return;
      DimExpr size = 1;
      SmallVector<DimExpr> dims = graph::dimsOf(cast<RankedTensorType>(tensor.getType()));
      for (size_t i = dims.size(); i-- > 1;) {
        size = size * dims[i];
        if (size.isConstant(pitch->row))
          joined[tensor][i - 1] = false;
      }
    };
    for (BlockArgument argument : source.getArguments())
      separate(argument.getArgNumber(), argument);
    for (auto [i, result] : llvm::enumerate(source.getBody().front().getTerminator()->getOperands()))
      separate(source.getNumArguments() + i, result);
  }

  static SmallVector<Access> accessesOf(linalg::GenericOp op) {
    SmallVector<Access> accesses;
    for (OpOperand &operand : op->getOpOperands())
      accesses.push_back({operand.get(), op.getMatchingIndexingMap(&operand)});
    for (OpResult result : op->getResults())
      accesses.push_back({result, op.getIndexingMapMatchingResult(result)});
    return accesses;
  }

  static llvm::DenseSet<unsigned> indexedLoops(linalg::GenericOp op) {
    llvm::DenseSet<unsigned> loops;
    op.walk([&](linalg::IndexOp index) { loops.insert(index.getDim()); });
    return loops;
  }

  /// Whether `access` walks the loops together or not at all.
  bool agrees(const Access &access, unsigned first, unsigned second) {
    std::optional<unsigned> p = access.map.getResultPosition(getAffineDimExpr(first, source.getContext()));
    std::optional<unsigned> q = access.map.getResultPosition(getAffineDimExpr(second, source.getContext()));
    if (!p && !q)
      return true;
    return p && q && *q == *p + 1 && joined[access.tensor][*p];
  }

  bool strikeOut() {
    bool changed = false;
    auto strike = [&](Value tensor, size_t pair) {
      if (!joined[tensor][pair])
        return;
      joined[tensor][pair] = false;
      changed = true;
    };
    for (Operation &op : source.getBody().front()) {
      if (auto fill = dyn_cast<linalg::FillOp>(op)) {
        Value out = fill.getOutputs().front(), result = fill.getResult(0);
        for (size_t pair = 0; pair < joined[out].size(); ++pair)
          if (!joined[out][pair] || !joined[result][pair]) {
            strike(out, pair);
            strike(result, pair);
          }
      }
      auto generic = dyn_cast<linalg::GenericOp>(op);
      if (!generic)
        continue;
      SmallVector<Access> accesses = accessesOf(generic);
      llvm::DenseSet<unsigned> indexed = indexedLoops(generic);
      auto kinds = generic.getIteratorTypesArray();
      for (const Access &access : accesses) {
        for (size_t pair = 0, e = joined[access.tensor].size(); pair != e; ++pair) {
          if (!joined[access.tensor][pair])
            continue;
          auto first = dyn_cast<AffineDimExpr>(access.map.getResult(pair));
          auto second = dyn_cast<AffineDimExpr>(access.map.getResult(pair + 1));
          bool holds =
              first && second && kinds[first.getPosition()] == kinds[second.getPosition()] && !indexed.contains(first.getPosition()) &&
              !indexed.contains(second.getPosition()) &&
              llvm::all_of(accesses, [&](const Access &other) { return agrees(other, first.getPosition(), second.getPosition()); });
          if (!holds)
            strike(access.tensor, pair);
        }
      }
    }
    return changed;
  }

  //===--------------------------------------------------------------------===//
  // The function with merged dims
  //===--------------------------------------------------------------------===//

  Type typeOf(Value tensor) {
    auto type = dyn_cast<RankedTensorType>(tensor.getType());
    if (!type)
      return tensor.getType();
    SmallVector<DimExpr> dims = graph::dimsOf(type), merged;
    for (size_t i = 0; i < dims.size(); ++i) {
      if (i > 0 && joined[tensor][i - 1])
        merged.back() = merged.back() * dims[i];
      else
        merged.push_back(dims[i]);
    }
    return graph::tensorType(merged, type.getElementType());
  }

  void rewrite() {
    Operation *terminator = source.getBody().front().getTerminator();
    SmallVector<Type> inputs, results;
    for (Value argument : source.getArguments())
      inputs.push_back(typeOf(argument));
    for (Value operand : terminator->getOperands())
      results.push_back(typeOf(operand));
    auto function = func::FuncOp::create(b, source.getLoc(), source.getName(), b.getFunctionType(inputs, results));
    function->setDiscardableAttrs(source->getDiscardableAttrDictionary());
    Block *entry = function.addEntryBlock();
    mapping.map(source.getArguments(), entry->getArguments());
    b.setInsertionPointToStart(entry);
    for (Operation &op : source.getBody().front()) {
      if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
        rewriteGeneric(generic);
        continue;
      }
      Operation *copy = b.clone(op, mapping);
      for (auto [original, result] : llvm::zip_equal(op.getResults(), copy->getResults()))
        result.setType(typeOf(original));
      if (auto constant = dyn_cast<arith::ConstantOp>(copy))
        if (auto elements = dyn_cast<DenseElementsAttr>(constant.getValue())) {
          auto shape = cast<ShapedType>(elements.getType().clone(cast<RankedTensorType>(copy->getResult(0).getType()).getShape()));
          constant.setValueAttr(elements.isSplat() ? elements.resizeSplat(shape) : elements.reshape(shape));
        }
    }
    source.erase();
  }

  void rewriteGeneric(linalg::GenericOp op) {
    MLIRContext *context = op.getContext();
    SmallVector<Access> accesses = accessesOf(op);
    SmallVector<bool> isInner(op.getNumLoops(), false);
    for (const Access &access : accesses)
      for (auto [pair, isJoined] : llvm::enumerate(joined[access.tensor]))
        if (isJoined)
          isInner[cast<AffineDimExpr>(access.map.getResult(pair + 1)).getPosition()] = true;
    SmallVector<unsigned> newLoop(op.getNumLoops());
    SmallVector<utils::IteratorType> iterators;
    for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
      newLoop[loop] = iterators.size();
      if (!isInner[loop])
        iterators.push_back(kind);
    }
    SmallVector<AffineMap> maps;
    for (OpOperand &operand : op->getOpOperands()) {
      SmallVector<AffineExpr> exprs;
      for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults()) {
        auto dim = dyn_cast<AffineDimExpr>(expr);
        if (!dim)
          exprs.push_back(expr);
        else if (!isInner[dim.getPosition()])
          exprs.push_back(getAffineDimExpr(newLoop[dim.getPosition()], context));
      }
      maps.push_back(AffineMap::get(iterators.size(), 0, exprs, context));
    }
    auto mapped = [&](ValueRange values) { return llvm::map_to_vector(values, [&](Value value) { return mapping.lookup(value); }); };
    auto copy = linalg::GenericOp::create(b, op.getLoc(), typeOf(op.getResult(0)), mapped(op.getInputs()), mapped(op.getOutputs()), maps,
                                          iterators);
    op.getRegion().cloneInto(&copy.getRegion(), mapping);
    copy.walk([&](linalg::IndexOp index) { index.setDim(newLoop[index.getDim()]); });
    mapping.map(op.getResults(), copy.getResults());
  }

  func::FuncOp source;
  OpBuilder b;
  IRMapping mapping;
  /// For each tensor, whether dim i and dim i + 1 may become one.
  llvm::DenseMap<Value, SmallVector<bool>> joined;
};

struct CollapseDimsPass : impl::CollapseDimsPassBase<CollapseDimsPass> {
  using CollapseDimsPassBase::CollapseDimsPassBase;

  void runOnOperation() override {
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions)
      if (!function.isDeclaration())
        DimCollapser(function).run();
  }
};

} // namespace
} // namespace stator::kernel
