//===- Strassen.h - products of halves with 7 multiplications --------------===//
//
// With both sides cut into quadrants, a product takes 7 products of sums of
// quadrants in place of 8 of quadrants:
//   P_i = (sum_q left[i][q] A_q) (sum_q right[i][q] B_q),   C_q = sum_i result[i][q] P_i
// with quadrants counted row by row. The sums of a constant B are made when
// weights are packed, those of A once per product, and each P_i is added to the
// quadrants of C while it is in registers. These are Strassen's own sums; the
// form of Winograd has fewer additions, but longer chains of them, and the
// additions that it saves are not the ones that cost time here. See
// docs/design/0005-matmul.md.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_DIALECTS_TARGET_STRASSEN_H
#define STATOR_DIALECTS_TARGET_STRASSEN_H

#include <cstdint>

namespace stator::strassen {

inline constexpr int64_t products = 7;

using Signs = int[products][4];
inline constexpr Signs left = {{1, 0, 0, 1}, {0, 0, 1, 1}, {1, 0, 0, 0}, {0, 0, 0, 1}, {1, 1, 0, 0}, {-1, 0, 1, 0}, {0, 1, 0, -1}};
inline constexpr Signs right = {{1, 0, 0, 1}, {1, 0, 0, 0}, {0, 1, 0, -1}, {-1, 0, 1, 0}, {0, 0, 0, 1}, {1, 1, 0, 0}, {0, 0, 1, 1}};
inline constexpr Signs result = {{1, 0, 0, 1}, {0, 0, 1, -1}, {0, 1, 0, 1}, {1, 0, 1, 0}, {-1, 1, 0, 0}, {0, 0, 0, 1}, {1, 0, 0, 0}};

/// Sizes whose halves are made of whole vectors and whole tiles on every CPU level.
inline constexpr bool canHalve(int64_t depth, int64_t columns) { return depth % 32 == 0 && (columns % 64 == 0 || columns % 96 == 0); }

/// Whether it pays: below, the sums take what the multiplications save.
inline constexpr bool pays(int64_t rows, int64_t depth, int64_t columns) {
  return rows >= 128 && depth >= 384 && columns >= 384 && canHalve(depth, columns);
}

} // namespace stator::strassen

#endif // STATOR_DIALECTS_TARGET_STRASSEN_H
