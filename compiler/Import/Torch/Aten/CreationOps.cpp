#include "compiler/Import/Torch/Aten/Operators.h"

namespace stator::torch {
std::span<const OpEntry> creationOps() { return {}; }
} // namespace stator::torch
