//===- InPlace.cpp - pairs of buffers that may share bytes at a kernel -----===//
//
// An operand qualifies only if every operand of the kernel that lies in the
// same buffer is one that the kernel reads in place: a second, shifted view
// would be overwritten too early.
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/InPlace.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace stator;
using namespace stator::plan;

/// The number of the arena buffer that `value` is the whole of, if it is one.
static std::optional<size_t> wholeArenaBuffer(Value value, const BufferLiveness &liveness) {
  BufferRef ref = resolveBuffer(value);
  if (ref.declaration.getKind() != BufferKind::arena || ref.offset != DimExpr(0) ||
      sizeBytesOf(ref.type) != sizeBytesOf(ref.declaration.getTensorType()))
    return std::nullopt;
  return liveness.indexOf(ref.declaration);
}

SmallVector<std::pair<size_t, size_t>> plan::inPlaceCandidates(KernelOp kernel, const BufferLiveness &liveness) {
  SmallVector<std::pair<size_t, size_t>> pairs;
  std::optional<ArrayRef<int64_t>> allowed = kernel.getInPlace();
  if (!allowed)
    return pairs;
  int64_t number = liveness.numberOf(kernel);
  OperandRange inputs = kernel.getInputs();
  SmallVector<size_t> taken;
  for (Value output : kernel.getOutputs()) {
    std::optional<size_t> result = wholeArenaBuffer(output, liveness);
    if (!result || liveness.buffers()[*result].first != number)
      continue;
    for (int64_t position : *allowed) {
      std::optional<size_t> operand = wholeArenaBuffer(inputs[position], liveness);
      if (!operand || *operand == *result || llvm::is_contained(taken, *operand))
        continue;
      bool dies = liveness.buffers()[*operand].last == number;
      bool sameSize = sizeBytesOf(tensorTypeOf(inputs[position])) == sizeBytesOf(tensorTypeOf(output));
      bool onlyInPlace = llvm::all_of(llvm::enumerate(inputs), [&](auto input) {
        return liveness.indexOf(resolveBuffer(input.value()).declaration) != *operand ||
               (wholeArenaBuffer(input.value(), liveness) && llvm::is_contained(*allowed, static_cast<int64_t>(input.index())));
      });
      if (!dies || !sameSize || !onlyInPlace)
        continue;
      pairs.push_back({*operand, *result});
      taken.push_back(*operand);
      break;
    }
  }
  return pairs;
}

SymbolRanges plan::symbolRangesOf(MethodOp method) {
  SymbolRanges ranges;
  if (auto symbols = method.getSymbols())
    for (auto symbol : symbols->getAsRange<graph::SymbolAttr>())
      ranges[symbol.getName().str()] = {symbol.getMin(), symbol.getMax()};
  auto add = [&](const DimExpr &expr) {
    for (const std::string &symbol : expr.symbols())
      ranges.try_emplace(symbol, DimInterval{graph::kDefaultSymbolMin, graph::kDefaultSymbolMax});
  };
  for (Operation &op : method.getBody().front()) {
    if (auto buffer = dyn_cast<BufferOp>(op))
      add(sizeBytesOf(buffer.getTensorType()));
    else if (auto view = dyn_cast<ViewOp>(op))
      add(exprOf(view.getOffset()));
  }
  return ranges;
}
