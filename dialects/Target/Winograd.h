//===- Winograd.h - the transforms of F(m x m, 3x3) ------------------------===//
//
// A 3x3 convolution of stride 1 computes an m x m tile of outputs from an n x n
// tile of inputs, n = m + 2, with n^2 instead of 9 m^2 multiplications per pair
// of channels:
//   y = A^T [ (G w G^T) * (B^T d B) ] A        (* element by element)
// B^T and A^T are applied at run time, G when weights are packed. The matrices
// follow from n - 1 points at which polynomials are evaluated, and infinity
// (Cook and Toom): 0, then pairs +a, -a. The pairs halve the work of the
// transforms, since row(+a) = E + a O and row(-a) = E - a O.
//
// The points of F(4x4) decide its rounding error. 0, +-5/8, +-3/2 are exact in
// binary and within 1 % of the best pair; 0, +-1, +-2 of the literature has twice
// the error. See docs/design/0004-winograd.md.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_DIALECTS_TARGET_WINOGRAD_H
#define STATOR_DIALECTS_TARGET_WINOGRAD_H

#include <array>
#include <cstdint>

namespace stator {

/// Output tiles that there are transforms for: F(2x2) and F(4x4).
inline constexpr bool isWinogradTile(int64_t m) { return m == 2 || m == 4; }

/// The transforms, by their points. Row and column order: 0, +a, -a, +b, -b, infinity.
class WinogradTransform {
public:
  static constexpr unsigned kMaxTile = 4;

  explicit constexpr WinogradTransform(unsigned tile) : m(tile), pairs(tile / 2), a{tile == 2 ? 1.0 : 0.625, 1.5} {}

  /// Edge of the output tile and of the input tile.
  constexpr unsigned tile() const { return m; }
  constexpr unsigned inputs() const { return m + 2; }
  constexpr unsigned elements() const { return inputs() * inputs(); }

  constexpr unsigned pairCount() const { return pairs; }
  /// The positive point of pair `p`.
  constexpr double point(unsigned p) const { return a[p]; }

  /// Product of (x^2 - a^2) over all pairs but `except`, as coefficients of 1, x^2, x^4.
  constexpr std::array<double, 3> evenProduct(unsigned except) const {
    std::array<double, 3> c = {1, 0, 0};
    for (unsigned p = 0; p < pairs; ++p)
      if (p != except)
        c = {-a[p] * a[p] * c[0], c[0] - a[p] * a[p] * c[1], c[1] - a[p] * a[p] * c[2]};
    return c;
  }

  /// G: row r of the weights' transform, for taps 0, 1, 2.
  constexpr double weight(unsigned r, unsigned tap) const {
    if (r == inputs() - 1)
      return tap == 2;
    double x = r == 0 ? 0 : (r % 2 ? 1 : -1) * a[(r - 1) / 2];
    // The product of (x - other point) over the other finite points.
    double norm = 1;
    for (unsigned p = 0; p < pairs; ++p)
      if (r == 0 || p != (r - 1) / 2)
        norm *= x * x - a[p] * a[p];
    if (r != 0)
      norm *= x * (2 * x);
    double power = tap == 0 ? 1 : tap == 1 ? x : x * x;
    return power / norm;
  }

private:
  unsigned m, pairs;
  std::array<double, 2> a;
};

} // namespace stator

#endif // STATOR_DIALECTS_TARGET_WINOGRAD_H
