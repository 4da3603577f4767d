//===- MergeMatmuls.cpp - products of one matrix become one product --------===//
//
// Queries, keys and values are three products of the same rows with three
// matrices. As one product with the matrices side by side, the rows are read
// once, there is one kernel to start, and its edge tiles are fewer. The three
// results are slices of its rows, which cost nothing if the attention reads
// them there; a kernel that took such a product's epilogue would lose it. So
// only products are merged that nothing but attention needs.
//
//===----------------------------------------------------------------------===//

#include "dialects/Graph/DerivedParameters.h"
#include "dialects/Graph/Shapes.h"
#include "passes/Optimise/Passes.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace stator::optimise {

#define GEN_PASS_DEF_MERGEMATMULSPASS
#include "passes/Optimise/Passes.h.inc"

namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// One product with its bias.
struct Product {
  graph::DotGeneralOp dot;
  /// The product, or its sum with the bias.
  Value result;
  /// A vector, or null.
  Value bias;
};

/// Whether attention alone needs `value`, perhaps in another shape.
bool isForAttention(Value value, unsigned depth = 8) {
  return !value.use_empty() && llvm::all_of(value.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<graph::AttentionOp>(user))
      return use.getOperandNumber() < 3;
    return depth > 0 && isa<graph::ReshapeOp, graph::TransposeOp, graph::ConcatOp>(user) && isForAttention(user->getResult(0), depth - 1);
  });
}

class MatmulMerger {
public:
  explicit MatmulMerger(ModuleOp module) : module(module), parameters(module) {}

  void run() {
    llvm::MapVector<std::pair<Value, std::pair<int64_t, int64_t>>, SmallVector<Product>> groups;
    module.walk([&](graph::DotGeneralOp dot) {
      if (std::optional<Product> product = describe(dot))
        groups[{dot.getLhs(), {dot.getLhsContract()[0], dot.getRhsContract()[0]}}].push_back(*product);
    });
    for (auto &[key, products] : groups) {
      Block *block = products.front().dot->getBlock();
      llvm::erase_if(products, [&](const Product &product) { return graph::DotGeneralOp(product.dot)->getBlock() != block; });
      if (products.size() > 1)
        merge(products);
    }
    parameters.removeUnused();
  }

private:
  std::optional<Product> describe(graph::DotGeneralOp dot) {
    if (!dot.getRhsBatch().empty() || dot.getRhsPacked() || dot.getLhsContract().size() != 1 || typeOf(dot.getRhs()).getRank() != 2 ||
        !isFrozen(dot.getRhs()))
      return std::nullopt;
    Product product{dot, dot.getResult(), Value()};
    if (auto sum = dot->hasOneUse() ? dyn_cast<graph::AddOp>(*dot->user_begin()) : graph::AddOp()) {
      auto broadcast = (sum.getLhs() == dot.getResult() ? sum.getRhs() : sum.getLhs()).getDefiningOp<graph::BroadcastOp>();
      int64_t rank = typeOf(dot.getResult()).getRank();
      if (!broadcast || broadcast.getDimensions() != ArrayRef<int64_t>{rank - 1} || !isFrozen(broadcast.getInput()) ||
          typeOf(broadcast.getInput()).getDimSize(0) != typeOf(dot.getResult()).getDimSize(rank - 1))
        return std::nullopt;
      product.result = sum.getResult();
      product.bias = broadcast.getInput();
    }
    return isForAttention(product.result) ? std::optional(product) : std::nullopt;
  }

  bool isFrozen(Value value) { return value.getDefiningOp<graph::ConstantOp>() || parameters.frozen(value); }

  /// The parameters side by side along `axis`.
  Value joined(ArrayRef<graph::ParameterOp> parts, int64_t axis, Operation *user) {
    Builder builder(module.getContext());
    graph::ParameterOp all = parts.front();
    for (graph::ParameterOp part : parts.drop_front()) {
      SmallVector<int64_t> shape(all.tensorType().getShape());
      shape[axis] += part.tensorType().getDimSize(axis);
      all = parameters.derive({all, part}, "concat", builder.getNamedAttr("axis", builder.getI64IntegerAttr(axis)),
                              RankedTensorType::get(shape, all.tensorType().getElementType()));
    }
    return graph::DerivedParameters::read(all, user);
  }

  void merge(ArrayRef<Product> products) {
    SmallVector<graph::ParameterOp> weights, biases;
    bool hasBias = llvm::any_of(products, [](const Product &product) { return product.bias != nullptr; });
    for (Product product : products) {
      weights.push_back(parameters.frozenOrConstant(product.dot.getRhs()));
      if (!weights.back())
        return;
      if (!hasBias)
        continue;
      RankedTensorType type = typeOf(product.dot.getResult());
      auto vector = RankedTensorType::get({type.getDimSize(type.getRank() - 1)}, type.getElementType());
      if (product.bias)
        biases.push_back(parameters.frozenOrConstant(product.bias));
      else
        biases.push_back(parameters.own("zeros", vector, std::vector<std::byte>(*graph::staticByteSize(vector)), product.dot.getLoc()));
      if (!biases.back())
        return;
    }
    graph::DotGeneralOp first = products.front().dot;
    SmallVector<Location> locations;
    for (Product product : products)
      locations.push_back(product.dot.getLoc());
    Location loc = FusedLoc::get(module.getContext(), locations);
    OpBuilder builder(first);
    Value weight = joined(weights, first.getRhsContract()[0] == 0 ? 1 : 0, first);
    Value all = graph::DotGeneralOp::create(builder, loc, first.getLhs(), weight, ArrayRef<int64_t>{}, ArrayRef<int64_t>{},
                                            first.getLhsContract(), first.getRhsContract(), IntegerAttr())
                    .getResult();
    int64_t rank = typeOf(all).getRank();
    if (hasBias) {
      Value spread =
          graph::BroadcastOp::create(builder, loc, all.getType(), joined(biases, 0, first), ArrayRef<int64_t>{rank - 1}).getResult();
      all = graph::AddOp::create(builder, loc, all, spread).getResult();
    }
    int64_t start = 0;
    for (Product product : products) {
      SmallVector<int64_t> starts(rank, 0), strides(rank, 1);
      starts.back() = start;
      start += typeOf(product.result).getDimSize(rank - 1);
      SmallVector<DimExpr> dims(starts.begin(), starts.end());
      Value part = graph::SliceOp::create(builder, product.dot.getLoc(), product.result.getType(), all,
                                          graph::DimsAttr::get(module.getContext(), ArrayRef<DimExpr>(dims)),
                                          builder.getDenseI64ArrayAttr(strides))
                       .getResult();
      product.result.replaceAllUsesWith(part);
    }
    for (Product product : products) {
      if (product.result != product.dot.getResult())
        product.result.getDefiningOp()->erase();
      product.dot->erase();
    }
  }

  ModuleOp module;
  graph::DerivedParameters parameters;
};

struct MergeMatmulsPass : impl::MergeMatmulsPassBase<MergeMatmulsPass> {
  using MergeMatmulsPassBase::MergeMatmulsPassBase;

  void runOnOperation() override { MatmulMerger(getOperation()).run(); }
};

} // namespace
} // namespace stator::optimise
