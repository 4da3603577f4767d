//===- CompilerIdentity.h - which compiler is this -------------------------===//

#ifndef STATOR_CODEGEN_CACHE_COMPILERIDENTITY_H
#define STATOR_CODEGEN_CACHE_COMPILERIDENTITY_H

#include <string>

namespace stator::codegen {

/// Differs between any two builds of the compiler that could generate different code, released or not: part of every key of the compile
/// cache. Empty when it cannot be told, and then there must be no cache.
const std::string &compilerIdentity();

} // namespace stator::codegen

#endif // STATOR_CODEGEN_CACHE_COMPILERIDENTITY_H
