//===- InputSpecs.cpp - which option is for which input --------------------===//

#include "compiler/Import/InputSpecs.h"

#include <algorithm>
#include <set>

namespace stator::compiler {

std::string quotedList(std::span<const std::string> names) {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "`" : ", `") + name + "`";
  return text.empty() ? "none" : text;
}

const SymbolSpec *findSymbol(const ImportOptions &options, std::string_view name) {
  for (const SymbolSpec &spec : options.symbols)
    if (spec.name == name)
      return &spec;
  return nullptr;
}

Result<std::vector<std::vector<const InputSpec *>>> assignInputSpecs(const ImportOptions &options, std::span<const MethodInputs> methods) {
  std::vector<std::vector<const InputSpec *>> specs;
  std::vector<std::string> all;
  for (const MethodInputs &method : methods) {
    specs.emplace_back(method.tensors.size(), nullptr);
    for (const std::string &name : method.tensors)
      if (std::find(all.begin(), all.end(), name) == all.end())
        all.push_back(name);
  }
  std::set<std::string> seen;
  for (const InputSpec &spec : options.inputs) {
    if (spec.name.empty())
      continue;
    if (!seen.insert(spec.name).second)
      return invalidArgument("two --input options are for `" + spec.name + "`");
    auto isConstant = [&](const ConstantSpec &constant) { return constant.name == spec.name; };
    if (std::any_of(options.constants.begin(), options.constants.end(), isConstant))
      return invalidArgument("`" + spec.name + "` is given by --input and by --const; give one of them");
    bool fits = false;
    for (size_t m = 0; m < methods.size(); ++m)
      for (size_t i = 0; i < methods[m].tensors.size(); ++i)
        if (methods[m].tensors[i] == spec.name) {
          specs[m][i] = &spec;
          fits = true;
        }
    if (!fits)
      return invalidArgument("there is no tensor input `" + spec.name + "`; " +
                             (all.empty() ? "there are none" : "the inputs are " + quotedList(all)));
  }
  size_t next = 0;
  for (const InputSpec &spec : options.inputs) {
    if (!spec.name.empty())
      continue;
    size_t count = methods.empty() ? 0 : methods.front().tensors.size();
    while (next < count && specs.front()[next])
      ++next;
    if (next == count)
      return invalidArgument("more --input options than tensor inputs" + (methods.empty() ? "" : " of `" + methods.front().method + "`") +
                             ", which are " + quotedList(methods.empty() ? std::span<const std::string>() : methods.front().tensors));
    specs.front()[next++] = &spec;
  }
  return specs;
}

} // namespace stator::compiler
