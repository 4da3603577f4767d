//===- ArgumentReader.cpp - arguments of nodes -----------------------------===//

#include "compiler/Import/Torch/Export/ArgumentReader.h"

namespace stator::torch::exported {

using Kind = Json::Kind;

/// c10's numbers of MemoryFormat {Unknown, ContiguousFormat, ChannelsLast, ChannelsLast3d, PreserveFormat}.
static constexpr int64_t memoryFormats[] = {-1, 0, 2, 3, 1};
static constexpr std::string_view memoryFormatNames[] = {"Unknown", "ContiguousFormat", "ChannelsLast", "ChannelsLast3d", "PreserveFormat"};
/// c10's numbers of Layout {Unknown, SparseCoo, SparseCsr, SparseCsc, SparseBsr, SparseBsc, _mkldnn, Strided}.
static constexpr int64_t layouts[] = {-1, 1, 2, 4, 5, 6, 3, 0};
static constexpr std::string_view layoutNames[] = {"Unknown",   "SparseCoo", "SparseCsr", "SparseCsc",
                                                   "SparseBsr", "SparseBsc", "_mkldnn",   "Strided"};

Argument ArgumentReader::reference(std::string_view tag, std::string_view name) {
  Argument result;
  result.kind = ArgumentKind::Reference;
  result.tag = tag;
  result.text = name;
  if (ok() && name.empty())
    invalid("a value has no name");
  return result;
}

Argument ArgumentReader::simple(ArgumentKind kind, std::string_view tag, const Json &json) {
  Argument result;
  result.kind = kind;
  result.tag = tag;
  switch (kind) {
  case ArgumentKind::Int:
    result.integer = isA(json, Kind::Integer, "an integer") ? json.integer() : 0;
    break;
  case ArgumentKind::Bool:
    result.integer = isA(json, Kind::Bool, "a boolean") ? json.boolean() : 0;
    break;
  case ArgumentKind::Float:
    result.real = number(json);
    break;
  case ArgumentKind::String:
    result.text = isA(json, Kind::String, "a string") ? std::string(json.string()) : std::string();
    break;
  default:
    break;
  }
  return result;
}

/// as_sym_int and its kin: a name, or a plain value under `plain`.
Argument ArgumentReader::symbolic(std::string_view tag, const Json &json, ArgumentKind kind, std::string_view plain) {
  const JsonMember *member = unionMember(json);
  if (!member)
    return {};
  if (member->key == "as_name" && isA(member->value, Kind::String, "`as_name`"))
    return reference(tag, member->value.string());
  if (member->key == plain)
    return simple(kind, tag, member->value);
  invalid("`" + std::string(tag) + "` is given as `" + shown(member->key) + "`");
  return {};
}

Argument ArgumentReader::enumeration(ArgumentKind kind, const JsonMember &member, const int64_t *numbers, const std::string_view *names,
                                     size_t count) {
  Argument result;
  result.kind = kind;
  result.tag = member.key;
  int64_t index = -1;
  if (member.value.is(Kind::Integer))
    index = member.value.integer();
  for (size_t i = 0; i < count && member.value.is(Kind::String); ++i)
    if (member.value.string() == names[i])
      index = int64_t(i);
  if (index < 0 || index >= int64_t(count) || numbers[index] < 0)
    invalid("`" + std::string(member.key) + "` has a value that is not known");
  else
    result.integer = numbers[index];
  return result;
}

Argument ArgumentReader::argument(const Json &json) {
  const JsonMember *member = unionMember(json);
  if (!member)
    return {};
  std::string_view tag = member->key;
  const Json &value = member->value;
  auto tensor = [&](const Json &item) { return reference("as_tensor", needString(item, "name")); };
  auto optionalTensor = [&](const Json &item) {
    const JsonMember *choice = unionMember(item);
    return choice && choice->key == "as_tensor" ? tensor(choice->value) : Argument();
  };
  auto integer = [&](const Json &item) { return simple(ArgumentKind::Int, "as_int", item); };
  if (tag == "as_none")
    return {};
  if (tag == "as_tensor")
    return tensor(value);
  if (tag == "as_optional_tensor")
    return optionalTensor(value);
  if (tag == "as_tensors")
    return list(tag, value, tensor);
  if (tag == "as_optional_tensors")
    return list(tag, value, optionalTensor);
  if (tag == "as_nested_tensors")
    return list(tag, value, [&](const Json &item) { return list("as_tensors", item, tensor); });
  if (tag == "as_int")
    return integer(value);
  if (tag == "as_ints")
    return list(tag, value, integer);
  if (tag == "as_int_lists")
    return list(tag, value, [&](const Json &item) { return list("as_ints", item, integer); });
  if (tag == "as_float")
    return simple(ArgumentKind::Float, tag, value);
  if (tag == "as_floats")
    return list(tag, value, [&](const Json &item) { return simple(ArgumentKind::Float, "as_float", item); });
  if (tag == "as_string" || tag == "as_operator")
    return simple(ArgumentKind::String, tag, value);
  if (tag == "as_strings")
    return list(tag, value, [&](const Json &item) { return simple(ArgumentKind::String, "as_string", item); });
  if (tag == "as_bool")
    return simple(ArgumentKind::Bool, tag, value);
  if (tag == "as_bools")
    return list(tag, value, [&](const Json &item) { return simple(ArgumentKind::Bool, "as_bool", item); });
  if (tag == "as_sym_int")
    return symbolic(tag, value, ArgumentKind::Int, "as_int");
  if (tag == "as_sym_ints")
    return list(tag, value, [&](const Json &item) { return symbolic("as_sym_int", item, ArgumentKind::Int, "as_int"); });
  if (tag == "as_sym_float")
    return symbolic(tag, value, ArgumentKind::Float, "as_float");
  if (tag == "as_sym_floats")
    return list(tag, value, [&](const Json &item) { return symbolic("as_sym_float", item, ArgumentKind::Float, "as_float"); });
  if (tag == "as_sym_bool")
    return symbolic(tag, value, ArgumentKind::Bool, "as_bool");
  if (tag == "as_sym_bools")
    return list(tag, value, [&](const Json &item) { return symbolic("as_sym_bool", item, ArgumentKind::Bool, "as_bool"); });
  if (tag == "as_memory_format")
    return enumeration(ArgumentKind::MemoryFormat, *member, memoryFormats, memoryFormatNames, std::size(memoryFormats));
  if (tag == "as_layout")
    return enumeration(ArgumentKind::Layout, *member, layouts, layoutNames, std::size(layouts));
  return other(*member);
}

/// The kinds that occur once or twice in a program.
Argument ArgumentReader::other(const JsonMember &member) {
  std::string_view tag = member.key;
  const Json &value = member.value;
  Argument result;
  result.tag = tag;
  if (tag == "as_scalar_type") {
    result.kind = ArgumentKind::ScalarType;
    result.integer = scalarType(value);
  } else if (tag == "as_device") {
    result.kind = ArgumentKind::Device;
    result.text = needString(value, "type");
    if (const Json *index = optional(value, "index", Kind::Integer))
      result.text += ":" + std::to_string(index->integer());
  } else if (tag == "as_graph") {
    result.kind = ArgumentKind::Graph;
    std::string_view name = needString(value, "name");
    Place place(*this, "graph", name);
    Graph body = graph(need(value, "graph", Kind::Object));
    body.name = name;
    result.graph = std::make_shared<const Graph>(std::move(body));
  } else if (tag == "as_string_to_argument") {
    result.kind = ArgumentKind::Dict;
    if (isA(value, Kind::Object, "`as_string_to_argument`"))
      for (const JsonMember &item : value.members()) {
        result.keys.push_back(item.key);
        result.items.push_back(argument(item.value));
      }
  } else {
    result.kind = ArgumentKind::Unsupported;
  }
  return result;
}

} // namespace stator::torch::exported
