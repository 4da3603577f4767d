//===- TreeSpec.h - names for the leaves of nested arguments ---------------===//
//
// A program's inputs and outputs are flat lists; how the user's dicts, tuples
// and named tuples are flattened into them stands in a tree, as JSON inside of
// the JSON. All that is needed of it here is a path for every leaf, which
// becomes the name of the input or output in the artifact: "cfg.n.0".
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_IMPORT_TORCH_EXPORT_TREESPEC_H
#define STATOR_COMPILER_IMPORT_TORCH_EXPORT_TREESPEC_H

#include "compiler/Import/Torch/Export/Program.h"

namespace stator::torch::exported {

/// Paths of the leaves of (args, kwargs), in order. `names` are those of the function's arguments; without them, or when there are too
/// few, the path of a positional argument is empty and its leaves have to be called otherwise.
Result<std::vector<std::string>> inputPaths(const Program &program);

/// Paths of the leaves of what the function returns: "output" when it is a leaf itself, "output.0" below a list or tuple, "key" below a
/// dict or named tuple at the root.
Result<std::vector<std::string>> outputPaths(const Program &program);

} // namespace stator::torch::exported

#endif // STATOR_COMPILER_IMPORT_TORCH_EXPORT_TREESPEC_H
