#include "compiler/Import/Torch/Aten/Operators.h"

namespace stator::torch {
std::span<const OpEntry> activationOps() { return {}; }
} // namespace stator::torch
