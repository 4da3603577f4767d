#include "compiler/Import/Torch/Aten/Operators.h"

namespace stator::torch {
std::span<const OpEntry> scatterOps() { return {}; }
} // namespace stator::torch
