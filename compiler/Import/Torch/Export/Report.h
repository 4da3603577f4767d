//===- Report.h - what could not be imported -------------------------------===//
//
// The importer goes on past a node that it cannot do, so that one run names all
// of them. Branches and bodies of loops may be traced several times: a part is
// listed once.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_IMPORT_TORCH_EXPORT_REPORT_H
#define STATOR_COMPILER_IMPORT_TORCH_EXPORT_REPORT_H

#include "compiler/Import/ImportedModel.h"
#include "compiler/Import/Torch/Export/Program.h"

#include <set>

namespace stator::torch::exported {

/// Where in the user's program a node comes from: "model.py, line 12, in forward: `return self.l(x)`"; empty when the file does not say.
std::string sourceOf(const Node &node);

/// The node's name and target, and its source: the place that messages name.
std::string placeOf(const Node &node);

class Report {
public:
  /// A node; `status` is Unsupported, or says that the file is wrong.
  void add(const Node &node, const Status &status);
  void add(std::string place, const Status &status);

  bool empty() const { return parts.empty(); }
  /// One status for all parts, and ok when there are none.
  Status summary() const;

  /// Counts a node in. False when there have been too many: bodies of nested scans are unrolled, which a small file can make endless.
  bool countNode();
  bool isFull() const { return nodes > maxNodes; }

  std::vector<compiler::UnsupportedPart> parts;

private:
  /// Counted with every step of an unrolled scan. Real programs have some ten thousand.
  static constexpr size_t maxNodes = 250000;
  size_t nodes = 0;
  std::set<std::pair<std::string, std::string>> seen;
  /// The worst: a file that is wrong comes before what is not supported.
  StatusCode code = StatusCode::Unsupported;
};

} // namespace stator::torch::exported

#endif // STATOR_COMPILER_IMPORT_TORCH_EXPORT_REPORT_H
