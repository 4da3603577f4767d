#include "compiler/Import/Torch/Aten/Operators.h"

namespace stator::torch {
std::span<const OpEntry> rangeOps() { return {}; }
} // namespace stator::torch
