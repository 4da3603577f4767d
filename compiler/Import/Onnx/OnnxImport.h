//===- OnnxImport.h - from an ONNX file to the graph dialect ---------------===//
//
// The importer is a program that calls the tracing API node by node. What an
// op means is written in fn:: (compiler/include/stator/TraceFunctions.h); here
// are the file format, the differences between opsets, and diagnostics.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_IMPORT_ONNX_ONNXIMPORT_H
#define STATOR_COMPILER_IMPORT_ONNX_ONNXIMPORT_H

#include "compiler/Import/ImportOptions.h"
#include "compiler/Import/ImportedModel.h"

#include "mlir/IR/MLIRContext.h"

#include <string>

namespace stator::onnx {

/// The opsets of the default domain that are read. Before 6 every op had another form.
inline constexpr int64_t minimumOpset = 6, maximumOpset = 27;

/// Imports `path` into `context`, which gets the dialects that it needs. Weights stay in the mapped file. Never throws.
compiler::ImportedModel importOnnx(const std::string &path, const compiler::ImportOptions &options, mlir::MLIRContext &context);

} // namespace stator::onnx

#endif // STATOR_COMPILER_IMPORT_ONNX_ONNXIMPORT_H
