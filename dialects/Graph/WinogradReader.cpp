// The reader of recipe `pack_winograd`: filters become (G w G^T) in double, rounded once to their element type. All elements of a panel
// of 16 output channels come from the same filters, which lie together in the source; so a panel is read and transformed as a whole when
// its first element is asked for, and kept until another panel is.
#include "dialects/Graph/NumberFormats.h"
#include "dialects/Graph/ParameterReaders.h"
#include "dialects/Target/PackedLayouts.h"
#include "dialects/Target/Winograd.h"

#include <mutex>

using namespace mlir;

namespace stator::graph {

namespace {

class WinogradReader : public ParameterReader {
public:
  WinogradReader(RankedTensorType type, std::unique_ptr<ParameterReader> source, int64_t tile)
      : ParameterReader(type), source(std::move(source)), transform(tile), element(elementTypeOf(type.getElementType())),
        outputs(this->source->type().getShape()[0]), channels(this->source->type().getShape()[1]),
        panelSize(type.getShape()[1] * channels * panelColumns) {
    for (unsigned r = 0; r < transform.inputs(); ++r)
      for (unsigned tap = 0; tap < 3; ++tap)
        g[r][tap] = transform.weight(r, tap);
  }

  void read(int64_t first, int64_t stride, int64_t n, char *out) const override {
    std::lock_guard lock(mutex);
    while (n > 0) {
      int64_t panel = first / panelSize, offset = first % panelSize;
      int64_t taken = std::min(n, (panelSize - offset + stride - 1) / stride);
      if (panel != known)
        makePanel(panel);
      for (int64_t i = 0; i < taken; ++i)
        std::memcpy(out + i * elementBytes(), bytes.data() + (offset + i * stride) * elementBytes(), elementBytes());
      out += taken * elementBytes();
      first += taken * stride;
      n -= taken;
    }
  }

private:
  void makePanel(int64_t panel) const {
    const unsigned n = transform.inputs();
    const int64_t taps = 9, columns = std::min(panelColumns, outputs - panel * panelColumns);
    std::vector<char> raw(columns * channels * taps * elementBytes());
    source->read(panel * panelColumns * channels * taps, 1, columns * channels * taps, raw.data());
    bytes.assign(panelSize * elementBytes(), 0);
    for (int64_t i = 0; i < columns; ++i)
      for (int64_t c = 0; c < channels; ++c) {
        double w[3][3], rows[WinogradTransform::kMaxTile + 2][3];
        for (int64_t t = 0; t < taps; ++t)
          w[t / 3][t % 3] = loadDouble(element, raw.data() + ((i * channels + c) * taps + t) * elementBytes());
        for (unsigned r = 0; r < n; ++r)
          for (unsigned x = 0; x < 3; ++x)
            rows[r][x] = g[r][0] * w[0][x] + g[r][1] * w[1][x] + g[r][2] * w[2][x];
        for (unsigned r = 0; r < n; ++r)
          for (unsigned s = 0; s < n; ++s) {
            double value = g[s][0] * rows[r][0] + g[s][1] * rows[r][1] + g[s][2] * rows[r][2];
            storeDouble(element, bytes.data() + (((r * n + s) * channels + c) * panelColumns + i) * elementBytes(), value);
          }
      }
    known = panel;
  }

  std::unique_ptr<ParameterReader> source;
  WinogradTransform transform;
  double g[WinogradTransform::kMaxTile + 2][3];
  ElementType element;
  int64_t outputs, channels, panelSize;
  // The panel that was asked for last. Readers may be used by several threads.
  mutable std::mutex mutex;
  mutable int64_t known = -1;
  mutable std::vector<char> bytes;
};

} // namespace

std::unique_ptr<ParameterReader> openWinograd(RankedTensorType type, std::unique_ptr<ParameterReader> source, int64_t tile) {
  return std::make_unique<WinogradReader>(type, std::move(source), tile);
}

} // namespace stator::graph
