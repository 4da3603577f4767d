// The reader of recipe `pack_strassen`: sums of the quadrants of a matrix, in double, rounded once to its element type, in panels.
#include "dialects/Graph/NumberFormats.h"
#include "dialects/Graph/ParameterReaders.h"
#include "dialects/Target/PackedLayouts.h"
#include "dialects/Target/Strassen.h"

using namespace mlir;

namespace stator::graph {

namespace {

class StrassenReader : public ParameterReader {
public:
  StrassenReader(RankedTensorType type, std::unique_ptr<ParameterReader> source, bool isTransposed)
      : ParameterReader(type), source(std::move(source)), element(elementTypeOf(type.getElementType())), panels(type.getShape()[1]),
        depth(type.getShape()[2]) {
    ArrayRef<int64_t> matrix = this->source->type().getShape();
    rowStride = isTransposed ? 1 : matrix[1];
    columnStride = isTransposed ? matrix[1] : 1;
  }

  void read(int64_t first, int64_t stride, int64_t n, char *out) const override {
    while (n > 0) {
      int64_t row = first / panelColumns, column = first % panelColumns;
      int64_t taken = stride == 1 ? std::min(n, panelColumns - column) : 1;
      readRow(row, column, taken, out);
      out += taken * elementBytes();
      first += taken * stride;
      n -= taken;
    }
  }

private:
  /// Columns [column, column + count) of one row of a panel.
  void readRow(int64_t row, int64_t column, int64_t count, char *out) const {
    int64_t k = row % depth, panel = row / depth % panels, product = row / depth / panels;
    double sums[panelColumns] = {};
    char raw[panelColumns * sizeof(double)];
    for (int64_t q = 0; q < 4; ++q) {
      int sign = strassen::right[product][q];
      if (sign == 0)
        continue;
      int64_t sourceRow = q / 2 * depth + k, sourceColumn = (q % 2 * panels + panel) * panelColumns + column;
      source->read(sourceRow * rowStride + sourceColumn * columnStride, columnStride, count, raw);
      for (int64_t i = 0; i < count; ++i)
        sums[i] += sign * loadDouble(element, raw + i * elementBytes());
    }
    for (int64_t i = 0; i < count; ++i)
      storeDouble(element, out + i * elementBytes(), sums[i]);
  }

  std::unique_ptr<ParameterReader> source;
  ElementType element;
  int64_t panels, depth, rowStride, columnStride;
};

} // namespace

std::unique_ptr<ParameterReader> openStrassen(RankedTensorType type, std::unique_ptr<ParameterReader> source, bool isTransposed) {
  return std::make_unique<StrassenReader>(type, std::move(source), isTransposed);
}

} // namespace stator::graph
