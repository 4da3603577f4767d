//===- PackedLayouts.h - how weights lie in memory for our kernels ---------===//
//
// Weights are packed once, at compile time, into one layout per kernel family
// that the kernels of every CPU level read: a panel holds 16 neighbouring
// output columns of one k index, which is one 512-bit, two 256-bit or four
// 128-bit vectors of f32. Wider register tiles read neighbouring panels. Edges
// are padded with zeros, so a kernel loads whole vectors and masks only what
// it stores. The element type is that of the weights.
//
// Data only: the parameter recipes write these layouts, the optimiser names
// them, the kernel emitters read them.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_DIALECTS_TARGET_PACKEDLAYOUTS_H
#define STATOR_DIALECTS_TARGET_PACKEDLAYOUTS_H

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace stator {

/// Columns of one panel, whatever the element type and the level.
inline constexpr int64_t panelColumns = 16;

inline constexpr int64_t panelsOf(int64_t columns) { return (columns + panelColumns - 1) / panelColumns; }

/// Right-hand side of a matrix product. From [batch.., K, N] to
///   [batch..][ceil(N/16)][K][16]
/// element (b, p, k, i) = source (b, k, 16 p + i), 0 where 16 p + i >= N.
inline constexpr std::string_view matmulPanelsLayout = "matmul_panels16";

/// Right-hand side of a product by Strassen's algorithm (Strassen.h). From [K, N], K even and N a multiple of 32, to
///   [7][N/2/16][K/2][16]
/// element (i, p, k, j) = sum over quadrants q of right[i][q] * source quadrant q at (k, 16 p + j).
inline constexpr std::string_view strassenPanelsLayout = "strassen_panels16";

/// Filter of a convolution in groups. From OIHW (any spatial rank), O = groups * Og, to
///   [groups][ceil(Og/16)][taps * Cg][16]
/// element (g, p, t * Cg + c, i) = source (g Og + 16 p + i, c, tap t), 0 where 16 p + i >= Og;
/// taps are counted row-major over the filter's spatial dims (kd, kh, kw), c is the fastest.
inline constexpr std::string_view convPanelsLayout = "conv_panels16";

/// 3x3 filter, transformed for a Winograd convolution F(m x m, 3x3), n = m + 2 (Winograd.h). From OIHW to
///   [ceil(O/16)][n * n][I][16]
/// element (p, r * n + s, c, i) = (G w G^T)(r, s) for w = source (16 p + i, c), 0 where 16 p + i >= O.
inline constexpr std::string_view winogradPanelsLayout = "winograd_panels16";

/// Depthwise filter (groups == channels == outputs). From [C, 1, spatial..] to
///   [taps][C]
/// element (t, c) = source (c, 0, tap t); no padding.
inline constexpr std::string_view depthwiseLayout = "depthwise_taps";

/// Weights of a recurrent op, input or recurrent part. From [D, G * H, X] (G gates of H rows) to
///   [D][ceil(H/16)][X][G][16]
/// element (d, p, x, g, i) = source (d, g H + 16 p + i, x), 0 where 16 p + i >= H.
/// A tile of 16 hidden units reads all their gates as one stream.
inline constexpr std::string_view recurrentPanelsLayout = "recurrent_panels16";

/// Dims of the packed tensors. `source` is the shape before packing, as described at each layout.
inline std::vector<int64_t> matmulPanelsShape(const std::vector<int64_t> &source) {
  std::vector<int64_t> shape(source.begin(), source.end() - 2);
  int64_t k = source[source.size() - 2], n = source[source.size() - 1];
  shape.insert(shape.end(), {panelsOf(n), k, panelColumns});
  return shape;
}

inline std::array<int64_t, 4> strassenPanelsShape(int64_t depth, int64_t columns) {
  return {7, panelsOf(columns / 2), depth / 2, panelColumns};
}

inline std::array<int64_t, 4> convPanelsShape(const std::vector<int64_t> &oihw, int64_t groups) {
  int64_t depth = oihw[1];
  for (size_t i = 2; i < oihw.size(); ++i)
    depth *= oihw[i];
  return {groups, panelsOf(oihw[0] / groups), depth, panelColumns};
}

inline std::array<int64_t, 4> winogradPanelsShape(const std::vector<int64_t> &oihw, int64_t tile) {
  return {panelsOf(oihw[0]), (tile + 2) * (tile + 2), oihw[1], panelColumns};
}

inline std::array<int64_t, 2> depthwiseShape(const std::vector<int64_t> &oihw) {
  int64_t taps = 1;
  for (size_t i = 2; i < oihw.size(); ++i)
    taps *= oihw[i];
  return {taps, oihw[0]};
}

inline std::array<int64_t, 5> recurrentPanelsShape(const std::vector<int64_t> &source, int64_t gates) {
  return {source[0], panelsOf(source[1] / gates), source[2], gates, panelColumns};
}

} // namespace stator

#endif // STATOR_DIALECTS_TARGET_PACKEDLAYOUTS_H
