// Diagnostics of the dialect as text: the tracing API reports errors as Status, never on stderr.
#ifndef STATOR_COMPILER_TRACE_CAPTURE_H
#define STATOR_COMPILER_TRACE_CAPTURE_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"

#include <string>

namespace stator::trace {

/// While it lives, errors emitted in the context are collected here.
class DiagnosticCapture {
public:
  /// `withNames`: the name of the node that an error is about stands in front of it.
  explicit DiagnosticCapture(mlir::MLIRContext *context, bool withNames = false)
      : withNames_(withNames), handler_(context, [this](mlir::Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
            append(diagnostic);
          return mlir::success();
        }) {}

  const std::string &text() const { return text_; }

private:
  void append(mlir::Diagnostic &diagnostic) {
    text_ += text_.empty() ? "" : "; ";
    if (auto name = withNames_ ? llvm::dyn_cast<mlir::NameLoc>(diagnostic.getLocation()) : mlir::NameLoc())
      text_ += "`" + name.getName().str() + "`: ";
    text_ += diagnostic.str();
    for (mlir::Diagnostic &note : diagnostic.getNotes())
      text_ += "; " + note.str();
  }

  std::string text_;
  bool withNames_;
  mlir::ScopedDiagnosticHandler handler_;
};

} // namespace stator::trace

#endif // STATOR_COMPILER_TRACE_CAPTURE_H
