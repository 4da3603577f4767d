// ONNX files through the importer.
#include "compiler/Import/Onnx/OnnxImport.h"
#include "test/fuzz/MemoryFile.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

using namespace stator;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz::MemoryFile file(data, size);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mlir::ScopedDiagnosticHandler quiet(&context, [](mlir::Diagnostic &) { return mlir::success(); });
  (void)onnx::importOnnx(file.path(), {}, context).status.ok();
  return 0;
}
