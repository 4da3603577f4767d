//===- ParameterSideFile.h - the bytes that a dump of IR leaves out --------===//
//
// A dump folder holds the IR of every stage as text, in which parameters only
// say (source, offset), and one file with the bytes of all sources, so that a
// later run can start from any of the texts.
//
// `parameters.bin`: the 8 bytes "STATPAR1"; the number of sources as 64 bits;
// for each source its offset and size in the file, 64 bits each; the sources,
// each aligned to 64 bytes. Everything is little-endian.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_PARAMETERSIDEFILE_H
#define STATOR_COMPILER_PARAMETERSIDEFILE_H

#include "dialects/Graph/ParameterStore.h"
#include "stator/Result.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace stator::compiler {

inline constexpr char kParameterSideFileName[] = "parameters.bin";

/// Writes all sources of `store` to `path`.
Status writeParameterSideFile(const graph::ParameterStore &store, const std::string &path);

/// Maps `path` and makes the parameters of `module`, whose sources are those of the run that wrote the file, refer to it.
Status readParameterSideFile(mlir::ModuleOp module, const std::string &path);

} // namespace stator::compiler

#endif // STATOR_COMPILER_PARAMETERSIDEFILE_H
