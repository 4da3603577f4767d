#include "compiler/Import/Torch/Aten/Operators.h"

namespace stator::torch {
std::span<const OpEntry> contractionOps() { return {}; }
} // namespace stator::torch
