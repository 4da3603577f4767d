//===- ArgumentReader.h - arguments of nodes -------------------------------===//
//
// An argument is a tagged union of some thirty kinds, most of which say the
// same thing in several forms: a list of integers may come as as_ints,
// as_sym_ints, or as_tensors when it is empty. Here they become the few kinds
// of Argument.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_IMPORT_TORCH_EXPORT_ARGUMENTREADER_H
#define STATOR_COMPILER_IMPORT_TORCH_EXPORT_ARGUMENTREADER_H

#include "compiler/Import/Torch/Export/ProgramReader.h"

namespace stator::torch::exported {

class ArgumentReader : public ProgramReader {
public:
  virtual ~ArgumentReader() = default;
  Argument argument(const Json &json);
  Argument reference(std::string_view tag, std::string_view name);

protected:
  /// Graphs are arguments, and hold nodes with arguments.
  virtual Graph graph(const Json &json) = 0;

private:
  Argument simple(ArgumentKind kind, std::string_view tag, const Json &json);
  Argument symbolic(std::string_view tag, const Json &json, ArgumentKind kind, std::string_view plain);
  Argument enumeration(ArgumentKind kind, const JsonMember &member, const int64_t *numbers, const std::string_view *names, size_t count);
  Argument other(const JsonMember &member);

  template <typename Element>
  Argument list(std::string_view tag, const Json &json, Element element) {
    Argument result;
    result.kind = ArgumentKind::List;
    result.tag = tag;
    if (isA(json, Json::Kind::Array, "`" + std::string(tag) + "`"))
      for (const Json &item : json.elements()) {
        if (!ok())
          break;
        result.items.push_back(element(item));
      }
    return result;
  }
};

} // namespace stator::torch::exported

#endif // STATOR_COMPILER_IMPORT_TORCH_EXPORT_ARGUMENTREADER_H
