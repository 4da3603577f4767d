//===- Check.cpp - a whole-model support report ----------------------------===//
//
// Runs the stages that can refuse a model, up to the plan, and says what each
// found. Nothing is written.
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver.h"

#include "dialects/Plan/PlanOps.h"

#include <map>

using namespace mlir;
using namespace stator;
using namespace stator::compiler;

Result<SupportReport> compiler::check(const std::string &path, const CompileOptions &given) {
  CompileOptions options = given;
  options.stopAfter = "plan";
  std::vector<Diagnostic> errors;
  options.onDiagnostic = [&](const Diagnostic &diagnostic) {
    if (diagnostic.severity == Diagnostic::Severity::Error)
      errors.push_back(diagnostic);
    if (given.onDiagnostic)
      given.onDiagnostic(diagnostic);
  };
  MLIRContext context;
  Driver driver(context, options, {});
  SupportReport report;
  Status status = driver.importFile(path);
  report.operators = driver.imported().operators;
  report.unsupported = driver.imported().unsupported;
  if (!status.ok() && report.unsupported.empty() && status.code() != StatusCode::Unsupported)
    return status;
  if (status.ok())
    status = driver.run();
  if (!status.ok()) {
    if (report.unsupported.empty())
      for (const Diagnostic &error : errors)
        report.unsupported.push_back({error.place, error.message});
    if (report.unsupported.empty())
      report.unsupported.push_back({"", status.message()});
    return report;
  }
  std::map<std::string, unsigned> kinds;
  driver.module().walk([&](Operation *op) {
    if (auto kernel = dyn_cast<plan::KernelOp>(op)) {
      ++report.ownKernels;
      ++kinds[kernel.getFamily().str() + ", own kernel"];
    } else if (auto library = dyn_cast<plan::LibraryOp>(op)) {
      ++report.libraryCalls;
      ++kinds[(library.getFamily() + ", " + library.getLibrary()).str()];
    }
  });
  report.kernelKinds.assign(kinds.begin(), kinds.end());
  return report;
}
