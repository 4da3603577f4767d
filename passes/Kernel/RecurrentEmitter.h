//===- RecurrentEmitter.h - state of the recurrent emitter -----------------===//
//
// Shared by RecurrentKernel.cpp (the sequence: split, weights, projection,
// steps) and RecurrentCells.cpp (the arithmetic of one step).
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

  /// What this worker computes of one direction: units (vectors of hidden units) times rows of the batch.
  struct Share {
    Value unitBegin, unitEnd, rowBegin, rowEnd;
  };
  /// One tile of one step: `rows` rows from `row` on, one unit.
  struct Place {
    unsigned direction;
    Value step, time, unit, row;
    unsigned rows;
  };

  // RecurrentKernel.cpp
  void allocate();
  void splitWork();
  void packWeights(Value source, Value target, Value depth);
  void initialiseState();
  void project(unsigned direction, Value firstStep, Value endStep);
  void step(Value current);
  void writeLastState();
  void barrier();
  /// Runs `body` for all tiles of this worker in `step`.
  void forTiles(Value step, llvm::function_ref<void(const Place &)> body);
  Value timeOf(unsigned direction, Value step);

  // RecurrentCells.cpp
  void emitLstm(const Place &place);
  void emitGru(const Place &place);
  void emitGruGates(const Place &place);
  void emitGruCandidate(const Place &place);
  void emitRnn(const Place &place);
  /// Adds row(h) * r for the given gates to `sums`, which are ordered row by row and one per gate. `rows` are the rows' pointers.
  Values multiplyState(const Place &place, llvm::ArrayRef<Value> rows, llvm::ArrayRef<unsigned> gates, Values sums);
  llvm::SmallVector<Value> previousRows(const Place &place);
  /// Gate `gate` of the projected input, bias included.
  Value projected(const Place &place, unsigned row, unsigned gate);
  Value loadUnit(Value base, Value rowOffset, const Place &place);
  void storeState(const Place &place, unsigned row, Value state);
  void storeOutput(const Place &place, unsigned row, Value output);
  /// Null if there are no lengths, else whether the row still runs at this step.
  Value isRunning(const Place &place, unsigned row);
  Value sigmoid(Value value);

  // Addresses, in elements.
  Value weightOffset(unsigned direction, Value unit, Value depth);
  Value gateStride(Value depth);
  Value stateOffset(const Place &place, unsigned row) {
    return b.add(b.mul(b.add(b.mul(b.i64(place.direction), batch), b.add(place.row, b.i64(row))), b.i64(hiddenPadded)),
                 firstOf(place.unit));
  }
  Value rowOf(unsigned direction, Value row) { return b.add(b.mul(b.i64(direction), batch), row); }
  Value outputRow(Value time, unsigned direction, Value row) {
    return b.mul(b.add(b.mul(b.add(b.mul(time, b.i64(problem.directions)), b.i64(direction)), batch), row), b.i64(problem.hidden));
  }
  Value firstOf(Value unit) { return b.mul(unit, b.i64(lanes)); }
  Value maskOf(Value unit) {
    return problem.hidden % lanes == 0 ? Value() : b.maskBelow(b.sub(b.i64(problem.hidden), firstOf(unit)), lanes);
  }
  Value lengthOf(Value row);

  KernelBuilder &b;
  const RecurrentProblem &problem;
  const unsigned lanes, gates;
  mlir::Type compute;
  int64_t units, hiddenPadded;
  unsigned tileRows; // of the projection and of the batch
  Value steps, batch, inputs;
  Share shares[2];
  Value sharesUnits; // i1: workers share units, and meet after each step
  Value w, r;        // packed
  Value y, h;
  /// Scratch: zeros for an absent initial h, the cell state, the update gate of a GRU, projected inputs of some steps.
  Value zeros, state, update, projection;
  Value chunkStart; // first step in `projection`
};

/// Steps whose inputs are projected at once.
inline constexpr int64_t recurrentChunk = 12;

} // namespace stator::kernel

#endif // STATOR_PASSES_KERNEL_RECURRENTEMITTER_H
