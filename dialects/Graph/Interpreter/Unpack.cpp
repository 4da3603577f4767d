// See Unpack.h. Each loop walks the plain tensor and computes where the packed one keeps the element.
#include "dialects/Graph/Interpreter/Unpack.h"

#include "dialects/Target/PackedLayouts.h"
#include "dialects/Target/Winograd.h"

using namespace mlir;

namespace stator::graph {

TensorValue unpackMatmul(const TensorValue &packed, int64_t columns) {
  SmallVector<int64_t> shape(ArrayRef<int64_t>(packed.shape).drop_back(3));
  int64_t batches = elementCount(shape), panels = packed.shape[packed.rank() - 3], depth = packed.shape[packed.rank() - 2];
  shape.append({depth, columns});
  TensorValue plain(packed.type, shape);
  for (int64_t b = 0; b < batches; ++b)
    for (int64_t k = 0; k < depth; ++k)
      for (int64_t n = 0; n < columns; ++n)
        plain.copyElement((b * depth + k) * columns + n, packed,
                          ((b * panels + n / panelColumns) * depth + k) * panelColumns + n % panelColumns);
  return plain;
}

TensorValue unpackFilter(const TensorValue &packed, ArrayRef<int64_t> shape, int64_t groups) {
  TensorValue plain(packed.type, shape);
  int64_t outputs = shape[0], channels = shape[1], taps = elementCount(shape.drop_front(2));
  int64_t perGroup = outputs / groups, panels = panelsOf(perGroup);
  for (int64_t o = 0; o < outputs; ++o)
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t t = 0; t < taps; ++t) {
        int64_t group = o / perGroup, column = o % perGroup;
        int64_t panel = group * panels + column / panelColumns;
        int64_t from =
            packed.rank() == 2 ? t * outputs + o : (panel * taps * channels + t * channels + c) * panelColumns + column % panelColumns;
        plain.copyElement((o * channels + c) * taps + t, packed, from);
      }
  return plain;
}

TensorValue unpackWinograd(const TensorValue &packed, ArrayRef<int64_t> shape, int64_t tile) {
  const WinogradTransform transform(tile);
  const unsigned n = transform.inputs();
  TensorValue plain(packed.type, shape);
  // G w = u: rows 0 and infinity are multiples of taps 0 and 2, and the difference of the rows of a pair is one of tap 1.
  auto solve = [&](llvm::function_ref<double(unsigned)> u) {
    return std::array<double, 3>{u(0) / transform.weight(0, 0), (u(1) - u(2)) / (2 * transform.weight(1, 1)), u(n - 1)};
  };
  for (int64_t o = 0; o < shape[0]; ++o)
    for (int64_t c = 0; c < shape[1]; ++c) {
      auto element = [&](unsigned r, unsigned s) {
        int64_t row = (o / panelColumns * transform.elements() + r * n + s) * shape[1] + c;
        return packed.real(row * panelColumns + o % panelColumns);
      };
      std::array<std::array<double, 3>, WinogradTransform::kMaxTile + 2> rows;
      for (unsigned r = 0; r < n; ++r)
        rows[r] = solve([&](unsigned s) { return element(r, s); });
      for (unsigned x = 0; x < 3; ++x) {
        std::array<double, 3> column = solve([&](unsigned r) { return rows[r][x]; });
        for (unsigned y = 0; y < 3; ++y)
          plain.setReal((o * shape[1] + c) * 9 + y * 3 + x, column[y]);
      }
    }
  return plain;
}

TensorValue unpackRecurrent(const TensorValue &packed, int64_t hidden) {
  int64_t directions = packed.shape[0], panels = packed.shape[1], inputs = packed.shape[2], gates = packed.shape[3];
  TensorValue plain(packed.type, {directions, gates * hidden, inputs});
  for (int64_t d = 0; d < directions; ++d)
    for (int64_t g = 0; g < gates; ++g)
      for (int64_t h = 0; h < hidden; ++h)
        for (int64_t x = 0; x < inputs; ++x)
          plain.copyElement(((d * gates + g) * hidden + h) * inputs + x, packed,
                            (((d * panels + h / panelColumns) * inputs + x) * gates + g) * panelColumns + h % panelColumns);
  return plain;
}

} // namespace stator::graph
