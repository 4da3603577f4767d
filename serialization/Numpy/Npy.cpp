// .npy and .npz files; see the header.
#include "serialization/Numpy/Npy.h"

#include "serialization/Base/MappedFile.h"
#include "serialization/Base/OutputFile.h"
#include "serialization/Numpy/NpyHeader.h"
#include "serialization/Zip/ZipReader.h"
#include "serialization/Zip/ZipWriter.h"

#include <algorithm>
#include <cstring>

using namespace stator;
using namespace stator::serialization;

/// NumPy itself reads no more than 10,000 bytes of header.
static constexpr size_t kMaxHeaderBytes = 65536;

static void swapBytes(std::vector<std::byte> &data, unsigned elementBytes) {
  for (size_t i = 0; i + elementBytes <= data.size(); i += elementBytes)
    std::reverse(data.begin() + static_cast<ptrdiff_t>(i), data.begin() + static_cast<ptrdiff_t>(i + elementBytes));
}

/// Column-major bytes to row-major.
static std::vector<std::byte> toRowMajor(std::span<const std::byte> source, const std::vector<int64_t> &shape, unsigned elementBytes) {
  std::vector<std::byte> result(source.size());
  std::vector<size_t> strides(shape.size()), index(shape.size(), 0);
  size_t stride = elementBytes;
  for (size_t axis = 0; axis != shape.size(); ++axis) {
    strides[axis] = stride;
    stride *= static_cast<size_t>(shape[axis]);
  }
  size_t from = 0;
  for (size_t to = 0; to != result.size(); to += elementBytes) {
    std::memcpy(result.data() + to, source.data() + from, elementBytes);
    for (size_t axis = shape.size(); axis-- != 0;) {
      from += strides[axis];
      if (++index[axis] != static_cast<size_t>(shape[axis]))
        break;
      from -= strides[axis] * index[axis];
      index[axis] = 0;
    }
  }
  return result;
}

Result<NpyArray> stator::serialization::parseNpy(std::span<const std::byte> bytes) {
  auto byteAt = [&](size_t i) { return static_cast<size_t>(bytes[i]); };
  if (bytes.size() < 10 || std::memcmp(bytes.data(), "\x93NUMPY", 6) != 0)
    return invalidFile("npy: not a NumPy array, the magic is missing");
  size_t major = byteAt(6), minor = byteAt(7);
  if (major < 1 || major > 3 || minor != 0)
    return unsupported("npy: format version " + std::to_string(major) + "." + std::to_string(minor) + ", expected 1.0, 2.0 or 3.0");
  size_t prefix = major == 1 ? 10 : 12;
  if (bytes.size() < prefix)
    return invalidFile("npy: the file ends within the header");
  size_t headerBytes = byteAt(8) | byteAt(9) << 8;
  if (major != 1)
    headerBytes |= byteAt(10) << 16 | byteAt(11) << 24;
  if (headerBytes > kMaxHeaderBytes)
    return invalidFile("npy: a header of " + std::to_string(headerBytes) + " bytes");
  if (headerBytes > bytes.size() - prefix)
    return invalidFile("npy: the file ends within the header");
  STATOR_TRY(header, parseNpyHeader({reinterpret_cast<const char *>(bytes.data()) + prefix, headerBytes}));
  STATOR_TRY(expected, npyByteSize(header.type, header.shape));
  std::span<const std::byte> content = bytes.subspan(prefix + headerBytes);
  if (content.size() != expected)
    return invalidFile("npy: " + std::to_string(content.size()) + " bytes of data, the shape takes " + std::to_string(expected));

  NpyArray array;
  array.type = header.type;
  array.shape = std::move(header.shape);
  unsigned elementBytes = byteSize(array.type);
  if (header.isFortranOrder && array.shape.size() > 1)
    array.data = toRowMajor(content, array.shape, elementBytes);
  else
    array.data.assign(content.begin(), content.end());
  if (header.isBigEndian)
    swapBytes(array.data, elementBytes);
  if (array.type == ElementType::I1)
    for (std::byte &value : array.data)
      value = value == std::byte(0) ? std::byte(0) : std::byte(1);
  return array;
}

Result<NpyArray> stator::serialization::readNpy(const std::string &path) {
  STATOR_TRY(file, MappedFile::open(path));
  Result<NpyArray> array = parseNpy(file->bytes());
  if (!array.ok())
    return array.status().withContext("`" + path + "`");
  return array;
}

static Status checkView(const NpyView &array) {
  Result<uint64_t> expected = npyByteSize(array.type, array.shape);
  if (!expected.ok())
    return invalidArgument(expected.status().message());
  if (*expected != array.data.size())
    return invalidArgument("npy: " + std::to_string(array.data.size()) + " bytes of data, the shape takes " + std::to_string(*expected));
  return Status();
}

Status stator::serialization::writeNpy(const std::string &path, const NpyView &array) {
  STATOR_RETURN_IF_ERROR(checkView(array));
  if (array.type == ElementType::BF16)
    return writeNpy(path, fromBf16(array));
  STATOR_TRY(file, OutputFile::create(path));
  std::string header = formatNpyHeader(array.type, array.shape);
  STATOR_RETURN_IF_ERROR(file->write(header.data(), header.size()));
  STATOR_RETURN_IF_ERROR(file->write(array.data));
  return file->commit();
}

Result<std::vector<NamedNpyArray>> stator::serialization::readNpz(const std::string &path, uint64_t limitBytes) {
  STATOR_TRY(file, MappedFile::open(path));
  std::string place = "`" + path + "`";
  Result<ZipReader> zip = ZipReader::open(file->bytes());
  if (!zip.ok())
    return zip.status().withContext(place);
  std::vector<NamedNpyArray> arrays;
  for (const ZipEntry &entry : zip->entries()) {
    std::string name = entry.name.ends_with(".npy") ? entry.name.substr(0, entry.name.size() - 4) : entry.name;
    std::string entryPlace = place + ", array `" + name + "`";
    Result<NpyArray> array = NpyArray();
    if (entry.isDeflated) {
      Result<std::vector<std::byte>> bytes = zip->read(entry, limitBytes);
      if (!bytes.ok())
        return bytes.status().withContext(place);
      array = parseNpy(*bytes);
    } else {
      STATOR_RETURN_IF_ERROR(zip->checkCrc(entry).withContext(place));
      array = parseNpy(zip->storedBytes(entry));
    }
    if (!array.ok())
      return array.status().withContext(entryPlace);
    arrays.push_back({std::move(name), std::move(*array)});
  }
  return arrays;
}

static Status addArray(ZipWriter &zip, const std::string &name, const NpyView &view, bool compressed) {
  std::string header = formatNpyHeader(view.type, view.shape);
  std::span<const std::byte> headerBytes = std::as_bytes(std::span(header));
  if (!compressed) {
    STATOR_RETURN_IF_ERROR(zip.beginEntry(name + ".npy", headerBytes.size() + view.data.size(), 64));
    STATOR_RETURN_IF_ERROR(zip.write(headerBytes));
    STATOR_RETURN_IF_ERROR(zip.write(view.data));
    return zip.endEntry();
  }
  std::vector<std::byte> bytes(headerBytes.begin(), headerBytes.end());
  bytes.insert(bytes.end(), view.data.begin(), view.data.end());
  return zip.addDeflatedEntry(name + ".npy", bytes);
}

Status stator::serialization::writeNpz(const std::string &path, std::span<const NamedNpyView> arrays, bool compressed) {
  STATOR_TRY(zip, ZipWriter::create(path));
  for (const NamedNpyView &named : arrays) {
    STATOR_RETURN_IF_ERROR(checkView(named.view).withContext("array `" + named.name + "`"));
    if (named.view.type == ElementType::BF16)
      STATOR_RETURN_IF_ERROR(addArray(*zip, named.name, fromBf16(named.view), compressed));
    else
      STATOR_RETURN_IF_ERROR(addArray(*zip, named.name, named.view, compressed));
  }
  return zip->finish("");
}

NpyArray stator::serialization::toBf16(NpyArray array) {
  if (array.type != ElementType::F32)
    return array;
  NpyArray result{ElementType::BF16, std::move(array.shape), std::vector<std::byte>(array.data.size() / 2)};
  for (size_t i = 0; i != result.data.size() / 2; ++i) {
    uint32_t bits;
    std::memcpy(&bits, array.data.data() + 4 * i, 4);
    bool isNan = (bits & 0x7fffffff) > 0x7f800000;
    // A NaN keeps its sign and becomes quiet; rounding could make it infinite.
    uint16_t rounded = isNan ? static_cast<uint16_t>(bits >> 16 | 0x40) : static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    std::memcpy(result.data.data() + 2 * i, &rounded, 2);
  }
  return result;
}

NpyArray stator::serialization::fromBf16(const NpyView &array) {
  NpyArray result{array.type, {array.shape.begin(), array.shape.end()}, {array.data.begin(), array.data.end()}};
  if (array.type != ElementType::BF16)
    return result;
  result.type = ElementType::F32;
  result.data.assign(array.data.size() * 2, std::byte(0));
  for (size_t i = 0; i != array.data.size() / 2; ++i)
    std::memcpy(result.data.data() + 4 * i + 2, array.data.data() + 2 * i, 2);
  return result;
}
