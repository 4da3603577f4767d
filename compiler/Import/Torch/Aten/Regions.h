// What the branches of an `if` and the bodies of loops have in common when they are traced: their values, read while memory is as they left
// it, the memory that they wrote, and the memory that their results may share with what is outside.
#ifndef STATOR_COMPILER_IMPORT_TORCH_ATEN_REGIONS_H
#define STATOR_COMPILER_IMPORT_TORCH_ATEN_REGIONS_H

#include "compiler/Import/Torch/Aten/Context.h"

#include <functional>
#include <map>
#include <tuple>

namespace stator::torch {

/// What the tensors of a region's results are, read while their memory still is as the region left it.
struct Read {
  trace::Tensor value;
  bool isUncertain = false; // out of date, see Context::mayShare
};
using Reads = std::map<const TensorView *, Read>;

/// One traced region: its values and the memory that it wrote.
struct Region {
  Values values;
  Reads reads;
  Context::Scope scope{0, {}};
  std::vector<trace::Tensor> finals; // of scope.written

  trace::Tensor finalOf(const std::shared_ptr<Storage> &storage) const {
    for (size_t i = 0; i < finals.size(); ++i)
      if (scope.written[i].first == storage)
        return finals[i];
    return storage->value;
  }
};

Region traceRegion(Context &context, const std::function<Values()> &run);

/// A result of control flow in the form of the value that it stands for.
Value wrapLike(Context &context, const Value &model, const trace::Tensor &result);

/// The memory that results of control flow may share with what is outside and among each other: a branch or a body that gives a variable a
/// tensor from outside, or two variables the same one.
class Sharing {
public:
  explicit Sharing(Context &context) : context(context) {}

  /// `result` may be `value`, which a region gave; scopes from the region's on are inside.
  void note(const Value &result, const Value &value, const Region &region);

private:
  Context &context;
  std::vector<std::tuple<std::shared_ptr<Storage>, const Region *, std::shared_ptr<Storage>>> notes;
};

} // namespace stator::torch

#endif // STATOR_COMPILER_IMPORT_TORCH_ATEN_REGIONS_H
