//===- TensorPayload.cpp - checks of tensors in files ----------------------===//

#include "compiler/Import/Torch/Archive/TensorPayload.h"
#include "compiler/Import/Torch/Aten/ScalarTypes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <cstring>

namespace stator::torch {

/// What overlapping views of one import may expand to, beyond what their storages hold.
static constexpr uint64_t kMaxExpandedBytes = uint64_t(256) << 20;
static constexpr size_t kMaxRank = 64;

std::optional<int64_t> scalarTypeOfStorage(std::string_view className) {
  llvm::StringRef dtype = llvm::StringSwitch<llvm::StringRef>(className)
                              .Case("FloatStorage", "float32")
                              .Case("DoubleStorage", "float64")
                              .Case("HalfStorage", "float16")
                              .Case("BFloat16Storage", "bfloat16")
                              .Case("LongStorage", "int64")
                              .Case("IntStorage", "int32")
                              .Case("ShortStorage", "int16")
                              .Case("CharStorage", "int8")
                              .Case("ByteStorage", "uint8")
                              .Case("BoolStorage", "bool")
                              .Case("ComplexFloatStorage", "complex64")
                              .Case("ComplexDoubleStorage", "complex128")
                              .Case("QInt8Storage", "qint8")
                              .Case("QUInt8Storage", "quint8")
                              .Case("QInt32Storage", "qint32")
                              .Case("QUInt4x2Storage", "quint4x2")
                              .Case("QUInt2x4Storage", "quint2x4")
                              .Default("");
  return dtype.empty() ? std::nullopt : scalarTypeNamed(std::string_view(dtype));
}

static std::string list(llvm::ArrayRef<int64_t> numbers) {
  std::string text = "[";
  for (int64_t number : numbers)
    text += (text.size() > 1 ? ", " : "") + std::to_string(number);
  return text + "]";
}

Result<int64_t> elementCount(llvm::ArrayRef<int64_t> sizes) {
  constexpr int64_t limit = int64_t(1) << 48;
  int64_t count = 1;
  for (int64_t size : sizes) {
    if (size < 0)
      return invalidFile("has the negative size " + std::to_string(size));
    // A zero anywhere makes the count 0, but the others still have to be plausible.
    if (size != 0 && count > limit / size)
      return invalidFile("has the sizes " + list(sizes) + ", which are more than 2^48 elements");
    count *= std::max<int64_t>(size, 1);
  }
  return llvm::is_contained(sizes, 0) ? 0 : count;
}

bool TensorPayload::isContiguous() const {
  int64_t expected = 1;
  for (size_t axis = sizes.size(); axis-- != 0;) {
    if (sizes[axis] != 1 && strides[axis] != expected && elements != 0)
      return false;
    expected *= sizes[axis];
  }
  return true;
}

std::span<const std::byte> TensorPayload::bytes() const {
  if (elements == 0)
    return {};
  uint64_t last = 0;
  for (size_t axis = 0; axis != sizes.size(); ++axis)
    last += static_cast<uint64_t>((sizes[axis] - 1) * strides[axis]);
  return storage.subspan(storageOffset, (last + 1) * byteSize(type));
}

std::vector<char> TensorPayload::gather() const {
  unsigned width = byteSize(type);
  std::span<const std::byte> source = bytes();
  std::vector<char> gathered(static_cast<size_t>(elements) * width);
  if (elements == 0)
    return gathered;
  if (isContiguous()) {
    std::memcpy(gathered.data(), source.data(), gathered.size());
    return gathered;
  }
  // An odometer over all axes; the position follows it.
  std::vector<int64_t> index(sizes.size(), 0);
  int64_t position = 0;
  for (char *out = gathered.data(), *end = out + gathered.size(); out != end; out += width) {
    std::memcpy(out, source.data() + position * width, width);
    for (size_t axis = sizes.size(); axis-- != 0;) {
      position += strides[axis];
      if (++index[axis] != sizes[axis])
        break;
      position -= strides[axis] * sizes[axis];
      index[axis] = 0;
    }
  }
  return gathered;
}

/// A name in the directory of payloads or in a pickle is one component of a path below a fixed folder.
static Status checkKey(std::string_view key, std::string_view folder) {
  if (!key.empty() && key != "." && key != ".." && key.find('/') == key.npos && key.find('\\') == key.npos && key.find('\0') == key.npos)
    return Status();
  std::string shown(key.substr(0, 100));
  std::replace_if(shown.begin(), shown.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return invalidFile("has its data in `" + shown + "`, expected the name of a record in the archive's folder `" + std::string(folder) +
                     "`");
}

Result<TensorPayload> PayloadReader::read(const PickledTensor &tensor, std::string_view folder) {
  STATOR_RETURN_IF_ERROR(checkKey(tensor.storageKey, folder));
  std::span<const std::byte> storage;
  std::string name = std::string(folder) + "/" + tensor.storageKey.str();
  // A storage without elements may have an empty record or none.
  const Record *record = archive.find(name);
  if (record || tensor.storageElements != 0) {
    STATOR_TRY(content, archive.bytes(name));
    storage = content;
  }
  uint64_t width = tensor.isUntyped ? 1 : static_cast<uint64_t>(scalarTypeBytes(tensor.scalarType));
  uint64_t expected = 0;
  if (__builtin_mul_overflow(static_cast<uint64_t>(tensor.storageElements), width, &expected) || storage.size() != expected)
    return invalidFile("has " + std::to_string(storage.size()) + " bytes of data in record `" + name + "`, expected " +
                       std::to_string(tensor.storageElements) + " elements of " + std::to_string(width) + " bytes");
  return view(storage, {tensor.scalarType, tensor.sizes, tensor.strides, tensor.offset});
}

Result<TensorPayload> PayloadReader::read(std::string_view folder, std::string_view pathName, const PayloadView &described) {
  STATOR_RETURN_IF_ERROR(checkKey(pathName, folder));
  STATOR_TRY(storage, archive.bytes(std::string(folder) + "/" + std::string(pathName)));
  return view(storage, described);
}

Result<TensorPayload> PayloadReader::view(std::span<const std::byte> storage, const PayloadView &view) {
  std::optional<ElementType> type = elementTypeOf(view.scalarType);
  if (!type)
    return unsupported("has elements of type " + scalarTypeName(view.scalarType) + ", which is not supported");
  if (view.sizes.size() != view.strides.size())
    return invalidFile("has " + std::to_string(view.sizes.size()) + " sizes but " + std::to_string(view.strides.size()) + " strides");
  if (view.sizes.size() > kMaxRank)
    return unsupported("has " + std::to_string(view.sizes.size()) + " dimensions, at most " + std::to_string(kMaxRank) + " are supported");
  TensorPayload payload;
  payload.type = *type;
  STATOR_TRY(elements, elementCount(view.sizes));
  payload.elements = elements;
  payload.sizes = view.sizes.vec();
  payload.strides = view.strides.vec();
  for (int64_t stride : view.strides)
    if (stride < 0)
      return invalidFile("has the negative stride " + std::to_string(stride));
  if (view.offset < 0)
    return invalidFile("has the negative offset " + std::to_string(view.offset));

  uint64_t width = byteSize(*type), available = storage.size() / width;
  auto outside = [&] {
    return invalidFile("has the sizes " + list(view.sizes) + ", strides " + list(view.strides) + " and offset " +
                       std::to_string(view.offset) + ", which reach beyond the " + std::to_string(available) + " elements of its data");
  };
  uint64_t last = static_cast<uint64_t>(view.offset);
  bool isOverflow = false;
  for (auto [size, stride] : llvm::zip_equal(view.sizes, view.strides)) {
    uint64_t step = 0;
    isOverflow |= __builtin_mul_overflow(static_cast<uint64_t>(std::max<int64_t>(size - 1, 0)), static_cast<uint64_t>(stride), &step);
    isOverflow |= __builtin_add_overflow(last, step, &last);
  }
  if (elements == 0) {
    // Nothing is read, wherever it would be.
    payload.storage = storage;
    return payload;
  }
  if (isOverflow || last >= available)
    return outside();
  uint64_t tensorBytes = static_cast<uint64_t>(elements) * width;
  if (tensorBytes > storage.size()) {
    if (tensorBytes - storage.size() > kMaxExpandedBytes - expandedBytes)
      return resourceExhausted("has the sizes " + list(view.sizes) + " on " + std::to_string(available) +
                               " elements of data: overlapping views expand to more than " + std::to_string(kMaxExpandedBytes >> 20) +
                               " MiB");
    expandedBytes += tensorBytes - storage.size();
  }
  payload.storage = *type == ElementType::I1 ? mend(storage) : storage;
  payload.storageOffset = static_cast<uint64_t>(view.offset) * width;
  if (std::optional<uint64_t> begin = archive.fileOffset(payload.storage))
    payload.fileOffset = *begin + payload.storageOffset;
  return payload;
}

/// A boolean is any byte in a file and 0 or 1 in a tensor.
std::span<const std::byte> PayloadReader::mend(std::span<const std::byte> storage) {
  auto isOdd = [](std::byte byte) { return byte > std::byte(1); };
  if (llvm::none_of(storage, isOdd))
    return storage;
  std::shared_ptr<const std::vector<std::byte>> &copy = mended[storage.data()];
  if (!copy) {
    std::vector<std::byte> bytes(storage.begin(), storage.end());
    std::replace_if(bytes.begin(), bytes.end(), isOdd, std::byte(1));
    copy = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  }
  return *copy;
}

} // namespace stator::torch
