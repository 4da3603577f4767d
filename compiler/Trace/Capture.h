// Diagnostics of the dialect as text: the tracing API reports errors as Status, never on stderr.
#ifndef STATOR_COMPILER_TRACE_CAPTURE_H
#define STATOR_COMPILER_TRACE_CAPTURE_H

#include "mlir/IR/Diagnostics.h"

#include <string>

namespace stator::trace {

/// While it lives, errors emitted in the context are collected here.
class DiagnosticCapture {
public:
  explicit DiagnosticCapture(mlir::MLIRContext *context)
      : handler_(context, [this](mlir::Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
            append(diagnostic);
          return mlir::success();
        }) {}

  const std::string &text() const { return text_; }

private:
  void append(mlir::Diagnostic &diagnostic) {
    text_ += (text_.empty() ? "" : "; ") + diagnostic.str();
    for (mlir::Diagnostic &note : diagnostic.getNotes())
      text_ += "; " + note.str();
  }

  std::string text_;
  mlir::ScopedDiagnosticHandler handler_;
};

} // namespace stator::trace

#endif // STATOR_COMPILER_TRACE_CAPTURE_H
