#include "compiler/Import/Torch/Aten/Operators.h"

namespace stator::torch {
std::span<const OpEntry> indexingOps() { return {}; }
} // namespace stator::torch
