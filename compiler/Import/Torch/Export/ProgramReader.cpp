//===- ProgramReader.cpp - members of JSON objects, checked ----------------===//

#include "compiler/Import/Torch/Export/ProgramReader.h"
#include "compiler/Import/Torch/Aten/ScalarTypes.h"
#include "compiler/Import/Torch/Export/SymbolicText.h"

#include <limits>

namespace stator::torch::exported {

std::string shown(std::string_view text) {
  std::string result(text.substr(0, 200));
  for (char &c : result)
    if (static_cast<unsigned char>(c) < ' ')
      c = '?';
  return text.size() > 200 ? result + "..." : result;
}

void ProgramReader::fail(StatusCode code, std::string message) {
  if (!status.ok())
    return;
  std::string place;
  for (auto [what, name] : places) {
    place += (place.empty() ? "" : ", ") + std::string(what);
    if (!name.empty())
      place += " `" + shown(name) + "`";
  }
  status = Status(code, place.empty() ? std::move(message) : place + ": " + message);
}

bool ProgramReader::isA(const Json &json, Json::Kind kind, std::string_view what) {
  if (json.is(kind))
    return true;
  invalid(std::string(what) + " is " + describe(json.kind()) + ", expected " + describe(kind));
  return false;
}

const Json &ProgramReader::need(const Json &object, std::string_view key, Json::Kind kind) {
  static const Json none;
  if (!ok() || !isA(object, Json::Kind::Object, "a value"))
    return none;
  const Json *member = object.find(key);
  if (!member) {
    invalid("has no member `" + std::string(key) + "`");
    return none;
  }
  return isA(*member, kind, "member `" + std::string(key) + "`") ? *member : none;
}

const Json *ProgramReader::optional(const Json &object, std::string_view key, Json::Kind kind) {
  if (!ok())
    return nullptr;
  const Json *member = object.find(key);
  if (!member || member->isNull())
    return nullptr;
  return isA(*member, kind, "member `" + std::string(key) + "`") ? member : nullptr;
}

std::string_view ProgramReader::optionalString(const Json &object, std::string_view key) {
  const Json *member = optional(object, key, Json::Kind::String);
  return member ? member->string() : std::string_view();
}

bool ProgramReader::optionalBool(const Json &object, std::string_view key, bool otherwise) {
  const Json *member = optional(object, key, Json::Kind::Bool);
  return member ? member->boolean() : otherwise;
}

const JsonMember *ProgramReader::unionMember(const Json &json) {
  if (!ok() || !isA(json, Json::Kind::Object, "a tagged union"))
    return nullptr;
  if (json.members().size() == 1)
    return &json.members().front();
  std::string tags;
  for (const JsonMember &member : json.members().first(std::min<size_t>(json.members().size(), 4)))
    tags += (tags.empty() ? " (`" : ", `") + shown(member.key) + "`";
  invalid("a tagged union has " + std::to_string(json.members().size()) + " members" + (tags.empty() ? "" : tags + ")") + ", expected one");
  return nullptr;
}

double ProgramReader::number(const Json &json) {
  if (json.is(Json::Kind::Float))
    return json.floating();
  if (json.is(Json::Kind::Integer))
    return double(json.integer());
  if (json.is(Json::Kind::String)) {
    if (json.string() == "Infinity")
      return std::numeric_limits<double>::infinity();
    if (json.string() == "-Infinity")
      return -std::numeric_limits<double>::infinity();
    if (json.string() == "NaN")
      return std::numeric_limits<double>::quiet_NaN();
    invalid("a number is written as `" + shown(json.string()) + "`");
    return 0;
  }
  isA(json, Json::Kind::Float, "a number");
  return 0;
}

int64_t ProgramReader::scalarType(const Json &json) {
  if (!ok())
    return -1;
  std::optional<int64_t> type;
  std::string text;
  if (json.is(Json::Kind::String)) {
    text = shown(json.string());
    type = scalarTypeOfExport(json.string());
  } else if (isA(json, Json::Kind::Integer, "an element type")) {
    text = std::to_string(json.integer());
    type = scalarTypeOfExport(json.integer());
  }
  if (ok() && !type)
    invalid("unknown element type " + text);
  return type.value_or(-1);
}

DimExpr ProgramReader::size(const Json &json) {
  const JsonMember *member = unionMember(json);
  if (!member)
    return {};
  if (member->key == "as_int")
    return isA(member->value, Json::Kind::Integer, "a size") ? DimExpr(member->value.integer()) : DimExpr();
  if (member->key != "as_expr") {
    invalid("a size is given as `" + shown(member->key) + "`, expected as_int or as_expr");
    return {};
  }
  std::string_view text = needString(member->value, "expr_str");
  if (!ok())
    return {};
  auto known = expressions.find(text);
  if (known != expressions.end())
    return known->second;
  Result<SymbolicValue> parsed = parseSrepr(text);
  if (!parsed.ok()) {
    fail(parsed.status().code(), parsed.status().message());
    return {};
  }
  if (parsed->kind != SymbolicValue::Kind::Integer) {
    invalid("the size `" + shown(text) + "` is not an integer");
    return {};
  }
  // Sizes of what nodes compute are computed again while tracing, so that only those of inputs have to be known.
  DimExpr value = parsed->isKnown ? parsed->value : DimExpr::invalid("the size `" + shown(text) + "` cannot be represented");
  return expressions[text] = value;
}

TensorMeta ProgramReader::tensorMeta(const Json &json) {
  TensorMeta meta;
  if (!ok() || !isA(json, Json::Kind::Object, "a tensor's description"))
    return meta;
  if (const Json *type = json.find("dtype"))
    meta.scalarType = scalarType(*type);
  else
    invalid("has no member `dtype`");
  for (const Json &item : need(json, "sizes", Json::Kind::Array).elements())
    meta.sizes.push_back(size(item));
  for (const Json &item : need(json, "strides", Json::Kind::Array).elements())
    meta.strides.push_back(size(item));
  if (const Json *offset = optional(json, "storage_offset", Json::Kind::Object))
    meta.offset = size(*offset);
  if (ok() && meta.strides.size() != meta.sizes.size())
    invalid("has " + std::to_string(meta.sizes.size()) + " sizes, but " + std::to_string(meta.strides.size()) + " strides");
  for (const DimExpr &dim : meta.sizes)
    if (ok() && dim.constant() && *dim.constant() < 0)
      invalid("has the negative size " + dim.str());
  return meta;
}

Result<std::vector<WeightEntry>> parseWeightConfig(const JsonDocument &document) {
  ProgramReader reader;
  std::vector<WeightEntry> entries;
  const Json &config = reader.need(document.root(), "config", Json::Kind::Object);
  for (const JsonMember &member : config.members()) {
    ProgramReader::Place place(reader, "weight", member.key);
    WeightEntry entry;
    entry.name = member.key;
    if (!reader.isA(member.value, Json::Kind::Object, "its description"))
      break;
    entry.pathName = reader.needString(member.value, "path_name");
    entry.isParameter = reader.optionalBool(member.value, "is_param", false);
    // Before the description of a tensor, which a pickled object may have or not.
    entry.isPickled = reader.optionalBool(member.value, "use_pickle", false);
    if (!entry.isPickled && reader.ok()) {
      TensorMeta meta = reader.tensorMeta(reader.need(member.value, "tensor_meta", Json::Kind::Object));
      auto number = [&](const DimExpr &dim) {
        if (reader.ok() && !dim.constant())
          reader.invalid("has the size `" + dim.str() + "`, expected a number");
        return dim.constant().value_or(0);
      };
      entry.scalarType = meta.scalarType;
      for (const DimExpr &dim : meta.sizes)
        entry.sizes.push_back(number(dim));
      for (const DimExpr &dim : meta.strides)
        entry.strides.push_back(number(dim));
      entry.offset = number(meta.offset);
    }
    if (!reader.ok())
      break;
    entries.push_back(std::move(entry));
  }
  if (!reader.ok())
    return reader.status;
  return entries;
}

} // namespace stator::torch::exported
