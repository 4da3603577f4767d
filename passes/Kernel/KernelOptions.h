//===- KernelOptions.h - what kernels are generated for --------------------===//
//
// The one thing that kernel passes need to know about the processor: how wide
// its vectors are. Everything else is left to the backend, which gets the level
// by name.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_PASSES_KERNEL_KERNELOPTIONS_H
#define STATOR_PASSES_KERNEL_KERNELOPTIONS_H

namespace stator::kernel {

struct KernelOptions {
  /// 128 (x86-64-v2), 256 (v3) or 512 (v4).
  unsigned vectorBits = 512;
  /// Architectural vector registers: bounds register tiles.
  unsigned vectorRegisters = 32;

  /// f32 lanes of one vector register. Kernels use this many lanes for every element type, so that masks and indices fit all of them.
  unsigned lanes() const { return vectorBits / 32; }
  /// F16C: conversions between f16 and f32 in hardware.
  bool hasHalfConversion() const { return vectorBits >= 256; }
  /// Masked loads and stores are single instructions; below, a tail is cheaper as scalar code.
  bool hasMasks() const { return vectorBits >= 256; }
};

} // namespace stator::kernel

#endif // STATOR_PASSES_KERNEL_KERNELOPTIONS_H
