//===- ModuleSource.cpp - the objects of an archive --------------------------===//

#include "compiler/Import/Torch/Script/ModuleSource.h"

namespace stator::torch::script {

Status ModuleSource::open() {
  STATOR_TRY(dataTree, unpickle(*archive, "data.pkl"));
  data = std::move(dataTree);
  if (!data->root().is(PickleKind::Object))
    return invalidFile("data.pkl holds " + std::string(describe(data->root().kind())) + ", expected a module");
  if (archive->find("constants.pkl")) {
    STATOR_TRY(constantTree, unpickle(*archive, "constants.pkl"));
    constants = std::move(constantTree);
  }
  nameObjects(data->root(), "");
  visited.clear();
  nameTensors(data->root(), "");
  visited.clear();
  if (constants) {
    uint64_t index = 0;
    for (const PickleValue *value : constants->root().elements()) {
      if (const PickledTensor *tensor = value->tensor())
        parameterOf(*tensor, /*isConstant=*/true).name = "CONSTANTS.c" + std::to_string(index);
      ++index;
    }
  }
  return okStatus();
}

const PickleValue *ModuleSource::constant(uint64_t index) const {
  if (!constants || index >= constants->root().elements().size())
    return nullptr;
  return constants->root().elements()[index];
}

static std::string joined(const std::string &prefix, llvm::StringRef name) {
  return prefix.empty() ? name.str() : prefix + "." + name.str();
}

/// Objects and the tensors that they hold themselves: these names come first.
void ModuleSource::nameObjects(const PickleValue &object, const std::string &prefix) {
  if (!object.is(PickleKind::Object) || !object.content() || !visited.insert(&object).second)
    return;
  objectPaths[&object] = prefix;
  for (const PickleEntry &entry : object.content()->entries())
    if (const PickledTensor *tensor = entry.second->tensor()) {
      ParameterInfo &info = parameterOf(*tensor, /*isConstant=*/false);
      ++info.holders;
      if (info.name.empty())
        info.name = joined(prefix, entry.first->text());
    }
  for (const PickleEntry &entry : object.content()->entries())
    nameObjects(*entry.second, joined(prefix, entry.first->text()));
}

/// What lies in lists, tuples and dicts.
void ModuleSource::nameTensors(const PickleValue &value, const std::string &prefix) {
  if (const PickledTensor *tensor = value.tensor()) {
    ParameterInfo &info = parameterOf(*tensor, /*isConstant=*/false);
    if (info.name.empty())
      info.name = prefix;
    return;
  }
  const PickleValue *content = value.is(PickleKind::Object) ? value.content() : &value;
  if (!content || !visited.insert(&value).second)
    return;
  if (value.is(PickleKind::Object) && !objectPaths.count(&value))
    objectPaths[&value] = prefix;
  size_t index = 0;
  for (const PickleValue *item : content->elements())
    nameTensors(*item, joined(prefix, std::to_string(index++)));
  for (const PickleEntry &entry : content->entries())
    nameTensors(*entry.second,
                joined(prefix, entry.first->is(PickleKind::String) ? entry.first->text() : llvm::StringRef(std::to_string(index++))));
}

ParameterInfo &ModuleSource::parameterOf(const PickledTensor &tensor, bool isConstant) {
  std::string key = isConstant ? "c" : "d";
  key += tensor.storageKey;
  auto append = [&](int64_t number) { key += ":" + std::to_string(number); };
  append(tensor.scalarType);
  append(tensor.offset);
  for (int64_t size : tensor.sizes)
    append(size);
  key += "/";
  for (int64_t stride : tensor.strides)
    append(stride);
  ParameterInfo &info = infos[key];
  if (!info.tensor) {
    info.tensor = &tensor;
    info.folder = isConstant ? "constants" : "data";
  }
  return info;
}

Result<const TensorPayload *> ModuleSource::payloadOf(ParameterInfo &info) {
  if (!info.payload) {
    Result<TensorPayload> payload = payloads.read(*info.tensor, info.folder);
    if (!payload.ok())
      return payload.status().withContext("tensor `" + info.name + "`");
    info.payload = std::move(*payload);
  }
  return &*info.payload;
}

std::vector<ParameterInfo *> ModuleSource::parameters() {
  std::vector<ParameterInfo *> list;
  for (auto &[key, info] : infos)
    list.push_back(&info);
  std::sort(list.begin(), list.end(), [](const ParameterInfo *a, const ParameterInfo *b) { return a->name < b->name; });
  return list;
}

void ModuleSource::beginModule() {
  for (auto &[key, info] : infos)
    info.symbol.clear();
  plan.cellSymbols.clear();
}

} // namespace stator::torch::script
