#include "compiler/Import/Torch/Aten/Operators.h"

namespace stator::torch {
std::span<const OpEntry> lookupOps() { return {}; }
} // namespace stator::torch
