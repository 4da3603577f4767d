//===- RecurrentKernel.cpp - the sequence of a recurrent layer -------------===//
//
// Time cannot be split, so each step is shared out instead. There are two ways,
// chosen when the kernel runs: large layers are split by hidden units, which
// divides the weights that have to be streamed at each step and needs a barrier
// per step (unless each worker has a direction of its own); small ones are
// split by rows of the batch and by direction, which needs none, because rows
// do not depend on each other.
//
// A unit of work is one vector of hidden units. Its gates are neighbouring
// accumulators of one register tile, so that a step goes from the products to
// the new h without storing gates, and all rows of a tile use a weight while it
// is in a register: a step reads each weight once. Steps go through the units
// in alternating direction, so that a part of the weights is still in the
// second-level cache. The inputs of many steps at a time are multiplied by the
// input weights beforehand (RecurrentProjection.cpp).
//
// Workers see each other's h in y, where it is written anyway, or in h when
// nobody wants y. At the start of a step each worker copies the rows that it
// needs into its scratch, which spares the inner loop conversions, special
// cases and cache conflicts. The cell state never leaves the scratch before the
// end: it is only needed by the worker that wrote it.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/RecurrentEmitter.h"

using namespace mlir;

namespace stator::kernel {

/// From this many multiply-adds of one step on, its split over the workers is worth a barrier.
static constexpr int64_t minSharedWork = 1 << 17;

/// Rows of scratch that fill up the last tile.
static constexpr int64_t tilePadding = 16;

RecurrentEmitter::RecurrentEmitter(KernelBuilder &b, const RecurrentProblem &problem)
    : b(b), problem(problem), lanes(b.lanes()), gates(problem.gates()), compute(KernelBuilder::computeType(problem.type)) {
  units = (problem.hidden + lanes - 1) / lanes;
  rowStride = units * lanes + 16;
  projectionStride = units * lanes * gates + 16;
  unsigned registers = std::max(1u, compute.getIntOrFloatBitWidth() * lanes / b.options().vectorBits);
  budget = (b.options().vectorRegisters >= 32 ? 28 : b.options().vectorBits >= 256 ? 12 : 8) / registers;
  steps = b.size(problem.steps);
  batch = b.size(problem.batch);
  inputs = b.size(problem.inputs);
  w = problem.w;
  r = problem.r;
  y = problem.y;
  h = problem.h;
}

void RecurrentEmitter::run() {
  splitWork();
  chooseChunk();
  allocate();
  if (!problem.isPacked) {
    packWeights(problem.w, w, inputs);
    packWeights(problem.r, r, b.i64(problem.hidden));
  }
  initialiseState();
  b.loop(b.i64(0), steps, chunkSteps, [&](Value first) {
    chunkStart = first;
    Value end = b.min(b.add(first, chunkSteps), steps);
    for (unsigned direction = 0; direction != problem.directions; ++direction)
      project(direction, first, end);
    b.loop(first, end, b.i64(1), [&](Value current) { step(current); });
  });
  writeLastState();
}

void RecurrentEmitter::allocate() {
  const int64_t bytes = KernelBuilder::byteSize(problem.type), computeBytes = KernelBuilder::byteSize(compute);
  localRows = b.add(batch, b.i64(tilePadding));
  DimExpr local = (problem.batch + tilePadding) * (rowStride * computeBytes * problem.directions);
  zeros = b.scratch(rowStride * bytes);
  previous = b.scratch(local);
  if (problem.cell == RecurrentCell::Lstm)
    state = b.scratch(local);
  if (problem.cell == RecurrentCell::Gru || problem.cell == RecurrentCell::Lstm)
    update = b.scratch(local);
  if (problem.cell == RecurrentCell::Gru)
    products = b.scratch(local);
  inputStride = b.add(b.mul(b.ceilDiv(inputs, b.i64(16)), b.i64(16)), b.i64(16));
  packedInputs = b.scratch((chunkRows + tilePadding) * (problem.inputs.ceilDiv(16) * 16 + 16) * computeBytes);
  projection = b.scratch((chunkRows + tilePadding) * (projectionStride * computeBytes * problem.directions));
  DimExpr rows = problem.batch * int64_t(problem.directions);
  if (!problem.isPacked) {
    int64_t columns = (problem.hidden + 15) / 16 * 16 * gates * problem.directions;
    w = b.scratch(problem.inputs * (columns * bytes));
    r = b.scratch(problem.hidden * columns * bytes);
  }
  if (!h)
    h = b.scratch(rows * (problem.hidden * bytes));
  // The GRU passes r * h through h, and so its states through y.
  if (!y && problem.cell == RecurrentCell::Gru)
    y = b.scratch(problem.steps * rows * (problem.hidden * bytes));
  b.loop(b.i64(0), b.i64(units), b.i64(1), [&](Value unit) { b.store(b.zero(vectorType()), zeros, firstOf(unit), problem.type); });
}

void RecurrentEmitter::splitWork() {
  const bool canShare = problem.cell == RecurrentCell::Gru ? problem.y && problem.h : problem.y || problem.h;
  const int64_t rowWork = int64_t(gates) * problem.hidden * problem.hidden;
  std::optional<int64_t> knownBatch = problem.batch.constant();
  mayShare = canShare && (!knownBatch || *knownBatch * rowWork >= minSharedWork);
  const bool mustShare = mayShare && knownBatch;
  if (knownBatch && (mustShare || *knownBatch == 1))
    known = knownBatch;
  Value zero = b.i64(0), all = b.i64(units);
  sharesUnits = mayShare ? b.compare(arith::CmpIPredicate::sge, b.mul(batch, b.i64(rowWork)), b.i64(minSharedWork)) : Value();

  KernelBuilder::Range unitRange{zero, b.i64(units * problem.directions)}, rowRange{zero, b.mul(batch, b.i64(problem.directions))};
  if (mayShare)
    unitRange = b.split(unitRange.end);
  if (!mustShare)
    rowRange = b.split(rowRange.end);
  auto choose = [&](Value whenShared, Value otherwise) {
    return mustShare ? whenShared : !mayShare ? otherwise : b.select(sharesUnits, whenShared, otherwise);
  };
  for (unsigned direction = 0; direction != problem.directions; ++direction) {
    auto part = [&](Value value, Value each) { return b.max(b.min(b.sub(value, b.mul(b.i64(direction), each)), each), b.i64(0)); };
    Share &share = shares[direction];
    share.unitBegin = choose(part(unitRange.begin, all), zero);
    share.unitEnd = choose(part(unitRange.end, all), all);
    share.rowBegin = choose(zero, part(rowRange.begin, batch));
    share.rows = choose(batch, b.sub(part(rowRange.end, batch), part(rowRange.begin, batch)));
  }
}

RecurrentEmitter::Tile RecurrentEmitter::tileFor(unsigned rows, ArrayRef<unsigned> used) const {
  Tile tile;
  tile.rows = rows;
  unsigned columns = used.size();
  if (used.size() == 1 || rows * used.size() <= budget) {
    tile.passes.push_back(Gates(used.begin(), used.end()));
  } else if (used.size() == 4) {
    // Input and candidate first: only their product has to be kept.
    tile.passes = {Gates{0, 3}, Gates{2, 1}};
    columns = 2;
  } else {
    tile.passes = {Gates{used[0], used[1]}};
    if (used.size() == 3)
      tile.passes.push_back(Gates{used[2]});
    columns = 2;
  }
  // Eight chains hide the latency of the multiply-adds, and a broadcast should serve two of them.
  while (tile.units < 4 && tile.units < units && rows * columns * tile.units * 2 <= budget &&
         (rows * columns * tile.units < 8 || columns * tile.units < 2))
    tile.units *= 2;
  return tile;
}

Value RecurrentEmitter::paddedRows(const Share &share) {
  Value most = b.i64(known ? evenRows(*known, mostRows(gates)) : mostRows(gates));
  Value padded = b.mul(b.ceilDiv(share.rows, most), most);
  if (!known)
    padded = b.select(b.compare(arith::CmpIPredicate::eq, share.rows, b.i64(1)), share.rows, padded);
  return b.select(b.less(share.unitBegin, share.unitEnd), padded, b.i64(0));
}

void RecurrentEmitter::initialiseState() {
  for (unsigned direction = 0; direction != problem.directions; ++direction) {
    const Share &share = shares[direction];
    auto initial = [&](Value tensor, Value row) {
      return tensor ? b.address(tensor, stateRow(direction, batchRow(direction, row)), problem.type) : zeros;
    };
    b.loop(b.i64(0), paddedRows(share), b.i64(1), [&](Value row) {
      b.loop(share.unitBegin, share.unitEnd, b.i64(1), [&](Value unit) {
        if (state)
          b.store(loadUnit(initial(problem.initialC, row), b.i64(0), unit), state, b.add(localRow(direction, row), firstOf(unit)), compute);
        if (!y)
          b.store(loadUnit(initial(problem.initialH, row), b.i64(0), unit), h,
                  b.add(stateRow(direction, batchRow(direction, row)), firstOf(unit)), problem.type, maskOf(unit));
      });
    });
  }
  if (!y)
    barrier();
}

Value RecurrentEmitter::timeOf(unsigned direction, Value step) {
  return isReverse(direction) ? b.sub(b.sub(steps, b.i64(1)), step) : step;
}

Value RecurrentEmitter::previousRow(unsigned direction, Value step, Value row) {
  if (!y)
    return b.address(h, stateRow(direction, row), problem.type);
  Value time = timeOf(direction, step), before = isReverse(direction) ? b.add(time, b.i64(1)) : b.sub(time, b.i64(1));
  Value starts = b.compare(arith::CmpIPredicate::eq, step, b.i64(0));
  // Read backwards, a short sequence starts later.
  if (isReverse(direction) && problem.lengths)
    starts = arith::OrIOp::create(b, starts, b.compare(arith::CmpIPredicate::sge, before, lengthOf(row)));
  Value initial = problem.initialH ? b.address(problem.initialH, stateRow(direction, row), problem.type) : zeros;
  return b.select(starts, initial, b.address(y, outputRow(before, direction, row), problem.type));
}

void RecurrentEmitter::copyState(unsigned direction, Value step) {
  b.loop(b.i64(0), paddedRows(shares[direction]), b.i64(1), [&](Value row) {
    Value source = previousRow(direction, step, batchRow(direction, row));
    Value target = localRow(direction, row);
    b.loop(b.i64(0), b.i64(units), b.i64(1),
           [&](Value unit) { b.store(loadUnit(source, b.i64(0), unit), previous, b.add(target, firstOf(unit)), compute); });
  });
}

/// The products r * h of a GRU, which workers pass to each other in h.
void RecurrentEmitter::copyProducts(unsigned direction) {
  b.loop(b.i64(0), paddedRows(shares[direction]), b.i64(1), [&](Value row) {
    Value source = b.address(h, stateRow(direction, batchRow(direction, row)), problem.type);
    Value target = localRow(direction, row);
    b.loop(b.i64(0), b.i64(units), b.i64(1),
           [&](Value unit) { b.store(loadUnit(source, b.i64(0), unit), products, b.add(target, firstOf(unit)), compute); });
  });
}

void RecurrentEmitter::forUnits(const Share &share, unsigned perTile, Value isBackward,
                                llvm::function_ref<void(ArrayRef<Value>)> body) {
  Value count = b.ceilDiv(b.sub(share.unitEnd, share.unitBegin), b.i64(perTile));
  b.loop(b.i64(0), count, b.i64(1), [&](Value index) {
    if (isBackward)
      index = b.select(isBackward, b.sub(b.sub(count, b.i64(1)), index), index);
    Value first = b.add(share.unitBegin, b.mul(index, b.i64(perTile)));
    SmallVector<Value> tileUnits{first};
    for (unsigned i = 1; i < perTile; ++i)
      tileUnits.push_back(b.min(b.add(first, b.i64(i)), b.sub(share.unitEnd, b.i64(1))));
    body(tileUnits);
  });
}

void RecurrentEmitter::forTiles(Value step, ArrayRef<unsigned> used, llvm::function_ref<void(const Place &)> body) {
  Value isBackward = b.compare(arith::CmpIPredicate::ne, b.rem(step, b.i64(2)), b.i64(0));
  for (unsigned direction = 0; direction != problem.directions; ++direction) {
    const Share &share = shares[direction];
    Value time = timeOf(direction, step);
    auto emit = [&](const Tile &tile, ArrayRef<Value> tileUnits, Value row) {
      body({direction, step, time, SmallVector<Value, 4>(tileUnits), row, tile.rows, tile.passes});
    };
    auto allRows = [&](const Tile &tile) {
      forUnits(share, tile.units, isBackward, [&](ArrayRef<Value> tileUnits) {
        b.loop(b.i64(0), share.rows, b.i64(tile.rows), [&](Value row) { emit(tile, tileUnits, row); });
      });
    };
    if (known) {
      allRows(tileFor(evenRows(*known, mostRows(gates)), used));
      continue;
    }
    b.ifElse(
        b.compare(arith::CmpIPredicate::eq, share.rows, b.i64(1)), [&] { allRows(tileFor(1, used)); },
        [&] {
          const unsigned most = mostRows(gates), few = (most + 2) / 3, some = (most + 1) * 3 / 5;
          forUnits(share, 1, isBackward, [&](ArrayRef<Value> unit) {
            b.loop(b.i64(0), share.rows, b.i64(most), [&](Value row) {
              Value left = b.sub(share.rows, row);
              b.ifElse(
                  b.less(b.i64(some), left), [&] { emit(tileFor(most, used), unit, row); },
                  [&] {
                    b.ifElse(
                        b.less(b.i64(few), left), [&] { emit(tileFor(some, used), unit, row); },
                        [&] { emit(tileFor(few, used), unit, row); });
                  });
            });
          });
        });
  }
}

void RecurrentEmitter::barrier() {
  if (mayShare)
    b.when(arith::AndIOp::create(b, sharesUnits, b.less(b.i64(problem.directions), b.workers())), [&] { b.barrier(); });
}

void RecurrentEmitter::step(Value current) {
  for (unsigned direction = 0; direction != problem.directions; ++direction)
    copyState(direction, current);
  if (!y) // Everybody has read the previous h.
    barrier();
  switch (problem.cell) {
  case RecurrentCell::Lstm:
    forTiles(current, {0, 1, 2, 3}, [&](const Place &place) { emitLstm(place); });
    break;
  case RecurrentCell::GruLinearBeforeReset:
    forTiles(current, {0, 1, 2}, [&](const Place &place) { emitGru(place); });
    break;
  case RecurrentCell::Gru:
    // The candidate needs r * h of all units.
    forTiles(current, {0, 1}, [&](const Place &place) { emitGruGates(place); });
    barrier();
    for (unsigned direction = 0; direction != problem.directions; ++direction)
      copyProducts(direction);
    forTiles(current, {2}, [&](const Place &place) { emitGruCandidate(place); });
    break;
  case RecurrentCell::RnnTanh:
  case RecurrentCell::RnnRelu:
    forTiles(current, {0}, [&](const Place &place) { emitRnn(place); });
    break;
  }
  barrier();
}

void RecurrentEmitter::writeLastState() {
  for (unsigned direction = 0; direction != problem.directions; ++direction) {
    const Share &share = shares[direction];
    b.loop(b.i64(0), share.rows, b.i64(1), [&](Value localIndex) {
      Value row = batchRow(direction, localIndex), target = stateRow(direction, row), source;
      if (y && problem.h) {
        Value length = problem.lengths ? lengthOf(row) : steps;
        Value last = isReverse(direction) ? b.i64(0) : b.max(b.sub(length, b.i64(1)), b.i64(0));
        Value initial = problem.initialH ? b.address(problem.initialH, target, problem.type) : zeros;
        source = b.select(b.less(b.i64(0), length), b.address(y, outputRow(last, direction, row), problem.type), initial);
      }
      b.loop(share.unitBegin, share.unitEnd, b.i64(1), [&](Value unit) {
        Value mask = maskOf(unit), offset = b.add(target, firstOf(unit));
        if (source)
          b.store(loadUnit(source, b.i64(0), unit), h, offset, problem.type, mask);
        if (problem.c)
          b.store(b.load(state, b.add(localRow(direction, localIndex), firstOf(unit)), compute, lanes), problem.c, offset, problem.type, mask);
      });
    });
  }
}

void emitRecurrent(KernelBuilder &b, const RecurrentProblem &problem) { RecurrentEmitter(b, problem).run(); }

} // namespace stator::kernel
