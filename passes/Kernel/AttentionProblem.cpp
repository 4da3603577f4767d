//===- AttentionProblem.cpp - what an attention kernel is asked for --------===//
//
// The ops around the attention in its kernel function only rename elements.
// Here they become strides; everything that can be wrong with that is found
// before anything is emitted.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/AttentionKernel.h"

#include "dialects/Graph/Shapes.h"
#include "dialects/Graph/StridedViews.h"

using namespace mlir;

namespace stator::kernel {

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

static AttentionRows rowsOf(const graph::StridedView &view, Value buffer) {
  size_t rank = view.sizes.size();
  AttentionRows rows;
  rows.buffer = buffer;
  rows.offset = view.offset;
  rows.rows = view.sizes[rank - 2];
  rows.rowStride = view.strides[rank - 2];
  rows.outerStrides.assign(view.strides.begin(), view.strides.end() - 2);
  return rows;
}

/// Whether the elements of a row follow each other.
static bool hasDenseRows(const graph::StridedView &view) { return view.strides.back().isConstant(1) || view.sizes.back().isConstant(1); }

FailureOr<func::FuncOp> emitAttentionKernel(func::FuncOp source, graph::AttentionOp op, const KernelOptions &options) {
  SmallVector<DimExpr> query = graph::dimsOf(typeOf(op.getQuery())), key = graph::dimsOf(typeOf(op.getKey())),
                       value = graph::dimsOf(typeOf(op.getValue()));
  size_t rank = query.size();
  if (!query[rank - 1].isConstant() || !value[rank - 1].isConstant())
    return op->emitOpError() << "has heads of size " << query[rank - 1].str() << " and " << value[rank - 1].str()
                             << ", but an attention kernel takes constants";
  auto returned = source.getBody().front().getTerminator()->getOperands();
  std::optional<graph::StridedView> result = returned.size() == 1 ? graph::viewInto(op.getResult(), returned[0]) : std::nullopt;
  if (!result || !hasDenseRows(*result))
    return op->emitOpError() << "has a result that the kernel cannot write where `" << source.getName() << "` wants it";

  constexpr unsigned all = 64;
  SmallVector<graph::StridedParts> views;
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    // The mask is read as it is.
    views.push_back(graph::viewOf(operand, index < 3 ? all : 0, all, [](Operation *) { return true; }));
    for (const graph::StridedView &view : views.back().parts)
      if (!isa<BlockArgument>(view.base) || !hasDenseRows(view) || (index == 0 && views.back().parts.size() > 1) ||
          views.back().axis != (views.back().parts.size() > 1 ? int64_t(rank) - 2 : views.back().axis))
        return op->emitOpError() << "operand #" << index << " is not rows of an argument of the kernel function";
  }

  AttentionProblem problem;
  problem.outer.assign(query.begin(), query.end() - 2);
  problem.queries = query[rank - 2];
  problem.keys = key[rank - 2];
  problem.depth = *query[rank - 1].constant();
  problem.columns = *value[rank - 1].constant();
  problem.scale = op.getScale().convertToDouble();
  problem.isCausal = op.getCausal();
  problem.causalOffset = op.causalOffset();
  problem.emptyRowsZero = op.getEmptyRowsZero();
  problem.type = typeOf(op.getQuery()).getElementType();

  // From here on nothing fails.
  KernelBuilder b(source, options);
  auto bufferOf = [&](const graph::StridedView &view) { return b.operand(cast<BlockArgument>(view.base).getArgNumber()); };
  problem.query = rowsOf(views[0].parts[0], bufferOf(views[0].parts[0]));
  for (const graph::StridedView &view : views[1].parts)
    problem.key.push_back(rowsOf(view, bufferOf(view)));
  for (const graph::StridedView &view : views[2].parts)
    problem.value.push_back(rowsOf(view, bufferOf(view)));
  problem.result = rowsOf(*result, b.result(0));
  if (op.getMask()) {
    const graph::StridedView &view = views[3].parts[0];
    problem.mask = bufferOf(view);
    problem.maskType = typeOf(op.getMask()).getElementType();
    problem.maskStrides = view.strides;
    for (auto [size, stride] : llvm::zip_equal(view.sizes, problem.maskStrides))
      if (size.isConstant(1))
        stride = 0;
  }
  emitAttention(b, problem);
  return b.finish();
}

} // namespace stator::kernel
