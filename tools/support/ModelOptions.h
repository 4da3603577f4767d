// The options that say how a model file is to be read, the same for every tool that reads one.
#ifndef STATOR_TOOLS_SUPPORT_MODELOPTIONS_H
#define STATOR_TOOLS_SUPPORT_MODELOPTIONS_H

#include "stator/Compiler.h"
#include "tools/support/CommandLine.h"

namespace stator::tools {

inline void declareInputType(CommandLine &line, std::string *inputType) {
  line.choice("input-type", {"onnx", "pt", "pt2", "mlir"}, inputType, "kind of the model file (default: told from its content)");
}

inline void declareModelOptions(CommandLine &line, compiler::CompileOptions &options) {
  declareInputType(line, &options.inputType);
  line.list(
      "input", "[NAME=]SHAPExTYPE|@FILE.npy", &options.inputs,
      "sizes and type of an input: x=1x3x224x224xf32, ?batch[1..64]x3x?h[32..512]x?wxf32 (?name is a free size, ? as the model says), "
      "or those of a file");
  line.list("dim", "NAME=VALUE", &options.dims, "fix a named size, or give its range: batch=1..64");
  line.list("const", "NAME=VALUE|@FILE.npy", &options.constants, "make an input a constant of the model: axes=0,1 or mode='nearest'");
  line.list("method", "NAME", &options.methods, "compile this method of the model (default forward); several share weights and state");
}

/// The exit code for what validate() says.
inline int exitCodeForOptions(const Status &status) {
  return status.code() == StatusCode::InvalidArgument ? static_cast<int>(ExitUsage) : exitCodeFor(status);
}

} // namespace stator::tools

#endif // STATOR_TOOLS_SUPPORT_MODELOPTIONS_H
