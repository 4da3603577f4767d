//===- Registration.h - all dialects and passes of the compiler ------------===//
//
// For programs that read IR or run passes by name.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_REGISTRATION_H
#define STATOR_COMPILER_REGISTRATION_H

#include "mlir/IR/DialectRegistry.h"

namespace stator::compiler {

/// The dialects that IR between two stages may use.
void registerDialects(mlir::DialectRegistry &registry);
/// All passes of passes/, and the pipelines `--stator-graph`, `--stator-optimise`, `--stator-plan` of whole stages.
void registerPasses();

} // namespace stator::compiler

#endif // STATOR_COMPILER_REGISTRATION_H
