// The shapes that the steps of a method have for given inputs, as text: for people who look at a trace. The runtime has them as numbers
// of bytes only, so they are worked out from the artifact's manifest.
#ifndef STATOR_TOOLS_STATOR_BENCH_STEPSHAPES_H
#define STATOR_TOOLS_STATOR_BENCH_STEPSHAPES_H

#include "serialization/Numpy/Npy.h"

#include <string>
#include <vector>

namespace stator::tools {

/// One text per instruction in the order of the session's profile: "1x64x56x56, 64x64x3x3 -> 1x64x56x56".
Result<std::vector<std::string>> stepShapes(const std::string &artifact, const std::string &method,
                                            const std::vector<serialization::NpyArray> &inputs);

} // namespace stator::tools

#endif // STATOR_TOOLS_STATOR_BENCH_STEPSHAPES_H
