//===- OnnxSummary.h - what is in an ONNX file -----------------------------===//

#ifndef STATOR_COMPILER_IMPORT_ONNX_ONNXSUMMARY_H
#define STATOR_COMPILER_IMPORT_ONNX_ONNXSUMMARY_H

#include "compiler/Import/ModelSummary.h"
#include "stator/Result.h"

namespace stator::onnx {

/// Reads the file only: external data need not be there, and ops need not be supported.
Result<compiler::ModelSummary> summariseOnnx(const std::string &path);

} // namespace stator::onnx

#endif // STATOR_COMPILER_IMPORT_ONNX_ONNXSUMMARY_H
