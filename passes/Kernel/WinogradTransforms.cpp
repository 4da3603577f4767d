//===- WinogradTransforms.cpp - input and output tiles of Winograd ---------===//
//
// Vectors run over channels. The transform of a tile, B^T d B, is a pass over
// columns and one over rows. All 36 intermediate values of a 6x6 tile do not fit
// the registers, so two rows of the result are made at a time: rows 0 and 5, 1
// and 2, 3 and 4, which share their terms (the rows of a pair of points are
// E + a O and E - a O). For each column only the inputs that these rows need are
// loaded: 84 loads in place of 36, but nothing goes through the stack.
//
// Tiles that reach over the border read through a table of pixel addresses, in
// which pixels outside are replaced by one of zeros; others have one base
// address and constant offsets. Output tiles at the border go through a buffer,
// from which the pixels that exist are stored one by one.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/WinogradKernel.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace stator::kernel {

WinogradTransforms::WinogradTransforms(KernelBuilder &b, const ConvolutionProblem &problem, unsigned tile, Value input,
                                       ContractionEpilogue &epilogue)
    : b(b), problem(problem), epilogue(epilogue), transform(tile), input(input),
      vectorType(KernelBuilder::laneType(problem.type, b.lanes())) {
  Value edge = b.i64(tile);
  tilesY = b.ceilDiv(b.size(problem.axes[0].output), edge);
  tilesX = b.ceilDiv(b.size(problem.axes[1].output), edge);
  total = b.mul(b.mul(b.size(problem.batch), tilesY), tilesX);
  const int64_t bytes = KernelBuilder::byteSize(problem.type), lanes = b.lanes();
  const int64_t vectors = (problem.channels + lanes - 1) / lanes;
  zeros = b.scratch(vectors * lanes * bytes);
  table = b.scratch(int64_t(transform.elements()) * 8);
  pixels = b.scratch(int64_t(tile) * tile * lanes * bytes);
  b.loop(b.i64(0), b.i64(vectors * lanes), b.i64(lanes), [&](Value i) { b.store(b.zero(vectorType), zeros, i, problem.type); });
}

Value WinogradTransforms::combine(ArrayRef<double> coefficients, ArrayRef<Value> values) {
  // Terms with coefficient 1 first: they need no multiplication.
  SmallVector<std::pair<double, Value>> terms;
  for (auto [coefficient, value] : llvm::zip_equal(coefficients, values))
    if (coefficient != 0)
      terms.emplace_back(coefficient, value);
  llvm::stable_sort(terms, [](const auto &a, const auto &b) { return (a.first == 1) > (b.first == 1); });
  Value sum;
  for (auto [coefficient, value] : terms) {
    if (!sum)
      sum = coefficient == 1 ? value : arith::MulFOp::create(b, b.number(vectorType, coefficient), value).getResult();
    else if (coefficient == 1)
      sum = arith::AddFOp::create(b, sum, value);
    else if (coefficient == -1)
      sum = arith::SubFOp::create(b, sum, value);
    else
      sum = b.fma(b.number(vectorType, coefficient), value, sum);
  }
  return sum;
}

WinogradTransforms::Position WinogradTransforms::positionOf(Value index) {
  Value row = b.div(index, tilesX), edge = b.i64(transform.tile());
  return {b.div(row, tilesY), b.mul(b.rem(row, tilesY), edge), b.mul(b.rem(index, tilesX), edge)};
}

//===----------------------------------------------------------------------===//
// Input
//===----------------------------------------------------------------------===//

std::pair<Value, Value> WinogradTransforms::inputPair(unsigned pair, ArrayRef<Value> d) {
  const unsigned pairs = transform.pairCount();
  auto every = [&](unsigned first, unsigned count) {
    Values values;
    for (unsigned i = 0; i < count; ++i)
      values.push_back(d[first + 2 * i]);
    return values;
  };
  if (pair == 0) {
    auto product = transform.evenProduct(~0u);
    ArrayRef<double> coefficients = ArrayRef(product).take_front(pairs + 1);
    return {combine(coefficients, every(0, pairs + 1)), combine(coefficients, every(1, pairs + 1))};
  }
  auto product = transform.evenProduct(pair - 1);
  ArrayRef<double> coefficients = ArrayRef(product).take_front(pairs);
  Value even = combine(coefficients, every(2, pairs)), odd = combine(coefficients, every(1, pairs));
  double point = transform.point(pair - 1);
  return {combine({1, point}, {even, odd}), combine({1, -point}, {even, odd})};
}

void WinogradTransforms::transformInput(llvm::function_ref<Value(unsigned, unsigned)> load, Value channel, TransformedTile to) {
  const unsigned n = transform.inputs();
  auto placesOf = [&](unsigned pair) { return pair == 0 ? std::pair(0u, n - 1) : std::pair(2 * pair - 1, 2 * pair); };
  for (unsigned pair = 0; pair < n / 2; ++pair) {
    std::array<Values, 2> rows;
    for (unsigned j = 0; j < n; ++j) {
      Values column(n);
      for (unsigned i = 0; i < n; ++i)
        if (pair == 0 || (i > 0 && i + 1 < n))
          column[i] = load(i, j);
      auto [first, second] = inputPair(pair, column);
      rows[0].push_back(first);
      rows[1].push_back(second);
    }
    std::array<unsigned, 2> numbers = {placesOf(pair).first, placesOf(pair).second};
    for (unsigned r = 0; r < 2; ++r)
      for (unsigned across = 0; across < n / 2; ++across) {
        auto [first, second] = inputPair(across, rows[r]);
        auto [left, right] = placesOf(across);
        auto put = [&](Value value, unsigned j) {
          b.store(value, to.base, b.add(channel, b.i64((numbers[r] * n + j) * to.elementStride)), problem.type);
        };
        put(first, left);
        put(second, right);
      }
  }
}

void WinogradTransforms::emitChannels(llvm::function_ref<Value(unsigned, unsigned, Value, Value)> load, TransformedTile to) {
  const int64_t lanes = b.lanes(), whole = problem.channels / lanes * lanes;
  auto vector = [&](Value channel, Value mask) {
    transformInput([&](unsigned i, unsigned j) { return load(i, j, channel, mask); }, channel, to);
  };
  if (whole)
    b.loop(b.i64(0), b.i64(whole), b.i64(lanes), [&](Value channel) { vector(channel, {}); });
  if (whole != problem.channels)
    vector(b.i64(whole), b.maskBelow(b.i64(problem.channels - whole), lanes));
}

void WinogradTransforms::emitInput(Value index, TransformedTile to) {
  const int64_t n = transform.inputs();
  Position position = positionOf(index);
  Value height = b.size(problem.axes[0].input), width = b.size(problem.axes[1].input), stride = b.i64(problem.pixelStride);
  Value y = b.sub(position.y, b.i64(problem.axes[0].padLow)), x = b.sub(position.x, b.i64(problem.axes[1].padLow));
  auto addressOf = [&](Value row, Value column) {
    Value pixel = b.add(b.mul(b.add(b.mul(position.image, height), row), width), column);
    return b.address(input, b.mul(pixel, stride), problem.type);
  };
  auto isBetween = [&](Value first, Value last, Value size) -> Value {
    return arith::AndIOp::create(b, b.compare(arith::CmpIPredicate::sge, first, b.i64(0)), b.less(last, size));
  };
  Value isInside = arith::AndIOp::create(b, isBetween(y, b.add(y, b.i64(n - 1)), height), isBetween(x, b.add(x, b.i64(n - 1)), width));
  b.ifElse(
      isInside,
      [&] {
        Value base = addressOf(y, x), rowStride = b.mul(width, stride);
        auto load = [&](unsigned i, unsigned j, Value channel, Value mask) {
          Value offset = b.add(b.mul(b.i64(i), rowStride), b.i64(int64_t(j) * problem.pixelStride));
          return b.load(b.address(base, offset, problem.type), channel, problem.type, b.lanes(), mask);
        };
        emitChannels(load, to);
      },
      [&] {
        Type pointer = LLVM::LLVMPointerType::get(b.getContext());
        b.loop(b.i64(0), b.i64(n), b.i64(1), [&](Value i) {
          b.loop(b.i64(0), b.i64(n), b.i64(1), [&](Value j) {
            Value row = b.add(y, i), column = b.add(x, j);
            Value isPixel = arith::AndIOp::create(b, isBetween(row, row, height), isBetween(column, column, width));
            Value address = b.select(isPixel, addressOf(row, column), zeros);
            LLVM::StoreOp::create(b, address, b.address(table, b.add(b.mul(i, b.i64(n)), j), b.getI64Type()), 8);
          });
        });
        auto load = [&](unsigned i, unsigned j, Value channel, Value mask) {
          Value place = b.address(table, b.i64(i * n + j), b.getI64Type());
          Value base = LLVM::LoadOp::create(b, pointer, place, 8);
          return b.load(base, channel, problem.type, b.lanes(), mask);
        };
        emitChannels(load, to);
      });
}

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

WinogradTransforms::Values WinogradTransforms::outputColumn(ArrayRef<Value> m) {
  const unsigned n = transform.inputs(), pairs = transform.pairCount();
  Values sums, differences, result;
  for (unsigned p = 0; p < pairs; ++p) {
    sums.push_back(arith::AddFOp::create(b, m[1 + 2 * p], m[2 + 2 * p]));
    differences.push_back(arith::SubFOp::create(b, m[1 + 2 * p], m[2 + 2 * p]));
  }
  for (unsigned i = 0; i < transform.tile(); ++i) {
    SmallVector<double> coefficients;
    Values terms = i % 2 ? differences : sums;
    for (unsigned p = 0; p < pairs; ++p) {
      double power = 1;
      for (unsigned k = 0; k < i; ++k)
        power *= transform.point(p);
      coefficients.push_back(power);
    }
    if (i == 0) {
      coefficients.push_back(1);
      terms.push_back(m[0]);
    }
    if (i + 1 == transform.tile()) {
      coefficients.push_back(1);
      terms.push_back(m[n - 1]);
    }
    result.push_back(combine(coefficients, terms));
  }
  return result;
}

void WinogradTransforms::emitOutputVector(const Position &position, TransformedTile from, Value offset, Value column, Value mask) {
  const unsigned n = transform.inputs(), m = transform.tile();
  SmallVector<Values> rows(m);
  for (unsigned j = 0; j < n; ++j) {
    Values elements;
    for (unsigned i = 0; i < n; ++i)
      elements.push_back(b.load(from.base, b.add(offset, b.i64((i * n + j) * from.elementStride)), problem.type, b.lanes()));
    for (auto [i, value] : llvm::enumerate(outputColumn(elements)))
      rows[i].push_back(value);
  }
  Values outputs;
  for (unsigned i = 0; i < m; ++i)
    llvm::append_range(outputs, outputColumn(rows[i]));

  auto at = [&](Value i, Value j) { return SmallVector<Value>{position.image, b.add(position.y, i), b.add(position.x, j)}; };
  auto whole = [&] {
    TilePosition place;
    place.rowIndices = [&](Value row) { return at(b.div(row, b.i64(m)), b.rem(row, b.i64(m))); };
    place.column = column;
    place.masks = {mask};
    epilogue.emit({m * m, 1}, place, outputs);
  };
  Value height = b.size(problem.axes[0].output), width = b.size(problem.axes[1].output);
  auto fits = [&](Value size) { return constantOf(size) && *constantOf(size) % m == 0; };
  if (fits(height) && fits(width))
    return whole();
  Value rowsLeft = b.sub(height, position.y), columnsLeft = b.sub(width, position.x), edge = b.i64(m);
  auto isWhole = arith::AndIOp::create(b, b.compare(arith::CmpIPredicate::sge, rowsLeft, edge),
                                       b.compare(arith::CmpIPredicate::sge, columnsLeft, edge));
  b.ifElse(isWhole, whole, [&] {
    for (auto [i, value] : llvm::enumerate(outputs))
      b.store(value, pixels, b.i64(i * b.lanes()), problem.type);
    b.loop(b.i64(0), b.min(rowsLeft, edge), b.i64(1), [&](Value i) {
      b.loop(b.i64(0), b.min(columnsLeft, edge), b.i64(1), [&](Value j) {
        Value place = b.mul(b.add(b.mul(i, edge), j), b.i64(b.lanes()));
        Value output = b.load(pixels, place, problem.type, b.lanes());
        TilePosition pixel;
        pixel.rowIndices = [&](Value) { return at(i, j); };
        pixel.column = column;
        pixel.masks = {mask};
        epilogue.emit({1, 1}, pixel, output);
      });
    });
  });
}

void WinogradTransforms::emitOutput(Value index, TransformedTile from, Value column, ArrayRef<Value> masks) {
  Position position = positionOf(index);
  const int64_t lanes = b.lanes();
  size_t unmasked = 0;
  while (unmasked < masks.size() && !masks[unmasked])
    ++unmasked;
  if (unmasked > 1)
    b.loop(b.i64(0), b.i64(int64_t(unmasked) * lanes), b.i64(lanes),
           [&](Value offset) { emitOutputVector(position, from, offset, b.add(column, offset), {}); });
  else if (unmasked == 1)
    emitOutputVector(position, from, b.i64(0), column, {});
  for (size_t v = unmasked; v < masks.size(); ++v)
    emitOutputVector(position, from, b.i64(int64_t(v) * lanes), b.add(column, b.i64(int64_t(v) * lanes)), masks[v]);
}

} // namespace stator::kernel
