#include "compiler/Import/Torch/Aten/Operators.h"

namespace stator::torch {
std::span<const OpEntry> conversionOps() { return {}; }
} // namespace stator::torch
