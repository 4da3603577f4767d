//===- RecurrentCells.cpp - one step of the recurrent cells ----------------===//
//
// Each function takes a tile (some rows of the batch, one vector of hidden
// units) from the projected input and the previous h to the new h. The
// formulas are those of the graph operations' descriptions.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/RecurrentEmitter.h"

#include "dialects/Target/PackedLayouts.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace stator::kernel {

Value RecurrentEmitter::sigmoid(Value value) {
  Value one = b.number(value.getType(), 1.0);
  Value exponential = math::ExpOp::create(b, arith::NegFOp::create(b, value));
  return arith::DivFOp::create(b, one, arith::AddFOp::create(b, one, exponential));
}

Value RecurrentEmitter::lengthOf(Value row) {
  Value length = b.load(problem.lengths, row, problem.lengthType);
  if (!problem.lengthType.isInteger(64))
    length = arith::ExtSIOp::create(b, b.getI64Type(), length);
  // Out of range is as the nearest that is in range.
  return b.max(b.min(length, steps), b.i64(0));
}

Value RecurrentEmitter::isRunning(const Place &place, unsigned row) {
  if (!problem.lengths)
    return {};
  return b.less(place.time, lengthOf(b.add(place.row, b.i64(row))));
}

Value RecurrentEmitter::loadUnit(Value base, Value rowOffset, const Place &place) {
  return b.load(base, b.add(rowOffset, firstOf(place.unit)), problem.type, lanes, maskOf(place.unit));
}

/// Where the rows of the previous h are: in y, or the initial h.
SmallVector<Value> RecurrentEmitter::previousRows(const Place &place) {
  const bool isReverse = place.direction == 1 || problem.isReverse;
  Value isFirst = b.compare(arith::CmpIPredicate::eq, place.step, b.i64(0));
  Value before = isReverse ? b.add(place.time, b.i64(1)) : b.sub(place.time, b.i64(1));
  SmallVector<Value> rows;
  for (unsigned i = 0; i != place.rows; ++i) {
    Value row = b.add(place.row, b.i64(i));
    Value initial = zeros;
    if (problem.initialH)
      initial = b.address(problem.initialH, b.mul(rowOf(place.direction, row), b.i64(problem.hidden)), problem.type);
    Value starts = isFirst;
    // Read backwards, a short sequence starts later.
    if (isReverse && problem.lengths)
      starts = arith::OrIOp::create(b, starts, b.compare(arith::CmpIPredicate::sge, before, lengthOf(row)));
    rows.push_back(b.select(starts, initial, b.address(y, outputRow(before, place.direction, row), problem.type)));
  }
  return rows;
}

Value RecurrentEmitter::projected(const Place &place, unsigned row, unsigned gate) {
  Value index = b.sub(place.step, chunkStart);
  Value line = rowOf(place.direction, b.add(place.row, b.i64(row)));
  Value cell = b.add(b.mul(b.add(b.mul(line, b.i64(units)), place.unit), b.i64(recurrentChunk)), index);
  return b.load(projection, b.mul(b.add(b.mul(cell, b.i64(gates)), b.i64(gate)), b.i64(lanes)), compute, lanes);
}

RecurrentEmitter::Values RecurrentEmitter::multiplyState(const Place &place, ArrayRef<Value> rowPointers, ArrayRef<unsigned> used,
                                                         Values sums) {
  Value depth = b.i64(problem.hidden);
  TileRows rows;
  rows.pointers.assign(rowPointers.begin(), rowPointers.end());
  rows.kStride = b.i64(1);
  rows.storage = problem.type;
  TileColumns columns;
  columns.pointer = b.address(r, weightOffset(place.direction, place.unit, depth), problem.type);
  columns.kStride = b.i64(panelColumns);
  columns.storage = problem.type;
  for (unsigned gate : used)
    columns.offsets.push_back(b.mul(b.i64(gate), gateStride(depth)));
  return accumulate(b, rows, columns, depth, std::move(sums));
}

void RecurrentEmitter::storeOutput(const Place &place, unsigned row, Value output) {
  if (Value running = isRunning(place, row))
    output = b.select(running, output, b.zero(output.getType()));
  Value offset = b.add(outputRow(place.time, place.direction, b.add(place.row, b.i64(row))), firstOf(place.unit));
  b.store(output, y, offset, problem.type, maskOf(place.unit));
}

void RecurrentEmitter::emitLstm(const Place &place) {
  Values sums;
  for (unsigned row = 0; row != place.rows; ++row)
    for (unsigned gate = 0; gate != gates; ++gate)
      sums.push_back(projected(place, row, gate));
  sums = multiplyState(place, previousRows(place), {0, 1, 2, 3}, std::move(sums));

  auto peephole = [&](Value gate, unsigned index, Value cell) {
    if (!problem.peephole)
      return gate;
    Value weights = loadUnit(problem.peephole, b.i64((int64_t(place.direction) * 3 + index) * problem.hidden), place);
    return b.fma(weights, cell, gate);
  };
  for (unsigned row = 0; row != place.rows; ++row) {
    ArrayRef<Value> gate = ArrayRef<Value>(sums).slice(row * 4, 4); // i, o, f, c
    Value cell = b.load(state, stateOffset(place, row), compute, lanes);
    Value input = sigmoid(peephole(gate[0], 0, cell));
    Value forget = sigmoid(peephole(gate[2], 2, cell));
    Value candidate = math::TanhOp::create(b, gate[3]);
    Value next = b.fma(forget, cell, arith::MulFOp::create(b, input, candidate));
    Value output = sigmoid(peephole(gate[1], 1, next));
    Value result = arith::MulFOp::create(b, output, math::TanhOp::create(b, next));
    if (Value running = isRunning(place, row))
      next = b.select(running, next, cell);
    b.store(next, state, stateOffset(place, row), compute);
    storeOutput(place, row, result);
  }
}

/// (1 - z) * n + z * h, written so that z = 1 keeps h exactly.
static Value mixed(KernelBuilder &b, Value z, Value candidate, Value previous) {
  Value difference = arith::SubFOp::create(b, previous, candidate);
  return b.fma(z, difference, candidate);
}

void RecurrentEmitter::emitGru(const Place &place) {
  Values sums;
  for (unsigned row = 0; row != place.rows; ++row) {
    sums.push_back(projected(place, row, 0));
    sums.push_back(projected(place, row, 1));
    Value bias = b.zero(KernelBuilder::laneType(compute, lanes));
    if (problem.bias)
      bias = loadUnit(problem.bias, b.i64((int64_t(place.direction) * 6 + 5) * problem.hidden), place);
    sums.push_back(bias);
  }
  SmallVector<Value> previous = previousRows(place);
  sums = multiplyState(place, previous, {0, 1, 2}, std::move(sums));
  for (unsigned row = 0; row != place.rows; ++row) {
    Value z = sigmoid(sums[row * 3]), reset = sigmoid(sums[row * 3 + 1]);
    Value candidate = math::TanhOp::create(b, b.fma(reset, sums[row * 3 + 2], projected(place, row, 2)));
    storeOutput(place, row, mixed(b, z, candidate, loadUnit(previous[row], b.i64(0), place)));
  }
}

/// First half of a step: z into scratch, r * h into the rows of the result h, which has no other use before the end.
void RecurrentEmitter::emitGruGates(const Place &place) {
  Values sums;
  for (unsigned row = 0; row != place.rows; ++row)
    sums.append({projected(place, row, 0), projected(place, row, 1)});
  SmallVector<Value> previous = previousRows(place);
  sums = multiplyState(place, previous, {0, 1}, std::move(sums));
  for (unsigned row = 0; row != place.rows; ++row) {
    b.store(sigmoid(sums[row * 2]), update, stateOffset(place, row), compute);
    Value product = arith::MulFOp::create(b, sigmoid(sums[row * 2 + 1]), loadUnit(previous[row], b.i64(0), place));
    Value offset = b.mul(rowOf(place.direction, b.add(place.row, b.i64(row))), b.i64(problem.hidden));
    b.store(product, h, b.add(offset, firstOf(place.unit)), problem.type, maskOf(place.unit));
  }
}

void RecurrentEmitter::emitGruCandidate(const Place &place) {
  Values sums;
  SmallVector<Value> products;
  for (unsigned row = 0; row != place.rows; ++row) {
    sums.push_back(projected(place, row, 2));
    Value offset = b.mul(rowOf(place.direction, b.add(place.row, b.i64(row))), b.i64(problem.hidden));
    products.push_back(b.address(h, offset, problem.type));
  }
  SmallVector<Value> previous = previousRows(place);
  sums = multiplyState(place, products, {2}, std::move(sums));
  for (unsigned row = 0; row != place.rows; ++row) {
    Value z = b.load(update, stateOffset(place, row), compute, lanes);
    storeOutput(place, row, mixed(b, z, math::TanhOp::create(b, sums[row]), loadUnit(previous[row], b.i64(0), place)));
  }
}

void RecurrentEmitter::emitRnn(const Place &place) {
  Values sums;
  for (unsigned row = 0; row != place.rows; ++row)
    sums.push_back(projected(place, row, 0));
  sums = multiplyState(place, previousRows(place), {0}, std::move(sums));
  for (unsigned row = 0; row != place.rows; ++row) {
    Value value = sums[row];
    if (problem.cell == RecurrentCell::RnnTanh)
      value = math::TanhOp::create(b, value);
    else // Propagates NaN, as relu does elsewhere.
      value = arith::MaximumFOp::create(b, value, b.zero(value.getType()));
    storeOutput(place, row, value);
  }
}

} // namespace stator::kernel
