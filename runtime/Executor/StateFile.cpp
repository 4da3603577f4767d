// State as a file: an .npz that NumPy reads too, one array per state.
#include "runtime/Executor/ShapeBinding.h"
#include "runtime/Executor/State.h"
#include "serialization/Numpy/Npy.h"

#include <algorithm>
#include <cstring>

namespace stator::runtime {

using serialization::NamedNpyArray;
using serialization::NamedNpyView;
using serialization::NpyArray;
using serialization::NpyView;

static std::span<const int64_t> shapeOf(const stator_tensor_view &view) { return {view.shape, static_cast<size_t>(view.rank)}; }

Status State::save(const std::string &path) const {
  std::vector<NamedNpyView> arrays;
  for (size_t i = 0; i < count(); ++i) {
    stator_tensor_view tensor = view(i);
    arrays.push_back({name(i), NpyView(static_cast<ElementType>(tensor.element_type), shapeOf(tensor),
                                       {static_cast<const std::byte *>(tensor.data), tensor.size_bytes})});
  }
  return serialization::writeNpz(path, arrays);
}

Status State::load(const std::string &path) {
  // bf16 is stored as f32, hence twice the size.
  size_t largest = 0;
  for (size_t i = 0; i < count(); ++i)
    largest = std::max(largest, view(i).size_bytes);
  STATOR_TRY(arrays, serialization::readNpz(path, 2 * uint64_t(largest)));
  std::vector<NpyArray> found;
  for (size_t i = 0; i < count(); ++i) {
    stator_tensor_view tensor = view(i);
    auto type = static_cast<ElementType>(tensor.element_type);
    auto match = std::find_if(arrays.begin(), arrays.end(), [&](const NamedNpyArray &array) { return array.name == name(i); });
    std::string what = "`" + path + "`: state `" + name(i) + "`";
    if (match == arrays.end())
      return invalidFile(what + " is missing");
    NpyArray array = std::move(match->array);
    if (type == ElementType::BF16 && array.type == ElementType::F32)
      array = serialization::toBf16(std::move(array));
    if (array.type != type || !std::equal(array.shape.begin(), array.shape.end(), tensor.shape, tensor.shape + tensor.rank))
      return invalidFile(what + " is " + stator::name(array.type) + " " +
                         describeShape(array.shape.data(), static_cast<int64_t>(array.shape.size())) + ", expected " + stator::name(type) +
                         " " + describeShape(tensor.shape, tensor.rank));
    found.push_back(std::move(array));
  }
  // From here on nothing can fail, so that a bad file has changed nothing.
  for (size_t i = 0; i < count(); ++i)
    if (!found[i].data.empty())
      std::memcpy(tensors[i].data, found[i].data.data(), found[i].data.size());
  return okStatus();
}

} // namespace stator::runtime
