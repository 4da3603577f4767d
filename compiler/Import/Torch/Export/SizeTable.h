//===- SizeTable.h - the symbols of a program and what they are here -------===//
//
// A program's sizes are expressions over its own symbols (s77). A user may give
// one of them a name, a number or a narrower range; then every size of the
// file is to be read with that in its place.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_IMPORT_TORCH_EXPORT_SIZETABLE_H
#define STATOR_COMPILER_IMPORT_TORCH_EXPORT_SIZETABLE_H

#include "compiler/Import/ImportOptions.h"
#include "compiler/Import/Torch/Export/Program.h"
#include "stator/Trace.h"

#include <set>

namespace stator::torch::exported {

/// A tensor that the caller gives.
struct UserInput {
  std::string name;                 ///< In the artifact: "cfg.n.0".
  size_t position;                  ///< In Program::inputs.
  const TensorMeta *meta = nullptr; ///< Null for what is no tensor.
};

class SizeTable {
public:
  /// `specs[i]`, which may be null, is what the user says of inputs[i]; `constantDims[i]`, which may be empty, are the sizes of a constant
  /// that the user gives for it.
  static Result<SizeTable> make(const Program &program, const std::vector<UserInput> &inputs,
                                const std::vector<const compiler::InputSpec *> &specs,
                                const std::vector<std::vector<int64_t>> &constantDims, const compiler::ImportOptions &options);

  /// Declares the symbols that are left.
  void declare(trace::Builder &builder) const;
  /// A size of the file. Unsupported when it depends on data, or cannot be represented.
  Result<trace::Dim> translate(const DimExpr &size) const;
  /// What the symbols are called here.
  const std::set<std::string> &names() const { return used; }

private:
  struct Range {
    int64_t min = 0, max = 2147483647;
  };
  Status bind(const std::string &symbol, const DimExpr &value, const std::string &place);
  Status bindInput(const UserInput &input, const compiler::InputSpec &spec);
  Status derive(const UserInput &input, size_t axis);

  /// An axis whose size is an expression of a symbol that is no axis by itself (an even length, 2*s44): the size gets a symbol of its
  /// own, by which the file's is known.
  struct Derived {
    DimExpr file, here;
    int64_t factor, summand;
  };

  std::map<std::string, Range> fileRanges;
  std::vector<Derived> derived;
  std::map<DimExpr, const compiler::DimSpec *> wishes; // what the user says of sizes that are expressions
  std::map<DimExpr, int64_t> numbers;                  // given for sizes that follow from others
  std::map<std::string, DimExpr> values;               // by the file's symbol
  std::map<std::string, Range> ranges;                 // by the name here
  std::set<std::string> used;
  const compiler::ImportOptions *options = nullptr;
};

} // namespace stator::torch::exported

#endif // STATOR_COMPILER_IMPORT_TORCH_EXPORT_SIZETABLE_H
