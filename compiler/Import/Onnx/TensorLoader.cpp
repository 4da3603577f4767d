//===- TensorLoader.cpp - from TensorProto to tensors of the graph ---------===//

#include "compiler/Import/Onnx/TensorLoader.h"
#include "compiler/Import/Onnx/ExternalFile.h"
#include "compiler/Trace/BuilderImpl.h"
#include "dialects/Graph/ParameterStore.h"

#include <charconv>
#include <cstring>

namespace stator::onnx {

Result<uint64_t> elementCount(const std::vector<int64_t> &dims) {
  uint64_t count = 1;
  for (int64_t dim : dims) {
    if (dim < 0)
      return invalidFile("has the negative size " + std::to_string(dim));
    if (dim && count > (uint64_t(1) << 48) / uint64_t(dim))
      return invalidFile("has more than 2^48 elements");
    count *= uint64_t(dim);
  }
  return count;
}

TensorLoader::TensorLoader(trace::Builder &builder, std::shared_ptr<MappedFile> modelFile, std::string modelPath)
    : builder(builder), modelFile(std::move(modelFile)), modelPath(std::move(modelPath)) {}

trace::Tensor TensorLoader::load(const Tensor &tensor, std::string_view name) {
  trace::BuilderImpl &impl = builder.impl();
  auto failed = [&](const Status &status) {
    builder.fail(status.code(), "tensor `" + std::string(name) + "` " + status.message());
    return impl.poison();
  };
  if (tensor.hasStrings)
    return failed(unsupported("has strings, which are not supported"));
  Result<ElementType> type = elementTypeOf(tensor.dataType);
  if (!type.ok())
    return failed(Status(type.status().code(), "has an " + type.status().message()));
  Result<uint64_t> count = elementCount(tensor.dims);
  if (!count.ok())
    return failed(count.status());
  uint64_t bytes = *count * byteSize(*type);
  std::string parameterName(name);

  if (!tensor.isExternal && !tensor.rawData) {
    Result<std::vector<char>> decoded = decode(tensor, *type, *count);
    if (!decoded.ok())
      return failed(decoded.status());
    return impl.ownedParameter(parameterName, *type, tensor.dims, *decoded, /*isMutable=*/false);
  }
  Result<Place> place = tensor.isExternal ? locateExternal(tensor, bytes) : locate(tensor, bytes);
  if (!place.ok())
    return failed(place.status());
  // A boolean is any byte in the file and 0 or 1 in a tensor.
  if (*type == ElementType::I1) {
    std::vector<char> normalised;
    for (std::byte byte : place->bytes)
      normalised.push_back(byte != std::byte(0));
    return impl.ownedParameter(parameterName, *type, tensor.dims, normalised, /*isMutable=*/false);
  }
  return impl.mappedParameter(parameterName, *type, tensor.dims, place->source, place->offset);
}

Result<TensorLoader::Place> TensorLoader::locate(const Tensor &tensor, uint64_t expectedBytes) {
  std::span<const std::byte> raw = *tensor.rawData;
  if (raw.size() != expectedBytes)
    return invalidFile("has " + std::to_string(raw.size()) + " bytes of data, expected " + std::to_string(expectedBytes));
  graph::ParameterStore &store = graph::parametersOf(builder.impl().context());
  Place place;
  place.source = store.addMapped(modelFile, modelPath);
  place.offset = uint64_t(raw.data() - modelFile->bytes().data());
  place.bytes = raw;
  return place;
}

/// A decimal number without sign or anything after it.
static Result<uint64_t> parseNumber(std::string_view key, std::string_view text) {
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return invalidFile("has the external data " + std::string(key) + " `" + std::string(text) + "`, expected a number of bytes");
  return value;
}

Result<TensorLoader::Place> TensorLoader::locateExternal(const Tensor &tensor, uint64_t expectedBytes) {
  std::string location;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
  bool hasLocation = false;
  for (auto [key, value] : tensor.externalData) {
    if (key == "location") {
      location = value;
      hasLocation = true;
    } else if (key == "offset") {
      STATOR_TRY(number, parseNumber(key, value));
      offset = number;
    } else if (key == "length") {
      STATOR_TRY(number, parseNumber(key, value));
      length = number;
    }
  }
  if (!hasLocation)
    return invalidFile("is external but has no location");
  if (length && *length != expectedBytes)
    return invalidFile("has an external data length of " + std::to_string(*length) + " bytes, expected " + std::to_string(expectedBytes));
  STATOR_TRY(file, openExternal(location));
  uint64_t size = file->bytes().size();
  if (offset > size || expectedBytes > size - offset)
    return invalidFile("needs bytes " + std::to_string(offset) + " to " + std::to_string(offset + expectedBytes) + " of `" + location +
                       "`, which has " + std::to_string(size));
  Place place;
  place.source = graph::parametersOf(builder.impl().context()).addMapped(file, location);
  place.offset = offset;
  place.bytes = file->bytes().subspan(offset, expectedBytes);
  return place;
}

Result<std::shared_ptr<MappedFile>> TensorLoader::openExternal(const std::string &location) {
  auto found = externalFiles.find(location);
  if (found != externalFiles.end())
    return found->second;
  STATOR_TRY(file, openBesideModel(modelPath, location));
  externalFiles[location] = file;
  return file;
}

namespace {

template <typename To, typename From>
void append(std::vector<char> &bytes, From value) {
  To narrowed = static_cast<To>(value);
  const char *raw = reinterpret_cast<const char *>(&narrowed);
  bytes.insert(bytes.end(), raw, raw + sizeof(To));
}

template <typename To, typename From>
std::vector<char> converted(const std::vector<From> &values) {
  std::vector<char> bytes;
  bytes.reserve(values.size() * sizeof(To));
  for (From value : values)
    append<To>(bytes, value);
  return bytes;
}

} // namespace

Result<std::vector<char>> TensorLoader::decode(const Tensor &tensor, ElementType type, uint64_t elements) {
  size_t given = 0;
  std::vector<char> bytes;
  switch (type) {
  case ElementType::F32: given = tensor.floatData.size(), bytes = converted<float>(tensor.floatData); break;
  case ElementType::F64: given = tensor.doubleData.size(), bytes = converted<double>(tensor.doubleData); break;
  case ElementType::I64: given = tensor.int64Data.size(), bytes = converted<int64_t>(tensor.int64Data); break;
  case ElementType::I32: given = tensor.int32Data.size(), bytes = converted<int32_t>(tensor.int32Data); break;
  // The narrow types share one field; f16 and bf16 lie in it as bits.
  case ElementType::F16:
  case ElementType::BF16:
  case ElementType::I16: given = tensor.int32Data.size(), bytes = converted<uint16_t>(tensor.int32Data); break;
  case ElementType::I8:
  case ElementType::U8: given = tensor.int32Data.size(), bytes = converted<uint8_t>(tensor.int32Data); break;
  case ElementType::I1:
    given = tensor.int32Data.size();
    for (int32_t value : tensor.int32Data)
      bytes.push_back(value != 0);
    break;
  }
  if (given != elements)
    return invalidFile("has " + std::to_string(given) + " elements of data, expected " + std::to_string(elements));
  return bytes;
}

} // namespace stator::onnx
