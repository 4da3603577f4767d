// stator/Tensor.h - tensors in the caller's memory: TensorView (owns nothing), TensorViews (a list of them), Tensor (owns).
//
// All are dense and row-major. A view's shape is borrowed like its data, so views are passed, not kept. Nothing here is synchronised.
#ifndef STATOR_TENSOR_H
#define STATOR_TENSOR_H

#include "stator/ElementType.h"
#include "stator/c/runtime.h"

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace stator {

namespace detail {
template <typename T>
struct ElementTypeOf;
template <>
struct ElementTypeOf<float> {
  static constexpr ElementType value = ElementType::F32;
};
template <>
struct ElementTypeOf<double> {
  static constexpr ElementType value = ElementType::F64;
};
template <>
struct ElementTypeOf<int64_t> {
  static constexpr ElementType value = ElementType::I64;
};
template <>
struct ElementTypeOf<int32_t> {
  static constexpr ElementType value = ElementType::I32;
};
template <>
struct ElementTypeOf<int16_t> {
  static constexpr ElementType value = ElementType::I16;
};
template <>
struct ElementTypeOf<int8_t> {
  static constexpr ElementType value = ElementType::I8;
};
template <>
struct ElementTypeOf<uint8_t> {
  static constexpr ElementType value = ElementType::U8;
};
template <>
struct ElementTypeOf<bool> {
  static constexpr ElementType value = ElementType::I1;
};
} // namespace detail

/// A tensor in somebody's memory. The view borrows data and shape.
class TensorView {
public:
  TensorView() : view{} {}
  explicit TensorView(const stator_tensor_view &raw) : view(raw) {}
  TensorView(ElementType type, const int64_t *shape, size_t rank, void *data, size_t sizeBytes)
      : view{data, sizeBytes, shape, static_cast<int32_t>(rank), static_cast<int32_t>(type)} {}
  /// Over an array of C++ numbers; `shape` must outlive the view. Input tensors are only read, so const data is fine for those.
  template <typename T>
  TensorView(const T *data, const std::vector<int64_t> &shape)
      : TensorView(detail::ElementTypeOf<T>::value, shape.data(), shape.size(), const_cast<T *>(data), sizeof(T) * product(shape)) {}

  ElementType type() const { return static_cast<ElementType>(view.element_type); }
  size_t rank() const { return static_cast<size_t>(view.rank); }
  int64_t dim(size_t axis) const { return view.shape[axis]; }
  const int64_t *shape() const { return view.shape; }
  std::vector<int64_t> shapeVector() const { return std::vector<int64_t>(view.shape, view.shape + view.rank); }
  int64_t elementCount() const {
    int64_t count = 1;
    for (int32_t i = 0; i < view.rank; ++i)
      count *= view.shape[i];
    return count;
  }
  size_t sizeBytes() const { return view.size_bytes; }
  void *data() const { return view.data; }
  /// The data as C++ numbers, or null when the element type is another one.
  template <typename T>
  T *data() const {
    return type() == detail::ElementTypeOf<std::remove_const_t<T>>::value ? static_cast<T *>(view.data) : nullptr;
  }

  const stator_tensor_view &raw() const { return view; }
  /// This view and those behind it in an array, as the C interface wants them.
  stator_tensor_view *rawArray() { return &view; }
  const stator_tensor_view *rawArray() const { return &view; }

private:
  static size_t product(const std::vector<int64_t> &shape) {
    size_t count = 1;
    for (int64_t size : shape)
      count *= static_cast<size_t>(size);
    return count;
  }

  stator_tensor_view view;
};
static_assert(std::is_standard_layout<TensorView>::value && sizeof(TensorView) == sizeof(stator_tensor_view),
              "an array of TensorView is passed to the C interface as it is");

/// A tensor with its own 64-byte aligned memory. Moved, or copied on request.
class Tensor {
public:
  Tensor() = default;
  Tensor(ElementType type, std::vector<int64_t> shape) : elementType(type), sizes(std::move(shape)) {
    size_t count = 1;
    for (int64_t size : sizes)
      count *= static_cast<size_t>(size);
    bytes = count * byteSize(type);
    storage.reset(new unsigned char[bytes + alignment]);
    start = storage.get() + (alignment - reinterpret_cast<uintptr_t>(storage.get()) % alignment) % alignment;
  }
  static Tensor zeros(ElementType type, std::vector<int64_t> shape) {
    Tensor tensor(type, std::move(shape));
    std::memset(tensor.start, 0, tensor.bytes);
    return tensor;
  }
  /// A copy of what a view shows.
  static Tensor copyOf(const TensorView &view) {
    Tensor tensor(view.type(), view.shapeVector());
    if (tensor.bytes)
      std::memcpy(tensor.start, view.data(), tensor.bytes);
    return tensor;
  }

  ElementType type() const { return elementType; }
  const std::vector<int64_t> &shape() const { return sizes; }
  size_t sizeBytes() const { return bytes; }
  void *data() { return start; }
  const void *data() const { return start; }
  template <typename T>
  T *data() {
    return view().data<T>();
  }
  template <typename T>
  const T *data() const {
    return view().data<T>();
  }

  TensorView view() const { return TensorView(elementType, sizes.data(), sizes.size(), start, bytes); }
  operator TensorView() const { return view(); }

private:
  static constexpr size_t alignment = 64;
  ElementType elementType = ElementType::F32;
  std::vector<int64_t> sizes;
  std::unique_ptr<unsigned char[]> storage;
  unsigned char *start = nullptr;
  size_t bytes = 0;
};

/// A borrowed list of views, as a parameter of a call: made from a braced list, a vector or an array.
class TensorViews {
public:
  TensorViews() = default;
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 9
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winit-list-lifetime" // The list lives as long as the call.
#endif
  TensorViews(std::initializer_list<TensorView> list) : first(list.begin()), count(list.size()) {}
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 9
#pragma GCC diagnostic pop
#endif
  TensorViews(const std::vector<TensorView> &list) : first(list.data()), count(list.size()) {}
  TensorViews(const TensorView *views, size_t count) : first(views), count(count) {}

  size_t size() const { return count; }
  const TensorView &operator[](size_t index) const { return first[index]; }
  const stator_tensor_view *rawArray() const { return count ? first->rawArray() : nullptr; }

private:
  const TensorView *first = nullptr;
  size_t count = 0;
};

} // namespace stator

#endif // STATOR_TENSOR_H
