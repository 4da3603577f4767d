#include "compiler/Import/Torch/Aten/Operators.h"

namespace stator::torch {
std::span<const OpEntry> recurrentOps() { return {}; }
} // namespace stator::torch
