//===- ParameterTable.cpp - weights as parameters of the module ------------===//

#include "compiler/Import/Torch/Export/ParameterTable.h"
#include "compiler/Import/Torch/Export/ProgramReader.h"
#include "compiler/Trace/BuilderImpl.h"
#include "dialects/Graph/ParameterStore.h"

namespace stator::torch::exported {

ParameterTable::Key ParameterTable::keyOf(const TensorPayload &payload, std::string_view name) {
  Key key{payload.storageId(), payload.storageOffset, payload.type, payload.sizes, payload.strides, {}};
  if (payload.elements == 0 || !key.storage)
    key.name = name;
  return key;
}

Result<TensorRef> ParameterTable::load(Context &context, const Archive &archive, Weights &weights, std::string_view name, bool isConstant,
                                       std::string_view prefix) {
  STATOR_TRY(payload, weights.load(name, isConstant));
  Key key = keyOf(payload, name);
  keys[std::string(name)] = key;
  auto known = byKey.find(key);
  if (known != byKey.end())
    return known->second->tensor;

  trace::BuilderImpl &impl = trace::BuilderImpl::of(context.builder());
  Parameter parameter{key, std::string(name), {}, {}, written.contains(key)};
  auto symbol = symbols.find(key);
  if (symbol != symbols.end())
    parameter.value = impl.sharedParameter(symbol->second);
  if (!parameter.value) {
    std::string unique(name);
    for (const auto &[other, otherName] : symbols)
      if (otherName == name && other != key)
        unique = std::string(prefix) + "." + unique;
    if (payload.fileOffset && payload.elements > 0) {
      int32_t source = graph::parametersOf(impl.context()).addMapped(archive.file(), path);
      llvm::ArrayRef<int64_t> strides = payload.isContiguous() ? llvm::ArrayRef<int64_t>() : llvm::ArrayRef<int64_t>(payload.strides);
      parameter.value =
          impl.mappedParameter(unique, payload.type, payload.sizes, source, *payload.fileOffset, strides, parameter.isMutable);
    } else {
      parameter.value = impl.ownedParameter(unique, payload.type, payload.sizes, payload.gather(), parameter.isMutable);
    }
    if (llvm::StringRef made = impl.nameOf(parameter.value); !made.empty())
      symbols[key] = made.str();
  }
  if (!impl.ok())
    return impl.takeError().withContext("weight `" + shown(name) + "`");
  trace::Dims strides(payload.strides.begin(), payload.strides.end());
  parameter.tensor = context.make(parameter.value, strides, std::string(name));
  parameters.push_back(std::move(parameter));
  byKey[key] = &parameters.back();
  return parameters.back().tensor;
}

Status ParameterTable::declareMutable(Weights &weights, std::string_view name) {
  STATOR_TRY(payload, weights.load(name, false));
  written.insert(keyOf(payload, name));
  return okStatus();
}

ParameterTable::Parameter *ParameterTable::find(std::string_view name) {
  auto key = keys.find(name);
  auto found = key == keys.end() ? byKey.end() : byKey.find(key->second);
  return found == byKey.end() ? nullptr : found->second;
}

Status ParameterTable::markWritten(Parameter &parameter) {
  // Two different views of one memory are two parameters, of which the other would not see the write.
  for (const Parameter &other : parameters)
    if (other.key.storage && other.key.storage == parameter.key.storage && other.key != parameter.key)
      return unsupported("`" + shown(parameter.name) + "` is written by the program, and `" + shown(other.name) +
                         "` is another view of the same memory; clone one of them before the export");
  states.insert(parameter.name);
  if (written.insert(parameter.key).second || !parameter.isMutable)
    needsRetrace = true;
  return okStatus();
}

Status ParameterTable::finishMethod(Context &context) {
  trace::BuilderImpl &impl = trace::BuilderImpl::of(context.builder());
  for (Parameter &parameter : parameters) {
    if (!parameter.tensor->storage()->isWritten)
      continue;
    trace::Tensor value = context.read(parameter.tensor);
    if (trace::BuilderImpl::same(value, parameter.value))
      continue;
    STATOR_RETURN_IF_ERROR(markWritten(parameter));
    if (parameter.isMutable)
      impl.setParameter(parameter.value, value);
  }
  return impl.ok() ? okStatus() : impl.takeError();
}

Status ParameterTable::set(Context &context, std::string_view name, const trace::Tensor &value) {
  Parameter *parameter = find(name);
  if (!parameter)
    return invalidFile("`" + shown(name) + "` is written, but the program has no such buffer");
  STATOR_RETURN_IF_ERROR(markWritten(*parameter));
  trace::BuilderImpl &impl = trace::BuilderImpl::of(context.builder());
  if (parameter->isMutable)
    impl.setParameter(parameter->value, value);
  return impl.ok() ? okStatus() : impl.takeError();
}

} // namespace stator::torch::exported
