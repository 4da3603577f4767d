//===- TreeSpec.cpp - names for the leaves of nested arguments -------------===//

#include "compiler/Import/Torch/Export/TreeSpec.h"
#include "compiler/Import/Torch/Export/ProgramReader.h"

namespace stator::torch::exported {

namespace {

using Kind = Json::Kind;

/// A small tree can have many leaves, but not more than a program has inputs.
constexpr size_t maxLeaves = size_t(1) << 20;

class TreeReader {
public:
  TreeReader(const Program &program, std::string_view what) : program(program) { place.emplace(reader, what); }

  /// Appends the leaves below `node` with their paths.
  void leaves(const Json &node, const std::string &path) {
    if (!reader.ok() || !reader.isA(node, Kind::Object, "a node"))
      return;
    std::string_view type = reader.optionalString(node, "type");
    auto children = reader.need(node, "children_spec", Kind::Array).elements();
    if (type.empty()) {
      if (paths.size() >= maxLeaves)
        reader.invalid("has more than " + std::to_string(maxLeaves) + " leaves");
      paths.push_back(path);
      return;
    }
    std::vector<std::string> keys = keysOf(node, type, children.size());
    for (size_t i = 0; i < children.size(); ++i)
      leaves(children[i], joined(path, keys[i]));
  }

  static std::string joined(const std::string &path, const std::string &key) { return path.empty() ? key : path + "." + key; }

  /// What the children are called: keys, fields, or positions, also those of types that only the model's author knows.
  std::vector<std::string> keysOf(const Json &node, std::string_view type, size_t count) {
    std::vector<std::string> keys;
    std::string_view context = reader.optionalString(node, "context");
    if (isDict(type))
      keys = keyList(context);
    else if (type == "collections.namedtuple") {
      auto fields = program.namedTuples.find(context);
      if (fields != program.namedTuples.end())
        keys.assign(fields->second.begin(), fields->second.end());
    }
    if (keys.size() == count)
      return keys;
    keys.clear();
    for (size_t i = 0; i < count; ++i)
      keys.push_back(std::to_string(i));
    return keys;
  }

  static bool isDict(std::string_view type) {
    return type == "builtins.dict" || type == "collections.OrderedDict" || type == "collections.defaultdict";
  }
  static bool isNamed(std::string_view type) { return isDict(type) || type == "collections.namedtuple"; }

  /// The tree below the number of its format, or null.
  const Json *parse(std::string_view text) {
    Result<JsonDocument> parsed = JsonDocument::parse(text);
    if (!parsed.ok()) {
      reader.fail(parsed.status().code(), parsed.status().message());
      return nullptr;
    }
    documents.push_back(std::move(*parsed));
    auto parts = documents.back().root().elements();
    if (parts.size() == 2 && parts[0].is(Kind::Integer) && parts[1].is(Kind::Object))
      return &parts[1];
    reader.invalid("is not a list of a version and a tree");
    return nullptr;
  }

  ProgramReader reader;
  std::vector<std::string> paths;

private:
  /// A dict's context: the list of its keys, again as JSON. Of a defaultdict it is [factory, that list].
  std::vector<std::string> keyList(std::string_view context) {
    std::vector<std::string> keys;
    Result<JsonDocument> parsed = JsonDocument::parse(context);
    if (!parsed.ok())
      return keys;
    std::span<const Json> list = parsed->root().elements();
    if (list.size() == 2 && list[1].is(Kind::Array))
      list = list[1].elements();
    for (const Json &key : list) {
      if (key.is(Kind::String))
        keys.emplace_back(key.string());
      else if (key.is(Kind::Integer))
        keys.push_back(std::to_string(key.integer()));
      else
        keys.push_back(std::to_string(keys.size()));
    }
    return keys;
  }

  const Program &program;
  std::vector<JsonDocument> documents;
  std::optional<ProgramReader::Place> place;
};

} // namespace

Result<std::vector<std::string>> inputPaths(const Program &program) {
  if (program.inputTree.empty())
    return std::vector<std::string>();
  TreeReader tree(program, "in_spec");
  const Json *root = tree.parse(program.inputTree);
  if (!root)
    return tree.reader.status;
  auto halves = tree.reader.need(*root, "children_spec", Kind::Array).elements();
  if (tree.reader.ok() && halves.size() != 2)
    tree.reader.invalid("is no pair of arguments and keyword arguments");
  size_t next = 0;
  for (size_t half = 0; half < halves.size() && tree.reader.ok(); ++half) {
    std::string_view type = tree.reader.optionalString(halves[half], "type");
    auto arguments = tree.reader.need(halves[half], "children_spec", Kind::Array).elements();
    std::vector<std::string> keys = tree.keysOf(halves[half], type, arguments.size());
    for (size_t i = 0; i < arguments.size(); ++i, ++next) {
      bool isKeyword = half == 1;
      std::string name = isKeyword                             ? keys[i]
                         : next < program.argumentNames.size() ? std::string(program.argumentNames[next])
                                                               : std::string();
      size_t before = tree.paths.size();
      tree.leaves(arguments[i], name);
      if (name.empty())
        for (size_t leaf = before; leaf < tree.paths.size(); ++leaf)
          tree.paths[leaf].clear();
    }
  }
  if (!tree.reader.ok())
    return tree.reader.status;
  return std::move(tree.paths);
}

Result<std::vector<std::string>> outputPaths(const Program &program) {
  if (program.outputTree.empty())
    return std::vector<std::string>();
  TreeReader tree(program, "out_spec");
  const Json *root = tree.parse(program.outputTree);
  if (!root)
    return tree.reader.status;
  // Keys of the caller's own need no prefix.
  bool isNamed = TreeReader::isNamed(tree.reader.optionalString(*root, "type"));
  tree.leaves(*root, isNamed ? "" : "output");
  if (!tree.reader.ok())
    return tree.reader.status;
  return std::move(tree.paths);
}

} // namespace stator::torch::exported
