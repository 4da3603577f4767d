#include "compiler/Import/Torch/Aten/Operators.h"

namespace stator::torch {
std::span<const OpEntry> unaryOps() { return {}; }
} // namespace stator::torch
