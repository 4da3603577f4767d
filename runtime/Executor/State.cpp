// State in memory; files of it are read and written in StateFile.cpp.
#include "runtime/Executor/State.h"

#include <cstring>

namespace stator::runtime {

using serialization::Parameter;

Status State::initialise(const LoadedModule &loaded) {
  module = &loaded;
  const std::vector<Parameter> &parameters = loaded.manifest().parameters;
  size_t total = 0;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (!parameters[i].isMutable)
      continue;
    Tensor &tensor = tensors.emplace_back();
    tensor.parameter = i;
    for (uint64_t dim : parameters[i].dims)
      tensor.shape.push_back(static_cast<int64_t>(dim));
    total += (parameters[i].size + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
  }
  if (tensors.empty())
    return okStatus();
  STATOR_RETURN_IF_ERROR(memory.reserve(total ? total : 1));
  byParameter.resize(parameters.size());
  std::byte *next = memory.data();
  for (Tensor &tensor : tensors) {
    tensor.data = byParameter[tensor.parameter] = next;
    next += (parameters[tensor.parameter].size + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
  }
  reset();
  return okStatus();
}

void State::reset() {
  for (Tensor &tensor : tensors)
    if (size_t bytes = module->manifest().parameters[tensor.parameter].size)
      std::memcpy(tensor.data, module->parameter(tensor.parameter), bytes);
}

const std::string &State::name(size_t index) const { return module->manifest().parameters[tensors[index].parameter].name; }

stator_tensor_view State::view(size_t index) const {
  const Tensor &tensor = tensors[index];
  const Parameter &parameter = module->manifest().parameters[tensor.parameter];
  return {tensor.data, parameter.size, tensor.shape.data(), static_cast<int32_t>(tensor.shape.size()),
          static_cast<int32_t>(parameter.elementType)};
}

} // namespace stator::runtime
