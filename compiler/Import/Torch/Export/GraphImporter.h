//===- GraphImporter.h - walking the nodes of an exported graph ------------===//
//
// Nodes come in topological order and name their operator's overload, so that
// importing one is: look the operator up, bind the arguments by name, call it.
// Symbolic arithmetic (SymbolicOps.h) and operators with sub-graphs
// (HigherOrderOps.cpp) are not in the table of PyTorch's operators.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_IMPORT_TORCH_EXPORT_GRAPHIMPORTER_H
#define STATOR_COMPILER_IMPORT_TORCH_EXPORT_GRAPHIMPORTER_H

#include "compiler/Import/Torch/Aten/Context.h"
#include "compiler/Import/Torch/Export/Report.h"
#include "compiler/Import/Torch/Export/SizeTable.h"

namespace stator::torch::exported {

class GraphImporter {
public:
  GraphImporter(Context &context, Report &report, const Program &program, const SizeTable &sizes)
      : context(context), report(report), program(program), sizes(sizes) {}

  /// Imports a graph whose inputs are `arguments`; inputs that are literals take none of the names. Returns one value per output: poison
  /// for those that could not be computed, which has been reported.
  Values run(const Graph &graph, const Values &arguments);

private:
  struct Doubt {
    const Node *node = nullptr;
    std::string difference;
    bool isOfType = false;
  };

  /// Names are scoped by graph: a sub-graph sees nothing of the graph around it.
  struct Scope {
    std::map<std::string_view, Value> values;
    const Graph &graph;
    /// Values that are not what the file says, with the node that gave them. It counts as soon as somebody uses them: descriptions of
    /// results that nobody uses are wrong in real files.
    std::map<std::string_view, Doubt> doubtful = {};
  };

  void importNode(const Node &node, Scope &scope);
  Result<Values> dispatch(const Node &node, Scope &scope);
  Result<Values> callAten(const Node &node, std::string_view fullName, Scope &scope);
  Result<Value> valueOf(const Argument &argument, Scope &scope);
  void define(const Node &node, const Values &results, Scope &scope);
  /// What is different from what the file says, as far as both are known.
  std::optional<Doubt> compare(const Node &node, const TensorMeta &meta, const TensorRef &tensor);
  void raise(const Doubt &doubt);
  Status unknownTarget(std::string_view target) const;

  // Operators with sub-graphs.
  Result<Values> callHigherOrder(const Node &node, std::string_view name, Scope &scope);
  Result<Values> cond(const Node &node, Scope &scope);
  Result<Values> whileLoop(const Node &node, Scope &scope);
  Result<Values> scan(const Node &node, Scope &scope, bool hasCarry);
  Result<Values> inlined(const Node &node, size_t graphIndex, Scope &scope);
  Result<Values> autocast(const Node &node, Scope &scope);
  Result<const Graph *> graphArgument(const Node &node, size_t index);
  Result<Values> listArgument(const Node &node, size_t index, Scope &scope);

  Context &context;
  Report &report;
  const Program &program;
  const SizeTable &sizes;
  unsigned depth = 0, shownDoubts = 0;
};

} // namespace stator::torch::exported

#endif // STATOR_COMPILER_IMPORT_TORCH_EXPORT_GRAPHIMPORTER_H
