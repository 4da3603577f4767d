//===- Weights.cpp - parameters, buffers and constants of a program --------===//

#include "compiler/Import/Torch/Export/Weights.h"
#include "compiler/Import/Torch/Export/ProgramReader.h"

namespace stator::torch::exported {

/// Either kind of directory: entries of a JSON file, or tensors of a pickle in an archive of its own.
struct Weights::Directory {
  std::string folder; // of raw records
  std::optional<JsonDocument> document;
  std::vector<WeightEntry> raw;

  std::shared_ptr<Archive> nested;
  std::unique_ptr<PayloadReader> reader;
  std::optional<PickleTree> tree;

  const WeightEntry *findRaw(std::string_view name) const {
    for (const WeightEntry &entry : raw)
      if (entry.name == name)
        return &entry;
    return nullptr;
  }
  const PickleValue *findPickled(std::string_view name) const { return tree ? tree->root().find(llvm::StringRef(name)) : nullptr; }
};

Weights::Weights() = default;
Weights::~Weights() = default;

Result<std::unique_ptr<Weights>> Weights::open(const Archive &archive, const std::string &program) {
  std::unique_ptr<Weights> result(new Weights());
  result->archive = &archive;
  result->reader = std::make_unique<PayloadReader>(archive);
  STATOR_TRY(weights, result->openDirectory(archive, program, /*isConstant=*/false));
  result->weights = std::move(weights);
  STATOR_TRY(constants, result->openDirectory(archive, program, /*isConstant=*/true));
  result->constants = std::move(constants);
  return result;
}

static const Record *findFirst(const Archive &archive, std::initializer_list<std::string> names) {
  for (const std::string &name : names)
    if (const Record *record = archive.find(name))
      return record;
  return nullptr;
}

Result<std::unique_ptr<Weights::Directory>> Weights::openDirectory(const Archive &archive, const std::string &program, bool isConstant) {
  auto directory = std::make_unique<Directory>();
  std::string kind = isConstant ? "constants" : "weights";
  directory->folder = "data/" + kind;
  std::string base = directory->folder + "/" + program;
  const Record *config = findFirst(
      archive, {base + "_" + kind + "_config.json", base + (isConstant ? "_model_constants_config.json" : "_model_param_config.json")});
  if (config) {
    STATOR_TRY(text, archive.text(*config));
    Result<JsonDocument> document = JsonDocument::parse(text);
    if (!document.ok())
      return document.status().withContext(config->name);
    directory->document = std::move(*document);
    Result<std::vector<WeightEntry>> entries = parseWeightConfig(*directory->document);
    if (!entries.ok())
      return entries.status().withContext(config->name);
    directory->raw = std::move(*entries);
    return directory;
  }
  std::string legacy = isConstant ? "serialized_constants" : "serialized_state_dict";
  const Record *pickle = findFirst(archive, {base + ".pt", legacy + ".pt", legacy + ".json"});
  // Nothing at all, or an empty file, is an empty table: a weight that is then missing is named when it is asked for.
  if (!pickle || pickle->size == 0)
    return directory;
  Result<std::shared_ptr<Archive>> nested = archive.openNested(*pickle);
  if (!nested.ok())
    return nested.status().withContext(pickle->name);
  directory->nested = *nested;
  directory->reader = std::make_unique<PayloadReader>(*directory->nested);
  Result<PickleTree> tree = unpickle(*directory->nested, "data.pkl");
  if (!tree.ok())
    return tree.status().withContext(pickle->name);
  if (!tree->root().is(PickleKind::Dict))
    return invalidFile(pickle->name + ": holds " + describe(tree->root().kind()) + ", expected a dict of tensors");
  directory->tree = std::move(*tree);
  return directory;
}

std::vector<Weights::Entry> Weights::entries() const {
  std::vector<Entry> result;
  for (const Directory *directory : {weights.get(), constants.get()}) {
    for (const WeightEntry &raw : directory->raw)
      result.push_back({std::string(raw.name), directory == constants.get(), raw.isParameter, !raw.isPickled, raw.scalarType, raw.sizes});
    if (!directory->tree)
      continue;
    for (auto [key, value] : directory->tree->root().entries()) {
      const PickledTensor *tensor = value->tensor();
      Entry entry{key->text().str(), directory == constants.get(), tensor && tensor->isParameter, tensor != nullptr, -1, {}};
      if (tensor) {
        entry.scalarType = tensor->scalarType;
        entry.sizes.assign(tensor->sizes.begin(), tensor->sizes.end());
      }
      result.push_back(std::move(entry));
    }
  }
  return result;
}

Result<TensorPayload> Weights::load(std::string_view name, bool isConstant) {
  std::string place = "weight `" + shown(name) + "`";
  for (Directory *directory : {isConstant ? constants.get() : weights.get(), isConstant ? weights.get() : constants.get()}) {
    if (const WeightEntry *entry = directory->findRaw(name)) {
      if (entry->isPickled)
        return unsupported(place +
                           ": is a pickled Python object (a tensor subclass, as quantisation libraries make them); unwrap it to plain "
                           "tensors before the export");
      Result<TensorPayload> payload =
          reader->read(directory->folder, entry->pathName, {entry->scalarType, entry->sizes, entry->strides, entry->offset});
      if (!payload.ok())
        return payload.status().withContext(place);
      return payload;
    }
    if (const PickleValue *value = directory->findPickled(name)) {
      if (!value->tensor())
        return unsupported(place + ": is " + describe(value->kind()) + ", expected a tensor");
      Result<TensorPayload> payload = directory->reader->read(*value->tensor(), "data");
      if (!payload.ok())
        return payload.status().withContext(place);
      return payload;
    }
  }
  return invalidFile(place + ": is not in the file");
}

} // namespace stator::torch::exported
