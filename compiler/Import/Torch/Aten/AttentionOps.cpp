#include "compiler/Import/Torch/Aten/Operators.h"

namespace stator::torch {
std::span<const OpEntry> attentionOps() { return {}; }
} // namespace stator::torch
