//===- RecurrentEmitter.h - state of the recurrent emitter -----------------===//
//
// Shared by RecurrentKernel.cpp (the sequence: split, state, steps),
// RecurrentProjection.cpp (weights and the product with the inputs) and
// RecurrentCells.cpp (the arithmetic of one step).
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_PASSES_KERNEL_RECURRENTEMITTER_H
#define STATOR_PASSES_KERNEL_RECURRENTEMITTER_H

#include "passes/Kernel/RecurrentKernel.h"

namespace stator::kernel {

class RecurrentEmitter {
public:
  RecurrentEmitter(KernelBuilder &b, const RecurrentProblem &problem);
  void run();

private:
  using Value = mlir::Value;
  using Values = KernelBuilder::Values;
  using Gates = llvm::SmallVector<unsigned, 4>;

  /// What this worker computes of one direction: units (vectors of hidden units) times rows of the batch. Rows are counted from
  /// `rowBegin` on in everything that is local to the worker.
  struct Share {
    Value unitBegin, unitEnd, rowBegin, rows;
  };
  /// A register tile: `rows` rows, `units` vectors of hidden units, and their gates in one or more passes over k.
  struct Tile {
    unsigned rows = 1, units = 1;
    llvm::SmallVector<Gates, 2> passes;
  };
  /// One tile of one step, from local row `row` on. Rows behind the last repeat it, as do units: they compute the same numbers.
  struct Place {
    unsigned direction;
    Value step, time;
    llvm::SmallVector<Value, 4> units;
    Value row;
    unsigned rows;
    llvm::SmallVector<Gates, 2> passes;

    unsigned cells() const { return rows * units.size(); }
  };

  // RecurrentKernel.cpp
  void allocate();
  void splitWork();
  void initialiseState();
  void copyState(unsigned direction, Value step);
  void copyProducts(unsigned direction);
  void step(Value current);
  void writeLastState();
  /// All workers meet if they share units.
  void barrier();
  /// Runs `body` for all tiles of this worker in `step`, of which `used` gates take part.
  void forTiles(Value step, llvm::ArrayRef<unsigned> used, llvm::function_ref<void(const Place &)> body);
  void forUnits(const Share &share, unsigned perTile, Value isBackward, llvm::function_ref<void(llvm::ArrayRef<Value>)> body);
  Value timeOf(unsigned direction, Value step);
  /// Where the previous h of a row is: in y, or the initial h, or in h.
  Value previousRow(unsigned direction, Value step, Value row);
  unsigned mostRows(unsigned usedGates) const { return budget / (usedGates == 3 ? 3 : 2); }
  Tile tileFor(unsigned rows, llvm::ArrayRef<unsigned> used) const;
  /// Local rows including those that fill up the last tile.
  Value paddedRows(const Share &share);

  // RecurrentProjection.cpp
  void packWeights(Value source, Value target, Value depth);
  void chooseChunk();
  void project(unsigned direction, Value firstStep, Value endStep);
  void packInputs(unsigned direction, Value firstStep, Value count, Value padded);
  void multiplyInputs(unsigned direction, Value count, const Tile &tile);
  /// Gate `gate` of the projected input, bias included.
  Value projected(const Place &place, unsigned row, unsigned unit, unsigned gate);
  Value inputBias(unsigned direction, Value unit, unsigned gate);

  // RecurrentCells.cpp
  void emitLstm(const Place &place);
  void emitGru(const Place &place);
  void emitGruGates(const Place &place);
  void emitGruCandidate(const Place &place);
  void emitRnn(const Place &place);
  /// The products of `source`'s rows (scratch, like `previous`) with the gates of one pass, added to what `initial` gives for a row, unit
  /// and gate. Ordered by gate of the pass, then by cell.
  llvm::SmallVector<Values> multiplyState(const Place &place, Value source, llvm::ArrayRef<unsigned> pass,
                                          llvm::function_ref<Value(unsigned row, unsigned unit, unsigned gate)> initial);
  Value loadUnit(Value base, Value rowOffset, Value unit);
  void storeOutput(const Place &place, unsigned row, unsigned unit, Value output);
  /// Null if there are no lengths, else whether the row still runs at this step.
  Value isRunning(const Place &place, unsigned row);
  Value sigmoid(Value value);

  // Addresses, in elements.
  Value weightOffset(unsigned direction, Value unit, Value depth);
  Value localRow(unsigned direction, Value row) {
    return b.mul(b.add(b.mul(b.i64(direction), localRows), row), b.i64(rowStride));
  }
  Value localCell(const Place &place, unsigned row, unsigned unit) {
    return b.add(localRow(place.direction, b.add(place.row, b.i64(row))), firstOf(place.units[unit]));
  }
  /// The row of the batch; local rows behind the last are the last.
  Value batchRow(unsigned direction, Value row) {
    const Share &share = shares[direction];
    return b.add(share.rowBegin, b.min(row, b.sub(share.rows, b.i64(1))));
  }
  Value batchRow(const Place &place, unsigned row) { return batchRow(place.direction, b.add(place.row, b.i64(row))); }
  /// Of a tensor [directions, batch, hidden].
  Value stateRow(unsigned direction, Value batchRow) { return b.mul(b.add(b.mul(b.i64(direction), batch), batchRow), b.i64(problem.hidden)); }
  Value outputRow(Value time, unsigned direction, Value batchRow) {
    return b.mul(b.add(b.mul(b.add(b.mul(time, b.i64(problem.directions)), b.i64(direction)), batch), batchRow), b.i64(problem.hidden));
  }
  Value firstOf(Value unit) { return b.mul(unit, b.i64(lanes)); }
  Value maskOf(Value unit) {
    return problem.hidden % lanes == 0 ? Value() : b.maskBelow(b.sub(b.i64(problem.hidden), firstOf(unit)), lanes);
  }
  Value lengthOf(Value batchRow);
  bool isReverse(unsigned direction) const { return direction == 1 || problem.isReverse; }
  mlir::Type vectorType() { return KernelBuilder::laneType(compute, lanes); }

  KernelBuilder &b;
  const RecurrentProblem &problem;
  const unsigned lanes, gates;
  mlir::Type compute;
  int64_t units, rowStride, projectionStride;
  unsigned budget; // accumulators of a tile
  Value steps, batch, inputs, inputStride;
  Share shares[2];
  Value sharesUnits;             // i1: workers share units, and meet after each step
  bool mayShare = false;         // it is not always false
  std::optional<int64_t> known;  // the number of rows of a share that is not empty
  Value w, r;                    // packed
  Value y, h;                    // y is null when h passes from step to step in h alone
  /// Scratch. Rows are `rowStride` apart, which is no power of two, so that rows of a tile do not compete for the same cache sets.
  Value zeros, previous, state, update, products, packedInputs, projection;
  Value localRows;
  DimExpr chunkRows; // bound of the rows in `projection`
  Value chunkSteps, chunkStart;
};

} // namespace stator::kernel

#endif // STATOR_PASSES_KERNEL_RECURRENTEMITTER_H
