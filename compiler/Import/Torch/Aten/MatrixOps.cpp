#include "compiler/Import/Torch/Aten/Operators.h"

namespace stator::torch {
std::span<const OpEntry> matrixOps() { return {}; }
} // namespace stator::torch
