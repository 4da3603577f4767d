//===- DiagnosticCollector.h - MLIR's diagnostics as the API's -------------===//
//
// While it lives, every diagnostic of the context goes to the caller's
// callback, and the first error is kept for the Status that ends the call.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_DIAGNOSTICCOLLECTOR_H
#define STATOR_COMPILER_DIAGNOSTICCOLLECTOR_H

#include "stator/Compiler.h"

#include "mlir/IR/Diagnostics.h"

#include <mutex>

namespace stator::compiler {

/// "model.mlir:3:5", "node `conv1`", or empty when nothing is known.
std::string placeOf(mlir::Location location);

class DiagnosticCollector {
public:
  DiagnosticCollector(mlir::MLIRContext *context, std::function<void(const Diagnostic &)> callback);

  /// A failure with the first error's place and text, or with `otherwise` when there was none.
  Status failure(StatusCode code, const std::string &otherwise) const;

private:
  void report(const mlir::Diagnostic &diagnostic);

  std::function<void(const Diagnostic &)> callback;
  mutable std::mutex mutex;
  std::string firstError;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace stator::compiler

#endif // STATOR_COMPILER_DIAGNOSTICCOLLECTOR_H
