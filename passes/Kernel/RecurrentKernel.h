//===- RecurrentKernel.h - LSTM, GRU and plain recurrent layers ------------===//
//
// A whole sequence in one kernel; see RecurrentKernel.cpp for how the work is
// arranged.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_PASSES_KERNEL_RECURRENTKERNEL_H
#define STATOR_PASSES_KERNEL_RECURRENTKERNEL_H

#include "passes/Kernel/ContractionTile.h"

namespace stator::kernel {

enum class RecurrentCell { Lstm, Gru, GruLinearBeforeReset, RnnTanh, RnnRelu };

/// Buffers are null where the operand or the result is absent.
struct RecurrentProblem {
  RecurrentCell cell = RecurrentCell::Lstm;
  bool isReverse = false; // the first direction; the second always is
  unsigned directions = 1;
  DimExpr steps, batch, inputs;
  int64_t hidden = 0;
  /// Weights have the layout `recurrentPanelsLayout`, otherwise they are packed in the kernel.
  bool isPacked = false;
  mlir::Type type, lengthType;
  mlir::Value x, w, r, bias, initialH, initialC, peephole, lengths;
  mlir::Value y, h, c;

  unsigned gates() const {
    return cell == RecurrentCell::Lstm ? 4 : cell == RecurrentCell::Gru || cell == RecurrentCell::GruLinearBeforeReset ? 3 : 1;
  }
};

void emitRecurrent(KernelBuilder &b, const RecurrentProblem &problem);

} // namespace stator::kernel

#endif // STATOR_PASSES_KERNEL_RECURRENTKERNEL_H
