// A model's summary for people and for scripts, and the command that compiles it.
#ifndef STATOR_TOOLS_STATOR_INSPECT_MODEL_SUMMARYPRINTER_H
#define STATOR_TOOLS_STATOR_INSPECT_MODEL_SUMMARYPRINTER_H

#include "compiler/Import/ModelSummary.h"

#include <string>

namespace stator::tools {

/// Ready for a shell, with placeholders in capitals for what the file does not say: `--input=x=SHAPExTYPE`, `--const=n=VALUE`.
std::string compileCommand(const std::string &path, const compiler::ModelSummary &summary);

std::string summaryText(const std::string &path, const compiler::ModelSummary &summary);
/// Keys are part of the tool's interface: added, never renamed.
std::string summaryJson(const std::string &path, const compiler::ModelSummary &summary);

} // namespace stator::tools

#endif // STATOR_TOOLS_STATOR_INSPECT_MODEL_SUMMARYPRINTER_H
