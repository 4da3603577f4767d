//===- BufferLiveness.h - from which to which instruction a buffer lives ---===//
//
// An analysis of a finished list of instructions; plan-assign-memory and
// plan-verify both ask it. Instructions are numbered in the order of the text,
// a loop also has a number after its last instruction; a buffer lives from its
// first to its last access, and through the whole of every loop that it shares
// with instructions outside, because the next iteration reads it again.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_PASSES_PLAN_BUFFERLIVENESS_H
#define STATOR_PASSES_PLAN_BUFFERLIVENESS_H

#include "dialects/Plan/PlanOps.h"

#include "llvm/ADT/DenseMap.h"

namespace stator::plan {

struct LiveBuffer {
  BufferOp op;
  /// Both included; -1 when nothing accesses the buffer.
  int64_t first = -1, last = -1;
  bool firstIsWrite = false;

  /// A handle, which MLIR's accessors want not to be const.
  BufferOp declaration() const { return op; }
  bool isAccessed() const { return first >= 0; }
  bool overlaps(const LiveBuffer &other) const { return isAccessed() && other.isAccessed() && first <= other.last && other.first <= last; }
};

class BufferLiveness {
public:
  explicit BufferLiveness(MethodOp method);

  /// All buffers, in order of declaration.
  llvm::ArrayRef<LiveBuffer> buffers() const { return live; }
  size_t indexOf(BufferOp declaration) const { return index.lookup(declaration); }
  const LiveBuffer &of(BufferOp declaration) const { return live[indexOf(declaration)]; }
  int64_t numberOf(mlir::Operation *instruction) const { return numbers.lookup(instruction); }
  /// One more than the largest number.
  int64_t numNumbers() const { return next; }

private:
  void visit(mlir::Block &block);
  void touch(mlir::Value buffer, int64_t number, bool isWrite);

  llvm::SmallVector<LiveBuffer> live;
  llvm::SmallVector<llvm::SmallVector<int64_t>> accesses;
  llvm::DenseMap<mlir::Operation *, size_t> index;
  llvm::DenseMap<mlir::Operation *, int64_t> numbers;
  /// First and last number of each loop, inner loops before outer ones.
  llvm::SmallVector<std::pair<int64_t, int64_t>> loops;
  int64_t next = 0;
};

} // namespace stator::plan

#endif // STATOR_PASSES_PLAN_BUFFERLIVENESS_H
