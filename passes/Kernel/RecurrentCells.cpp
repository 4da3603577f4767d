//===- RecurrentCells.cpp - one step of the recurrent cells ----------------===//
//
// Each function takes a tile (some rows of the batch, a few vectors of hidden
// units) from the projected input and the previous h to the new h. The
// formulas are those of the graph operations' descriptions. A tile loads all
// that it needs before it stores: its last rows and units may be repeated.
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
  return b.less(place.time, lengthOf(batchRow(place, row)));
}

Value RecurrentEmitter::loadUnit(Value base, Value rowOffset, Value unit) {
  return b.load(base, b.add(rowOffset, firstOf(unit)), problem.type, lanes, maskOf(unit));
}

SmallVector<RecurrentEmitter::Values>
RecurrentEmitter::multiplyState(const Place &place, Value source, ArrayRef<unsigned> pass,
                                llvm::function_ref<Value(unsigned row, unsigned unit, unsigned gate)> initial) {
  Value depth = b.i64(problem.hidden);
  TileRows rows;
  rows.kStride = b.i64(1);
  rows.storage = compute;
  Value first = b.address(source, localRow(place.direction, place.row), compute);
  Values sums;
  for (unsigned row = 0; row != place.rows; ++row) {
    rows.pointers.push_back(b.address(first, b.i64(row * rowStride), compute));
    for (unsigned unit = 0; unit != place.units.size(); ++unit)
      for (unsigned gate : pass)
        sums.push_back(initial(row, unit, gate));
  }
  TileColumns columns;
  columns.pointer = r;
  columns.kStride = b.i64(gates * panelColumns);
  columns.storage = problem.type;
  for (Value unit : place.units) {
    Value offset = weightOffset(place.direction, unit, depth);
    for (unsigned gate : pass)
      columns.offsets.push_back(b.add(offset, b.i64(gate * panelColumns)));
  }
  sums = accumulate(b, rows, columns, depth, std::move(sums));
  SmallVector<Values> result(pass.size());
  for (unsigned i = 0; i != sums.size(); ++i)
    result[i % pass.size()].push_back(sums[i]);
  return result;
}

void RecurrentEmitter::storeOutput(const Place &place, unsigned row, unsigned unit, Value output) {
  Value running = isRunning(place, row), line = batchRow(place, row), first = firstOf(place.units[unit]);
  if (y) {
    if (running)
      output = b.select(running, output, b.zero(output.getType()));
    b.store(output, y, b.add(outputRow(place.time, place.direction, line), first), problem.type, maskOf(place.units[unit]));
    return;
  }
  // A row that has ended keeps its h.
  if (running)
    output = b.select(running, output, b.load(previous, localCell(place, row, unit), compute, lanes));
  b.store(output, h, b.add(stateRow(place.direction, line), first), problem.type, maskOf(place.units[unit]));
}

void RecurrentEmitter::emitLstm(const Place &place) {
  const unsigned numUnits = place.units.size();
  auto peephole = [&](Value gate, unsigned index, unsigned unit, Value cell) {
    if (!problem.peephole)
      return gate;
    Value weights = loadUnit(problem.peephole, b.i64((int64_t(place.direction) * 3 + index) * problem.hidden), place.units[unit]);
    return b.fma(weights, cell, gate);
  };
  Values cells, gate[4], gained, next, outputs; // i, o, f, c
  auto loadCells = [&](Value buffer) {
    Values values;
    for (unsigned n = 0; n != place.cells(); ++n)
      values.push_back(b.load(buffer, localCell(place, n / numUnits, n % numUnits), compute, lanes));
    return values;
  };
  for (const Gates &pass : place.passes) {
    SmallVector<Values> sums = multiplyState(place, previous, pass, [&](unsigned row, unsigned unit, unsigned index) {
      return projected(place, row, unit, index);
    });
    for (auto [index, values] : llvm::zip_equal(pass, sums))
      gate[index] = values;
    if (!gained.empty())
      continue;
    if (problem.peephole)
      cells = loadCells(state);
    for (unsigned n = 0; n != place.cells(); ++n) {
      Value input = sigmoid(peephole(gate[0][n], 0, n % numUnits, problem.peephole ? cells[n] : Value()));
      gained.push_back(arith::MulFOp::create(b, input, math::TanhOp::create(b, gate[3][n])));
      // Through memory, or the register allocator would spill in the loop of the next pass.
      if (place.passes.size() > 1)
        b.store(gained.back(), update, localCell(place, n / numUnits, n % numUnits), compute);
    }
  }
  if (place.passes.size() > 1)
    gained = loadCells(update);
  cells = loadCells(state);
  for (unsigned n = 0; n != place.cells(); ++n) {
    const unsigned row = n / numUnits, unit = n % numUnits;
    Value forget = sigmoid(peephole(gate[2][n], 2, unit, cells[n]));
    Value cell = b.fma(forget, cells[n], gained[n]);
    Value output = sigmoid(peephole(gate[1][n], 1, unit, cell));
    outputs.push_back(arith::MulFOp::create(b, output, math::TanhOp::create(b, cell)));
    Value running = isRunning(place, row);
    next.push_back(running ? b.select(running, cell, cells[n]) : cell);
  }
  for (unsigned n = 0; n != place.cells(); ++n) {
    b.store(next[n], state, localCell(place, n / numUnits, n % numUnits), compute);
    storeOutput(place, n / numUnits, n % numUnits, outputs[n]);
  }
}

/// (1 - z) * n + z * h, written so that z = 1 keeps h exactly.
static Value mixed(KernelBuilder &b, Value z, Value candidate, Value previous) {
  Value difference = arith::SubFOp::create(b, previous, candidate);
  return b.fma(z, difference, candidate);
}

void RecurrentEmitter::emitGru(const Place &place) {
  const unsigned numUnits = place.units.size();
  Values gate[3];
  for (const Gates &pass : place.passes) {
    SmallVector<Values> sums = multiplyState(place, previous, pass, [&](unsigned row, unsigned unit, unsigned index) -> Value {
      if (index != 2)
        return projected(place, row, unit, index);
      if (!problem.bias)
        return b.zero(vectorType());
      return loadUnit(problem.bias, b.i64((int64_t(place.direction) * 6 + 5) * problem.hidden), place.units[unit]);
    });
    for (auto [index, values] : llvm::zip_equal(pass, sums))
      gate[index] = values;
  }
  for (unsigned n = 0; n != place.cells(); ++n) {
    const unsigned row = n / numUnits, unit = n % numUnits;
    Value z = sigmoid(gate[0][n]), reset = sigmoid(gate[1][n]);
    Value candidate = math::TanhOp::create(b, b.fma(reset, gate[2][n], projected(place, row, unit, 2)));
    storeOutput(place, row, unit, mixed(b, z, candidate, b.load(previous, localCell(place, row, unit), compute, lanes)));
  }
}

/// First half of a step: z into scratch, r * h into the rows of the result h, which has no other use before the end.
void RecurrentEmitter::emitGruGates(const Place &place) {
  const unsigned numUnits = place.units.size();
  SmallVector<Values> sums = multiplyState(place, previous, place.passes.front(), [&](unsigned row, unsigned unit, unsigned index) {
    return projected(place, row, unit, index);
  });
  for (unsigned n = 0; n != place.cells(); ++n) {
    const unsigned row = n / numUnits, unit = n % numUnits;
    b.store(sigmoid(sums[0][n]), update, localCell(place, row, unit), compute);
    Value product = arith::MulFOp::create(b, sigmoid(sums[1][n]), b.load(previous, localCell(place, row, unit), compute, lanes));
    Value offset = b.add(stateRow(place.direction, batchRow(place, row)), firstOf(place.units[unit]));
    b.store(product, h, offset, problem.type, maskOf(place.units[unit]));
  }
}

void RecurrentEmitter::emitGruCandidate(const Place &place) {
  const unsigned numUnits = place.units.size();
  SmallVector<Values> sums = multiplyState(place, products, place.passes.front(), [&](unsigned row, unsigned unit, unsigned index) {
    return projected(place, row, unit, index);
  });
  for (unsigned n = 0; n != place.cells(); ++n) {
    const unsigned row = n / numUnits, unit = n % numUnits;
    Value z = b.load(update, localCell(place, row, unit), compute, lanes);
    Value before = b.load(previous, localCell(place, row, unit), compute, lanes);
    storeOutput(place, row, unit, mixed(b, z, math::TanhOp::create(b, sums[0][n]), before));
  }
}

void RecurrentEmitter::emitRnn(const Place &place) {
  const unsigned numUnits = place.units.size();
  SmallVector<Values> sums = multiplyState(place, previous, place.passes.front(), [&](unsigned row, unsigned unit, unsigned index) {
    return projected(place, row, unit, index);
  });
  for (unsigned n = 0; n != place.cells(); ++n) {
    Value value = sums[0][n];
    if (problem.cell == RecurrentCell::RnnTanh)
      value = math::TanhOp::create(b, value);
    else // Propagates NaN, as relu does elsewhere.
      value = arith::MaximumFOp::create(b, value, b.zero(value.getType()));
    storeOutput(place, n / numUnits, n % numUnits, value);
  }
}

} // namespace stator::kernel
