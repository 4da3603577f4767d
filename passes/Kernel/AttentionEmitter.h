//===- AttentionEmitter.h - the parts of an attention kernel ---------------===//
//
// Private to the attention kernel: AttentionKernel.cpp has the order of the
// work, AttentionTiles.cpp the packing and the two products of a block of
// rows, AttentionStream.cpp those of a single row, AttentionSoftmax.cpp what
// happens to a row of scores between them.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_PASSES_KERNEL_ATTENTIONEMITTER_H
#define STATOR_PASSES_KERNEL_ATTENTIONEMITTER_H

#include "passes/Kernel/AttentionKernel.h"
#include "passes/Kernel/ContractionTile.h"

namespace stator::kernel {

class AttentionEmitter {
public:
  using Value = mlir::Value;
  using Values = KernelBuilder::Values;

  AttentionEmitter(KernelBuilder &b, const AttentionProblem &problem);

  void run();

private:
  /// The head that code is emitted for: where its rows start.
  struct Head {
    Value query, result, mask;
    Values key, value; // one per part
  };
  /// A stretch of keys; everything about them is relative to `start`.
  struct KeyBlock {
    Value start, count;
  };

  // AttentionKernel.cpp
  Head headAt(Value number);
  Value rowsOf(const AttentionRows &rows, llvm::ArrayRef<Value> outer);
  void emitBlocks();
  void emitHead(const Head &head, Value firstBlock, Value lastBlock);
  void emitHeadInPieces(const Head &head, Value firstBlock, Value lastBlock);
  void overBlocks(Value first, Value last, llvm::function_ref<void(Value firstRow, Value rows, TileShape shape)> body);
  /// The keys of `keys` that some row of a block may see.
  Value visibleEnd(const KeyBlock &keys, Value firstRow, unsigned rows);

  // AttentionTiles.cpp
  /// Where row `index` of a tensor in parts starts.
  Value rowPointer(llvm::ArrayRef<AttentionRows> parts, const Values &bases, Value index);
  void packKeys(const Head &head, const KeyBlock &keys);
  void packValues(const Head &head, const KeyBlock &keys);
  void packQueries(const Head &head, Value firstRow, unsigned rows);
  void emitScores(TileShape shape, Value end);
  /// The weighted sums of the values for a tile, added to `initial`; `take` gets them, some columns at a time.
  void emitValues(TileShape shape, const Head &head, const KeyBlock &keys, Value end,
                  llvm::function_ref<Values(Value column, unsigned vectors)> initial,
                  llvm::function_ref<void(Value column, unsigned vectors, Values sums)> take);
  void storeResult(const Head &head, Value firstRow, Value rows, TileShape shape, Value column, unsigned vectors, Values sums);

  // AttentionSoftmax.cpp
  struct RowSums {
    Value largest, sum;
  };
  /// Turns the scores at `row` into weights that are not divided by their sum; the exponent is relative to the largest score, or to
  /// `before` if that is larger. Writes whole vectors that cover `end` keys.
  RowSums emitSoftmax(Value row, const Head &head, Value position, const KeyBlock &keys, Value end, Value before);
  /// The vector of scores that starts at key `key`; lanes that do not exist become minus infinity.
  Value masked(Value score, const Head &head, Value position, Value key, Value exists);
  Value power(Value exponent);
  /// What sums of weighted values are multiplied by; 0 for rows that are to be zero.
  Value factorOf(Value sum);
  Value scaleByFactor(Value sum, Value factor);

  // AttentionStream.cpp
  void emitStream();
  void emitRowScores(const Head &head, Value end);
  void emitRowValues(const Head &head, Value position, Value factor, Value end);
  void emitKeyDots(Value keys, Value first, Value last, Value stride, Value target);

  /// Vectors that hold `count` elements.
  int64_t vectorsOf(int64_t count) const { return (count + lanes - 1) / lanes; }
  /// Null where all lanes of the vector at constant `column` are below `size`.
  Value maskAt(int64_t column, int64_t size);
  bool readsValuesInPlace() const;

  KernelBuilder &b;
  const AttentionProblem &problem;
  const int64_t lanes;
  mlir::Type compute, vector;
  Value queries, keyCount;
  TileShape tile;
  /// Columns of a tile, which is also the width of a panel of keys.
  int64_t width;
  /// Keys of a block; all of them when they are few.
  int64_t blockKeys;
  bool isOneBlock;
  /// Scores are scaled by log2(e) too, so that a power of two is the exponential.
  bool usesPowersOfTwo;
  double queryScale;
  int64_t scoreStride, queryStride, valueStride;
  Value panels, values, queryTile, scores, factors;
  // Of rows whose keys come in pieces: largest score, sum of weights, weighted values.
  Value runningLargest, runningSum, runningValues;
};

} // namespace stator::kernel

#endif // STATOR_PASSES_KERNEL_ATTENTIONEMITTER_H
