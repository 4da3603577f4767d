//===- Programs.h - the programs of an archive -----------------------------===//

#ifndef STATOR_COMPILER_IMPORT_TORCH_EXPORT_PROGRAMS_H
#define STATOR_COMPILER_IMPORT_TORCH_EXPORT_PROGRAMS_H

#include "compiler/Import/Torch/Export/ProgramImporter.h"

namespace stator::torch::exported {

/// The programs of the archive as methods; `wanted`, which may be empty, are names of methods or programs. Sizes are not filled in yet.
Result<std::vector<ExportedMethod>> readPrograms(const Archive &archive, const std::vector<std::string> &wanted);

/// "aten.add.Tensor" of "torch.ops.aten.add.Tensor".
std::string_view operatorName(std::string_view target);
/// How often each operator occurs, sub-graphs included.
void countOperators(const Graph &graph, std::map<std::string, unsigned> &counts);

} // namespace stator::torch::exported

#endif // STATOR_COMPILER_IMPORT_TORCH_EXPORT_PROGRAMS_H
