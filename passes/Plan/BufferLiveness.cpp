//===- BufferLiveness.cpp - numbering instructions, extending over loops ---===//
//
// See the header for the rules.
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/BufferLiveness.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace stator;
using namespace stator::plan;

BufferLiveness::BufferLiveness(MethodOp method) {
  for (auto buffer : method.getOps<BufferOp>()) {
    index[buffer] = live.size();
    live.push_back({buffer});
  }
  accesses.resize(live.size());
  visit(method.getBody().front());
  // Inner loops come first, so that an extended life can make a buffer shared for the outer loop.
  for (auto [begin, end] : loops)
    for (auto [buffer, numbersOfBuffer] : llvm::zip(live, accesses)) {
      bool isInside = llvm::any_of(numbersOfBuffer, [&, begin = begin, end = end](int64_t n) { return begin <= n && n <= end; });
      if (isInside && (buffer.first < begin || buffer.last > end || !buffer.firstIsWrite)) {
        buffer.first = std::min(buffer.first, begin);
        buffer.last = std::max(buffer.last, end);
      }
    }
}

void BufferLiveness::touch(Value value, int64_t number, bool isWrite) {
  size_t i = indexOf(resolveBuffer(value).declaration);
  LiveBuffer &buffer = live[i];
  accesses[i].push_back(number);
  if (buffer.first < 0) {
    buffer.first = number;
    buffer.firstIsWrite = isWrite;
  }
  buffer.last = std::max(buffer.last, number);
}

void BufferLiveness::visit(Block &block) {
  for (Operation &op : block) {
    if (isa<BufferOp, ViewOp>(op))
      continue;
    int64_t number = next++;
    numbers[&op] = number;
    auto loop = dyn_cast<LoopOp>(op);
    BufferAccesses uses = accessesOf(&op);
    if (!loop)
      for (Value buffer : uses.reads)
        touch(buffer, number, /*isWrite=*/false);
    for (Value buffer : uses.writes)
      touch(buffer, number, /*isWrite=*/true);
    for (Region &region : op.getRegions())
      for (Block &nested : region)
        visit(nested);
    if (!loop)
      continue;
    // The condition is read after `before` in every iteration, so it must survive until the end of the loop's text.
    int64_t end = next++;
    touch(loop.getCondition(), end, /*isWrite=*/false);
    loops.push_back({number, end});
  }
}
