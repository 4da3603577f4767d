//===- ParameterTable.h - weights as parameters of the module --------------===//
//
// Tensors of the file that are the same view of the same memory are one
// parameter, under whatever names the program knows them, in all methods.
// Which of them a program writes shows only when it has been traced, while a
// parameter has to be made as state or not before; so the import traces again
// when it has learnt of new ones.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_IMPORT_TORCH_EXPORT_PARAMETERTABLE_H
#define STATOR_COMPILER_IMPORT_TORCH_EXPORT_PARAMETERTABLE_H

#include "compiler/Import/Torch/Aten/Context.h"
#include "compiler/Import/Torch/Export/Weights.h"

#include <deque>
#include <set>

namespace stator::torch::exported {

class ParameterTable {
public:
  /// One tensor of the file.
  struct Key {
    const void *storage = nullptr;
    uint64_t offset = 0;
    ElementType type = ElementType::F32;
    std::vector<int64_t> sizes, strides;
    std::string name; // only of tensors without elements, which share nothing
    auto operator<=>(const Key &) const = default;
  };
  struct Parameter {
    Key key;
    std::string name;
    TensorRef tensor;
    trace::Tensor value; // at the entry of the method
    bool isMutable = false;
  };

  explicit ParameterTable(std::string path) : path(std::move(path)) {}

  /// A new module, in which nothing is made yet.
  void startModule() { symbols.clear(); }
  /// A new method of the module.
  void startMethod() {
    parameters.clear();
    byKey.clear();
    keys.clear();
  }

  /// The tensor `name` of `weights`. `prefix` is put in front when another tensor has the name.
  Result<TensorRef> load(Context &context, const Archive &archive, Weights &weights, std::string_view name, bool isConstant,
                         std::string_view prefix);
  /// Known to be written, from the signature.
  Status declareMutable(Weights &weights, std::string_view name);
  /// The parameter that was loaded under the name; null when it was not.
  Parameter *find(std::string_view name);
  /// Gives written parameters their values at the end of the method. What was not made as state is noted: then `needsRetrace` is true.
  Status finishMethod(Context &context);
  /// Sets a parameter that the signature names.
  Status set(Context &context, std::string_view name, const trace::Tensor &value);

  bool needsRetrace = false;
  /// Names of the state, for people.
  std::set<std::string> states;

private:
  static Key keyOf(const TensorPayload &payload, std::string_view name);
  Status markWritten(Parameter &parameter);

  std::string path;
  std::map<Key, std::string> symbols; // in the module
  std::deque<Parameter> parameters;   // in the order in which they were loaded; stable addresses
  std::map<Key, Parameter *> byKey;
  std::map<std::string, Key, std::less<>> keys; // by name in the program
  std::set<Key> written;
};

} // namespace stator::torch::exported

#endif // STATOR_COMPILER_IMPORT_TORCH_EXPORT_PARAMETERTABLE_H
