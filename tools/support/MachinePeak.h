// What this machine can do at best: the figures that a profile is compared with. Measured on the spot, since clock rates, vector units and
// memory differ even between machines of one name; takes less than 0.3 s.
#ifndef STATOR_TOOLS_SUPPORT_MACHINEPEAK_H
#define STATOR_TOOLS_SUPPORT_MACHINEPEAK_H

#include <utility>
#include <vector>

namespace stator::tools {

struct MachinePeak {
  int threads = 1;
  /// Bits of a vector and the f32 arithmetic of all threads together in GFLOP/s, widest last. With fused multiply-add where there is one.
  std::vector<std::pair<int, double>> arithmetic;
  /// Reading, by all threads together.
  double cacheGbPerS = 0; ///< From the second-level cache.
  double memoryGbPerS = 0;

  /// The best of the widths.
  double gflops() const;
};

MachinePeak measureMachinePeak(int threads);

} // namespace stator::tools

#endif // STATOR_TOOLS_SUPPORT_MACHINEPEAK_H
