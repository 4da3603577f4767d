//===- RecurrentKernel.cpp - the sequence of a recurrent layer -------------===//
//
// Time cannot be split, so each step is shared out instead. There are two ways,
// chosen when the kernel runs: large layers are split by hidden units, which
// divides the weights that have to be streamed at each step and needs a barrier
// per step; small ones are split by rows of the batch and by direction, which
// needs none, because rows do not depend on each other.
//
// A unit of work is one vector of hidden units. Its gates are neighbouring
// accumulators of one register tile, so that a step goes from the products to
// the new h without storing gates. The inputs of some steps at a time are
// multiplied by the input weights beforehand, with several steps as the rows of
// a tile; what is left in a step is the product with h.
//
// The previous h of a row is read where it was written, in y. The cell state is
// in the worker's scratch: it is only ever needed by the worker that wrote it.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/RecurrentEmitter.h"

#include "dialects/Target/PackedLayouts.h"

using namespace mlir;

namespace stator::kernel {

/// From this many multiply-adds of one step on, its split over the workers is worth a barrier.
static constexpr int64_t minSharedWork = 1 << 17;

RecurrentEmitter::RecurrentEmitter(KernelBuilder &b, const RecurrentProblem &problem)
    : b(b), problem(problem), lanes(b.lanes()), gates(problem.gates()), compute(KernelBuilder::computeType(problem.type)) {
  units = (problem.hidden + lanes - 1) / lanes;
  hiddenPadded = units * lanes;
  unsigned budget = b.options().vectorRegisters >= 32 ? 24 : b.options().vectorBits >= 256 ? 12 : 8;
  tileRows = std::max(1u, std::min(budget / gates, 8u));
  steps = b.size(problem.steps);
  batch = b.size(problem.batch);
  inputs = b.size(problem.inputs);
  w = problem.w;
  r = problem.r;
  y = problem.y;
  h = problem.h;
}

void RecurrentEmitter::run() {
  allocate();
  splitWork();
  if (!problem.isPacked) {
    packWeights(problem.w, w, inputs);
    packWeights(problem.r, r, b.i64(problem.hidden));
  }
  initialiseState();
  b.loop(b.i64(0), steps, b.i64(recurrentChunk), [&](Value first) {
    chunkStart = first;
    Value end = b.min(b.add(first, b.i64(recurrentChunk)), steps);
    for (unsigned direction = 0; direction != problem.directions; ++direction)
      project(direction, first, end);
    b.loop(first, end, b.i64(1), [&](Value current) { step(current); });
  });
  writeLastState();
}

void RecurrentEmitter::allocate() {
  const int64_t bytes = KernelBuilder::byteSize(problem.type), computeBytes = KernelBuilder::byteSize(compute);
  DimExpr rows = problem.batch * int64_t(problem.directions);
  zeros = b.scratch(hiddenPadded * bytes);
  state = b.scratch(rows * (hiddenPadded * computeBytes));
  update = problem.cell == RecurrentCell::Gru ? b.scratch(rows * (hiddenPadded * computeBytes)) : Value();
  projection = b.scratch(rows * (hiddenPadded * computeBytes * gates * recurrentChunk));
  if (!problem.isPacked) {
    int64_t columns = panelsOf(problem.hidden) * panelColumns * gates * problem.directions;
    w = b.scratch(problem.inputs * (columns * bytes));
    r = b.scratch(problem.hidden * columns * bytes);
  }
  // Results that nobody wants are still needed here.
  if (!y)
    y = b.scratch(problem.steps * rows * (problem.hidden * bytes));
  if (!h)
    h = b.scratch(rows * (problem.hidden * bytes));
  b.loop(b.i64(0), b.i64(hiddenPadded), b.i64(lanes),
         [&](Value i) { b.store(b.zero(KernelBuilder::laneType(compute, lanes)), zeros, i, problem.type); });
}

void RecurrentEmitter::splitWork() {
  // Workers see each other's h through y (and, for the GRU's product r * h, through h).
  const bool canShare = problem.y && (problem.h || problem.cell != RecurrentCell::Gru);
  Value work = b.mul(batch, b.i64(int64_t(gates) * problem.hidden * problem.hidden));
  Value isLarge = b.compare(arith::CmpIPredicate::sge, work, b.i64(minSharedWork));
  sharesUnits = canShare ? isLarge : b.constant(b.getBoolAttr(false));

  KernelBuilder::Range unitRange = b.split(b.i64(units * problem.directions));
  KernelBuilder::Range rowRange = b.split(b.mul(batch, b.i64(problem.directions)));
  for (unsigned direction = 0; direction != problem.directions; ++direction) {
    auto part = [&](Value value, Value each) { return b.max(b.min(b.sub(value, b.mul(b.i64(direction), each)), each), b.i64(0)); };
    Value zero = b.i64(0), all = b.i64(units);
    Share &share = shares[direction];
    share.unitBegin = b.select(sharesUnits, part(unitRange.begin, all), zero);
    share.unitEnd = b.select(sharesUnits, part(unitRange.end, all), all);
    share.rowBegin = b.select(sharesUnits, zero, part(rowRange.begin, batch));
    share.rowEnd = b.select(sharesUnits, batch, part(rowRange.end, batch));
  }
}

Value RecurrentEmitter::gateStride(Value depth) { return b.mul(b.i64(panelsOf(problem.hidden) * panelColumns), depth); }

/// Of the first gate of a unit, in the packed layout.
Value RecurrentEmitter::weightOffset(unsigned direction, Value unit, Value depth) {
  Value start = b.mul(b.i64(int64_t(direction) * gates), gateStride(depth));
  return b.add(start, panelStart(b, firstOf(unit), depth, lanes));
}

void RecurrentEmitter::packWeights(Value source, Value target, Value depth) {
  Value steps = arith::MulIOp::create(b, b.step(lanes), b.splat(depth, lanes));
  for (unsigned direction = 0; direction != problem.directions; ++direction)
    b.loop(shares[direction].unitBegin, shares[direction].unitEnd, b.i64(1), [&](Value unit) {
      Value mask = maskOf(unit);
      for (unsigned gate = 0; gate != gates; ++gate) {
        Value sourceRow = b.add(b.i64((int64_t(direction) * gates + gate) * problem.hidden), firstOf(unit));
        Value from = b.address(source, b.mul(sourceRow, depth), problem.type);
        Value offset = b.add(weightOffset(direction, unit, depth), b.mul(b.i64(gate), gateStride(depth)));
        Value to = b.address(target, offset, problem.type);
        b.loop(b.i64(0), depth, b.i64(1), [&](Value k) {
          Value values = b.gather(b.address(from, k, problem.type), steps, problem.type, mask);
          b.store(values, to, b.mul(k, b.i64(panelColumns)), problem.type);
        });
      }
    });
}

void RecurrentEmitter::initialiseState() {
  if (problem.cell != RecurrentCell::Lstm)
    return;
  for (unsigned direction = 0; direction != problem.directions; ++direction) {
    const Share &share = shares[direction];
    b.loop(share.rowBegin, share.rowEnd, b.i64(1), [&](Value row) {
      b.loop(share.unitBegin, share.unitEnd, b.i64(1), [&](Value unit) {
        Place place{direction, {}, {}, unit, row, 1};
        Value value = b.zero(KernelBuilder::laneType(compute, lanes));
        if (problem.initialC)
          value = loadUnit(problem.initialC, b.mul(rowOf(direction, row), b.i64(problem.hidden)), place);
        b.store(value, state, stateOffset(place, 0), compute);
      });
    });
  }
}

Value RecurrentEmitter::timeOf(unsigned direction, Value step) {
  bool isReverse = direction == 1 || problem.isReverse;
  return isReverse ? b.sub(b.sub(steps, b.i64(1)), step) : step;
}

/// Projects the inputs of steps [firstStep, endStep): bias + x w for every gate of this worker's units and rows.
void RecurrentEmitter::project(unsigned direction, Value firstStep, Value endStep) {
  const Share &share = shares[direction];
  Type vector = KernelBuilder::laneType(compute, lanes);
  b.loop(share.unitBegin, share.unitEnd, b.i64(1), [&](Value unit) {
    Place unitPlace{direction, {}, {}, unit, b.i64(0), 1};
    Values initial(gates, b.zero(vector));
    for (unsigned gate = 0; problem.bias && gate != gates; ++gate) {
      Value start = b.i64(int64_t(direction) * 2 * gates * problem.hidden);
      initial[gate] = loadUnit(problem.bias, b.add(start, b.i64(gate * problem.hidden)), unitPlace);
      // The recurrent bias of this cell's candidate stands inside of the product with r.
      if (problem.cell == RecurrentCell::GruLinearBeforeReset && gate == 2)
        continue;
      Value recurrent = loadUnit(problem.bias, b.add(start, b.i64((gates + gate) * problem.hidden)), unitPlace);
      initial[gate] = arith::AddFOp::create(b, initial[gate], recurrent);
    }
    TileColumns columns;
    columns.pointer = b.address(w, weightOffset(direction, unit, inputs), problem.type);
    columns.kStride = b.i64(panelColumns);
    columns.storage = problem.type;
    for (unsigned gate = 0; gate != gates; ++gate)
      columns.offsets.push_back(b.mul(b.i64(gate), gateStride(inputs)));

    b.loop(share.rowBegin, share.rowEnd, b.i64(1), [&](Value row) {
      auto emitSteps = [&](Value firstOfTile, unsigned count) {
        TileRows rows;
        rows.kStride = b.i64(1);
        rows.storage = problem.type;
        Values sums;
        for (unsigned i = 0; i != count; ++i) {
          Value time = timeOf(direction, b.add(firstOfTile, b.i64(i)));
          rows.pointers.push_back(b.address(problem.x, b.mul(b.add(b.mul(time, batch), row), inputs), problem.type));
          sums.append(initial);
        }
        sums = accumulate(b, rows, columns, inputs, sums);
        for (unsigned i = 0; i != count; ++i)
          for (unsigned gate = 0; gate != gates; ++gate) {
            Value index = b.add(b.sub(firstOfTile, firstStep), b.i64(i));
            Value cell = b.add(b.mul(b.add(b.mul(rowOf(direction, row), b.i64(units)), unit), b.i64(recurrentChunk)), index);
            b.store(sums[i * gates + gate], projection, b.mul(b.add(b.mul(cell, b.i64(gates)), b.i64(gate)), b.i64(lanes)), compute);
          }
      };
      Value count = b.sub(endStep, firstStep);
      Value mainEnd = b.add(firstStep, b.mul(b.div(count, b.i64(tileRows)), b.i64(tileRows)));
      b.loop(firstStep, mainEnd, b.i64(tileRows), [&](Value first) { emitSteps(first, tileRows); });
      if (tileRows > 1)
        b.loop(mainEnd, endStep, b.i64(1), [&](Value first) { emitSteps(first, 1); });
    });
  });
}

void RecurrentEmitter::forTiles(Value step, llvm::function_ref<void(const Place &)> body) {
  std::optional<int64_t> knownBatch = problem.batch.constant();
  for (unsigned direction = 0; direction != problem.directions; ++direction) {
    const Share &share = shares[direction];
    Value time = timeOf(direction, step);
    b.loop(share.unitBegin, share.unitEnd, b.i64(1), [&](Value unit) {
      unsigned rows = knownBatch ? std::clamp<int64_t>(*knownBatch, 1, tileRows) : tileRows;
      Value count = b.sub(share.rowEnd, share.rowBegin);
      Value mainEnd = b.add(share.rowBegin, b.mul(b.div(count, b.i64(rows)), b.i64(rows)));
      b.loop(share.rowBegin, mainEnd, b.i64(rows), [&](Value row) { body({direction, step, time, unit, row, rows}); });
      if (rows > 1)
        b.loop(mainEnd, share.rowEnd, b.i64(1), [&](Value row) { body({direction, step, time, unit, row, 1}); });
    });
  }
}

void RecurrentEmitter::barrier() {
  b.when(arith::AndIOp::create(b, sharesUnits, b.less(b.i64(1), b.workers())), [&] { b.barrier(); });
}

void RecurrentEmitter::step(Value current) {
  switch (problem.cell) {
  case RecurrentCell::Lstm:
    forTiles(current, [&](const Place &place) { emitLstm(place); });
    break;
  case RecurrentCell::GruLinearBeforeReset:
    forTiles(current, [&](const Place &place) { emitGru(place); });
    break;
  case RecurrentCell::Gru:
    // The candidate needs r * h of all units.
    forTiles(current, [&](const Place &place) { emitGruGates(place); });
    barrier();
    forTiles(current, [&](const Place &place) { emitGruCandidate(place); });
    break;
  case RecurrentCell::RnnTanh:
  case RecurrentCell::RnnRelu:
    forTiles(current, [&](const Place &place) { emitRnn(place); });
    break;
  }
  barrier();
}

void RecurrentEmitter::writeLastState() {
  for (unsigned direction = 0; direction != problem.directions; ++direction) {
    const Share &share = shares[direction];
    const bool isReverse = direction == 1 || problem.isReverse;
    b.loop(share.rowBegin, share.rowEnd, b.i64(1), [&](Value row) {
      Value length = problem.lengths ? lengthOf(row) : steps;
      Value last = isReverse ? b.i64(0) : b.max(b.sub(length, b.i64(1)), b.i64(0));
      Value stateRow = b.mul(rowOf(direction, row), b.i64(problem.hidden));
      Value initial = problem.initialH ? b.address(problem.initialH, stateRow, problem.type) : zeros;
      Value source = b.select(b.less(b.i64(0), length), b.address(y, outputRow(last, direction, row), problem.type), initial);
      b.loop(share.unitBegin, share.unitEnd, b.i64(1), [&](Value unit) {
        Place place{direction, {}, {}, unit, row, 1};
        Value mask = maskOf(unit);
        if (problem.h)
          b.store(loadUnit(source, b.i64(0), place), h, b.add(stateRow, firstOf(unit)), problem.type, mask);
        if (problem.c)
          b.store(b.load(state, stateOffset(place, 0), compute, lanes), problem.c, b.add(stateRow, firstOf(unit)), problem.type, mask);
      });
    });
  }
}

void emitRecurrent(KernelBuilder &b, const RecurrentProblem &problem) { RecurrentEmitter(b, problem).run(); }

} // namespace stator::kernel
