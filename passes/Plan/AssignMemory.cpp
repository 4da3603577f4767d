//===- AssignMemory.cpp - one arena for a method ---------------------------===//
//
// Lives come from BufferLiveness, offsets from ArenaPacking; what is decided
// here is which buffers are one piece of memory because a kernel works in
// place, and the two figures that people ask for: the arena's size and the
// largest sum of live bytes, below which no packing can go.
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/ArenaPacking.h"
#include "passes/Plan/BufferLiveness.h"
#include "passes/Plan/InPlace.h"
#include "passes/Plan/Passes.h"

#include "mlir/IR/Builders.h"

namespace stator::plan {
#define GEN_PASS_DEF_PLANASSIGNMEMORYPASS
#include "passes/Plan/Passes.h.inc"
} // namespace stator::plan

using namespace mlir;
using namespace stator;
using namespace stator::plan;

namespace {

class AssignMemory : public plan::impl::PlanAssignMemoryPassBase<AssignMemory> {
  using PlanAssignMemoryPassBase::PlanAssignMemoryPassBase;

  void runOnOperation() override {
    MethodOp method = getOperation();
    BufferLiveness liveness(method);

    // Buffer number to piece. Buffers that take over another's bytes join its piece and prolong its life.
    std::vector<ArenaPiece> pieces;
    llvm::DenseMap<size_t, size_t> pieceOf;
    for (auto [i, buffer] : llvm::enumerate(liveness.buffers())) {
      if (buffer.declaration().getKind() != BufferKind::arena)
        continue;
      pieceOf[i] = pieces.size();
      // A buffer that nothing accesses still gets a place, of which it needs nothing.
      DimExpr size = buffer.isAccessed() ? sizeBytesOf(buffer.declaration().getTensorType()) : DimExpr(0);
      if (!size.isValid()) {
        buffer.declaration().emitOpError() << "has a size that cannot be expressed: " << size.status().message();
        return signalPassFailure();
      }
      pieces.push_back({buffer.first, buffer.last, size});
    }
    std::vector<bool> isMerged(pieces.size());
    method.walk([&](KernelOp kernel) {
      if (!inPlace)
        return;
      for (auto [operand, result] : inPlaceCandidates(kernel, liveness)) {
        size_t from = pieceOf.lookup(result), into = pieceOf.lookup(operand);
        // The operand's piece may live on through a buffer that joined it earlier.
        if (pieces[into].last != liveness.numberOf(kernel) || isMerged[from])
          continue;
        pieces[into].last = pieces[from].last;
        isMerged[from] = true;
        pieceOf[result] = into;
      }
    });

    // Merged pieces are out of the way: they want no bytes.
    for (size_t i = 0; i < pieces.size(); ++i)
      if (isMerged[i])
        pieces[i].sizeBytes = DimExpr(0);
    SymbolRanges ranges = symbolRangesOf(method);
    ArenaLayout layout = packArena(pieces, ranges, kArenaAlignment);
    if (!layout.sizeBytes.isValid()) {
      method.emitOpError() << "needs an arena that cannot be laid out: " << layout.sizeBytes.status().message();
      return signalPassFailure();
    }
    for (auto [i, buffer] : llvm::enumerate(liveness.buffers()))
      if (auto piece = pieceOf.find(i); piece != pieceOf.end())
        buffer.declaration().setOffsetAttr(exprAttr(&getContext(), layout.offsets[piece->second]));
    method.setArenaSizeAttr(exprAttr(&getContext(), layout.sizeBytes));
    method.setLivePeak(livePeak(pieces, nominalSymbols(ranges), liveness.numNumbers()));
    // From here on every buffer has an offset.
  }

  static int64_t livePeak(const std::vector<ArenaPiece> &pieces, const std::map<std::string, int64_t> &nominal, int64_t numNumbers) {
    std::vector<int64_t> change(numNumbers + 1);
    for (const ArenaPiece &piece : pieces) {
      Result<int64_t> bytes = piece.sizeBytes.evaluate(nominal);
      if (piece.first < 0 || !bytes.ok())
        continue;
      change[piece.first] += *bytes;
      change[piece.last + 1] -= *bytes;
    }
    int64_t live = 0, peak = 0;
    for (int64_t delta : change)
      peak = std::max(peak, live += delta);
    return peak;
  }
};

} // namespace
