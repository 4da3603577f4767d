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
#include "stator/Status.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>
#include <vector>

namespace stator::onnx {

/// The opsets of the default domain that are read. Before 6 every op had another form.
inline constexpr int64_t minimumOpset = 6, maximumOpset = 27;

/// One node that cannot be imported.
struct UnsupportedNode {
  std::string node;
  std::string op; // with its domain unless that is the default one
  int64_t opset = 0;
  std::string operands; // types and shapes where they are known: "f32[1, 3, N], i64[2]"
  std::string reason;
};

struct ImportResult {
  /// Set when status is ok.
  mlir::OwningOpRef<mlir::ModuleOp> module;
  Status status;
  /// Every node without a counterpart; the importer goes on past them to find all.
  std::vector<UnsupportedNode> unsupported;
  /// Nodes seen and supported, by op, for reports.
  std::vector<std::pair<std::string, unsigned>> operators;
  std::string producer;
  int64_t opset = 0;
};

/// Imports `path` into `context`, which gets the dialects that it needs. Weights stay in the mapped file. Never throws.
ImportResult importOnnx(const std::string &path, const compiler::ImportOptions &options, mlir::MLIRContext &context);

} // namespace stator::onnx

#endif // STATOR_COMPILER_IMPORT_ONNX_ONNXIMPORT_H
