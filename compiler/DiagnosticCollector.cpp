//===- DiagnosticCollector.cpp - places and severities ---------------------===//
//
// Locations of traced models are names of nodes; those of text are positions.
//
//===----------------------------------------------------------------------===//

#include "compiler/DiagnosticCollector.h"

#include "mlir/IR/Location.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace stator;
using namespace stator::compiler;

std::string compiler::placeOf(Location location) {
  return llvm::TypeSwitch<LocationAttr, std::string>(location)
      .Case<FileLineColLoc>([](FileLineColLoc loc) {
        if (loc.getLine() == 0) // The file as a whole.
          return loc.getFilename().str();
        return (loc.getFilename().getValue() + ":" + Twine(loc.getLine()) + ":" + Twine(loc.getColumn())).str();
      })
      .Case<NameLoc>([](NameLoc loc) { return ("node `" + loc.getName().getValue() + "`").str(); })
      .Case<CallSiteLoc>([](CallSiteLoc loc) { return placeOf(loc.getCallee()); })
      .Case<FusedLoc>([](FusedLoc loc) {
        std::string place;
        for (Location part : loc.getLocations())
          if (place.empty())
            place = placeOf(part);
        return place;
      })
      .Default([](LocationAttr) { return std::string(); });
}

static compiler::Diagnostic::Severity severityOf(const mlir::Diagnostic &diagnostic) {
  using Severity = compiler::Diagnostic::Severity;
  switch (diagnostic.getSeverity()) {
  case DiagnosticSeverity::Error:
    return Severity::Error;
  case DiagnosticSeverity::Warning:
    return Severity::Warning;
  case DiagnosticSeverity::Remark:
    return Severity::Remark;
  case DiagnosticSeverity::Note:
    break;
  }
  return Severity::Note;
}

DiagnosticCollector::DiagnosticCollector(MLIRContext *context, std::function<void(const Diagnostic &)> callback)
    : callback(std::move(callback)), handler(context, [this](mlir::Diagnostic &diagnostic) {
        report(diagnostic);
        return success();
      }) {}

void DiagnosticCollector::report(const mlir::Diagnostic &diagnostic) {
  std::lock_guard<std::mutex> lock(mutex);
  Diagnostic out{severityOf(diagnostic), placeOf(diagnostic.getLocation()), diagnostic.str()};
  // MLIR says this when it has written a reproducer. Behind another error it is a remark to that; alone, a pass has crashed.
  if (out.message.starts_with("Failures have been detected while processing an MLIR pass pipeline")) {
    if (firstError.empty())
      out = {Diagnostic::Severity::Error, "", "a pass of the compiler crashed"};
    else
      out = {Diagnostic::Severity::Note, "", "this is where the compiler stopped"};
  }
  if (out.severity == Diagnostic::Severity::Error && firstError.empty())
    firstError = (out.place.empty() ? "" : out.place + ": ") + out.message;
  if (callback)
    callback(out);
  for (const mlir::Diagnostic &note : diagnostic.getNotes())
    if (callback)
      callback({severityOf(note), placeOf(note.getLocation()), note.str()});
}

Status DiagnosticCollector::failure(StatusCode code, const std::string &otherwise) const {
  std::lock_guard<std::mutex> lock(mutex);
  return Status(code, firstError.empty() ? otherwise : firstError);
}
