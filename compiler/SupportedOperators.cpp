//===- SupportedOperators.cpp - the operators that importers know ----------===//

#include "compiler/SupportedOperators.h"
#include "compiler/Import/Onnx/OpContext.h"
#include "compiler/Import/Torch/Aten/Operators.h"

namespace stator::compiler {

static std::vector<std::string> torchOperators() {
  std::vector<std::string> schemas;
  for (const torch::Operator *op : torch::allOperators())
    schemas.push_back(op->schema.text);
  return schemas;
}

std::vector<std::string> supportedOperators(std::string_view frontEnd) {
  return frontEnd == "onnx" ? onnx::allOperators() : torchOperators();
}

} // namespace stator::compiler
