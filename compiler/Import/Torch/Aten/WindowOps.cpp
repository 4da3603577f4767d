#include "compiler/Import/Torch/Aten/Operators.h"

namespace stator::torch {
std::span<const OpEntry> windowOps() { return {}; }
} // namespace stator::torch
