//===- stator-opt.cpp - runs passes by name on textual IR ------------------===//
//
// mlir-opt with Stator's dialects and passes, for tests and for looking at one
// pass in isolation. The flags are upstream's.
//
//===----------------------------------------------------------------------===//

#include "compiler/Registration.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  stator::compiler::registerDialects(registry);
  mlir::registerAllPasses();
  stator::compiler::registerPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "stator-opt: runs passes of the Stator compiler\n", registry));
}
