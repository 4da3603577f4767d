//===- ModelSummary.cpp - what is in a model file --------------------------===//

#include "compiler/Import/ModelSummary.h"

#include <algorithm>

namespace stator::compiler {

std::string typeText(const std::string &elementType, std::span<const std::string> dims) {
  std::string text = elementType + "[";
  for (size_t i = 0; i < dims.size(); ++i)
    text += (i ? ", " : "") + dims[i];
  return text + "]";
}

std::string typeText(const std::string &elementType, std::span<const int64_t> dims) {
  std::vector<std::string> texts;
  for (int64_t dim : dims)
    texts.push_back(std::to_string(dim));
  return typeText(elementType, texts);
}

void addTensor(ModelSummary::TensorGroup &group, const std::string &name, const std::string &elementType, std::span<const int64_t> dims,
               uint64_t bytes) {
  ModelSummary::TensorGroup::Total &ofType = group.byType[elementType];
  for (ModelSummary::TensorGroup::Total *total : {&group.total, &ofType}) {
    ++total->count;
    total->bytes += bytes;
  }
  // Behind those of the same size: the first of them in the file stays first.
  auto place =
      std::find_if(group.largest.begin(), group.largest.end(), [&](const ModelSummary::Tensor &other) { return other.bytes < bytes; });
  if (place == group.largest.end() && group.largest.size() >= kLargestTensors)
    return;
  group.largest.insert(place, {name, typeText(elementType, dims), bytes});
  if (group.largest.size() > kLargestTensors)
    group.largest.pop_back();
}

} // namespace stator::compiler
