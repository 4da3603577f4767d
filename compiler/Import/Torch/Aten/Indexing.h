// What operators that read and write at positions share.
#ifndef STATOR_COMPILER_IMPORT_TORCH_ATEN_INDEXING_H
#define STATOR_COMPILER_IMPORT_TORCH_ATEN_INDEXING_H

#include "compiler/Import/Torch/Aten/Views.h"

namespace stator::torch {

/// i64 positions with those below zero counted from the end of an axis of this size.
trace::Tensor wrappedIndex(const trace::Tensor &index, const trace::Dim &size);

} // namespace stator::torch

#endif // STATOR_COMPILER_IMPORT_TORCH_ATEN_INDEXING_H
