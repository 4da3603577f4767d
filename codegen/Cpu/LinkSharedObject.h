//===- LinkSharedObject.h - objects to shared object bytes -----------------===//

#ifndef STATOR_CODEGEN_CPU_LINKSHAREDOBJECT_H
#define STATOR_CODEGEN_CPU_LINKSHAREDOBJECT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace stator::codegen {

/// Links relocatable objects into a shared object with lld, in process; code and data follow their order.
/// An undefined symbol is an error: kernels may call nothing.
/// Thread-safe: calls take turns, since lld keeps global state.
llvm::Expected<std::vector<char>> linkSharedObject(llvm::ArrayRef<llvm::ArrayRef<char>> objects);

} // namespace stator::codegen

#endif // STATOR_CODEGEN_CPU_LINKSHAREDOBJECT_H
