// DEPS: stator::serialization::Numpy
// NumPy's files. The bytes of the first case were written by NumPy 1.24 itself; everything else is checked against them and by hand.
#include "serialization/Numpy/Npy.h"

#include "serialization/Numpy/NpyHeader.h"
#include "serialization/Zip/ZipWriter.h"
#include "test/unit/Catch.h"
#include "test/unit/serialization/TemporaryFolder.h"

#include <cstring>

using namespace stator;
using namespace stator::serialization;
using namespace stator::test;

/// A file of version 1 around this dictionary.
static std::string npy(std::string dictionary, const std::string &data, char version = 1) {
  std::string bytes("\x93NUMPY", 6);
  bytes += version;
  bytes += '\0';
  dictionary += '\n';
  bytes += static_cast<char>(dictionary.size());
  bytes += static_cast<char>(dictionary.size() >> 8);
  if (version != 1)
    bytes += std::string(2, '\0');
  return bytes + dictionary + data;
}

static std::string dictionary(const std::string &type, const std::string &shape, const std::string &order = "False") {
  return "{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
}

static NpyArray parsed(const std::string &bytes) {
  Result<NpyArray> array = parseNpy(bytesOf(bytes));
  INFO(array.status().message());
  REQUIRE(array.ok());
  return *array;
}

static std::string error(const std::string &bytes) {
  Result<NpyArray> array = parseNpy(bytesOf(bytes));
  REQUIRE_FALSE(array.ok());
  return array.status().message();
}

template <typename T>
static std::vector<T> elements(const NpyArray &array) {
  std::vector<T> values(array.data.size() / sizeof(T));
  if (!values.empty())
    std::memcpy(values.data(), array.data.data(), array.data.size());
  return values;
}

template <typename T>
static std::string raw(const std::vector<T> &values) {
  return {reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T)};
}

TEST_CASE("a header is what NumPy itself writes") {
  // np.save of np.arange(6, dtype=np.float32).reshape(2, 3).
  std::string expected("\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"
                       "                                                          \n",
                       128);
  int64_t shape[] = {2, 3};
  CHECK(formatNpyHeader(ElementType::F32, shape) == expected);
  CHECK(formatNpyHeader(ElementType::I1, std::span(shape, 1)).find("'descr': '|b1', 'fortran_order': False, 'shape': (2,), }") == 11);
  CHECK(formatNpyHeader(ElementType::I64, {}).find("'<i8', 'fortran_order': False, 'shape': (), }") != std::string::npos);
}

TEST_CASE("arrays of every element type are written and read back") {
  TemporaryFolder folder;
  std::string path = folder.path("a.npy");
  for (ElementType type : kAllElementTypes) {
    if (type == ElementType::BF16)
      continue;
    NpyArray array{type, {3, 2}, std::vector<std::byte>(6 * byteSize(type))};
    for (size_t i = 0; i != array.data.size(); ++i)
      array.data[i] = std::byte(type == ElementType::I1 ? i % 2 : i * 7);
    REQUIRE(writeNpy(path, array).ok());
    NpyArray reread = *readNpy(path);
    CHECK(reread.type == type);
    CHECK(reread.shape == array.shape);
    CHECK(reread.data == array.data);
  }
  CHECK(folder.fileCount() == 1);
}

TEST_CASE("scalars and empty arrays have their shapes") {
  CHECK(parsed(npy(dictionary("<f4", "()"), "abcd")).shape.empty());
  CHECK(parsed(npy(dictionary("<f4", "(0, 7)"), "")).shape == std::vector<int64_t>{0, 7});
  CHECK(parsed(npy(dictionary("<f4", "(3, 0, 2)", "True"), "")).data.empty());
}

TEST_CASE("Fortran order and big-endian arrays become row-major and little-endian") {
  // [[0, 1, 2], [3, 4, 5]] by columns.
  NpyArray array = parsed(npy(dictionary("<i4", "(2, 3)", "True"), raw<int32_t>({0, 3, 1, 4, 2, 5})));
  CHECK(elements<int32_t>(array) == std::vector<int32_t>{0, 1, 2, 3, 4, 5});
  array = parsed(npy(dictionary("|i1", "(2, 2, 2)", "True"), raw<int8_t>({0, 4, 2, 6, 1, 5, 3, 7})));
  CHECK(elements<int8_t>(array) == std::vector<int8_t>{0, 1, 2, 3, 4, 5, 6, 7});
  array = parsed(npy(dictionary(">i2", "(2,)"), std::string("\x01\x02\xff\xfe", 4)));
  CHECK(elements<int16_t>(array) == std::vector<int16_t>{0x0102, -2});
  CHECK(elements<uint8_t>(parsed(npy(dictionary(">u1", "(2,)"), "ab"))) == std::vector<uint8_t>{'a', 'b'});
  CHECK(parsed(npy(dictionary("=f8", "(1,)"), std::string(8, '\0'))).type == ElementType::F64);
  CHECK(elements<uint8_t>(parsed(npy(dictionary("|b1", "(3,)"), std::string("\0\1\xff", 3)))) == std::vector<uint8_t>{0, 1, 1});
}

TEST_CASE("format versions 2 and 3 and old spellings are read") {
  CHECK(parsed(npy(dictionary("<f4", "(1,)"), "abcd", 2)).shape == std::vector<int64_t>{1});
  CHECK(parsed(npy(dictionary("<f4", "(1,)"), "abcd", 3)).shape == std::vector<int64_t>{1});
  CHECK(parsed(npy("{\"shape\":(1L,),\"fortran_order\":False,\"descr\":\"<f4\"}", "abcd")).shape == std::vector<int64_t>{1});
}

TEST_CASE("malformed arrays are refused with the reason") {
  CHECK(error("") == "npy: not a NumPy array, the magic is missing");
  CHECK(error("\x93NUMPX\x01\x01v\x01") == "npy: not a NumPy array, the magic is missing");
  CHECK(error(npy("", "", 4)) == "npy: format version 4.0, expected 1.0, 2.0 or 3.0");
  CHECK(error(npy(dictionary("<f4", "(1,)"), "abcd").substr(0, 30)) == "npy: the file ends within the header");
  CHECK(error(std::string("\x93NUMPY\x02\x00\x01\x00\x00", 11)) == "npy: the file ends within the header");
  CHECK(error(std::string("\x93NUMPY\x02\x00\xff\xff\xff\x7f", 12)) == "npy: a header of 2147483647 bytes");
  CHECK(error(npy(dictionary("<f4", "(2,)"), "abcd")) == "npy: 4 bytes of data, the shape takes 8");
  CHECK(error(npy(dictionary("<f4", "(1,)"), "abcde")) == "npy: 5 bytes of data, the shape takes 4");
  CHECK(error(npy(dictionary("<f4", "(4611686018427387904, 4)"), "")) == "npy: the shape exceeds 64 bits in size");
  CHECK(error(npy(dictionary("<u4", "(1,)"), "")) == "npy: element type `<u4` is not supported");
  CHECK(error(npy(dictionary("|f4", "(1,)"), "")) == "npy: element type `|f4` is not supported");
  CHECK(error(npy(dictionary("|O", "(1,)"), "")) == "npy: element type `|O` is not supported");
  CHECK(error(npy("{'descr': [('a', '<f4')], }", "")) == "npy: arrays of records are not supported");
  CHECK(parseNpy(bytesOf(npy(dictionary("<c8", "(1,)"), ""))).status().code() == StatusCode::Unsupported);
}

TEST_CASE("malformed headers are refused with their place") {
  auto headerError = [](const std::string &text) {
    Result<NpyHeader> header = parseNpyHeader(text);
    REQUIRE_FALSE(header.ok());
    std::string prefix = "npy header, at character ";
    REQUIRE(header.status().message().starts_with(prefix));
    return header.status().message().substr(prefix.size());
  };
  CHECK(headerError("") == "1: expected `{`");
  CHECK(headerError("[") == "1: expected `{`");
  CHECK(headerError("{") == "2: expected a string");
  CHECK(headerError("{'descr") == "2: a string has no end");
  CHECK(headerError("{'descr'}") == "9: expected `:`");
  CHECK(headerError("{'x\n': 1}") == "7: the key `x?` is unexpected");
  CHECK(headerError("{'descr': '<f4', 'descr': '<f4'}") == "26: the key `descr` is unexpected");
  CHECK(headerError("{'descr': '<f4' 'shape'}") == "17: expected `,` or `}`");
  CHECK(headerError("{'fortran_order': 0}") == "19: expected True or False");
  CHECK(headerError("{'shape': 3}") == "11: expected `(`");
  CHECK(headerError("{'shape': (-1,)}") == "12: expected an extent");
  CHECK(headerError("{'shape': (99999999999999999999,)}") == "12: expected an extent");
  CHECK(headerError("{'shape': (1") == "13: expected `,` or `)`");
  CHECK(headerError("{'shape': (1 2)}") == "14: expected `,` or `)`");
  CHECK(headerError("{'descr': '<f4', 'fortran_order': False}") == "41: the key `shape` is missing");
  CHECK(headerError("{}") == "3: the key `descr` is missing");
  CHECK(headerError(dictionary("<f4", "(1,)") + "x").ends_with(": expected the end"));
  std::string many = "{'shape': (";
  for (int i = 0; i != 65; ++i)
    many += "1,";
  CHECK(headerError(many + ")}").ends_with(": more than 64 axes"));
}

TEST_CASE("changed and cut arrays never crash the reader") {
  std::string bytes = npy(dictionary("<f4", "(2, 3)", "True"), std::string(24, 'x'));
  for (size_t i = 0; i != bytes.size(); ++i) {
    (void)parseNpy(bytesOf(bytes.substr(0, i))).ok();
    for (int value = 0; value != 256; ++value) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(value);
      (void)parseNpy(bytesOf(changed)).ok();
    }
  }
}

TEST_CASE("archives are written and read back, stored and deflated") {
  TemporaryFolder folder;
  std::string path = folder.path("a.npz");
  std::vector<float> floats{1, 2, 3};
  std::vector<int64_t> integers{7};
  int64_t three[] = {3};
  std::vector<NamedNpyView> arrays{{"x", {ElementType::F32, three, std::as_bytes(std::span(floats))}},
                                   {"layer/n", {ElementType::I64, {}, std::as_bytes(std::span(integers))}}};
  for (bool compressed : {false, true}) {
    REQUIRE(writeNpz(path, arrays, compressed).ok());
    Result<std::vector<NamedNpyArray>> reread = readNpz(path);
    INFO(reread.status().message());
    REQUIRE(reread.ok());
    REQUIRE(reread->size() == 2);
    CHECK((*reread)[0].name == "x");
    CHECK(elements<float>((*reread)[0].array) == floats);
    CHECK((*reread)[1].name == "layer/n");
    CHECK((*reread)[1].array.shape.empty());
  }
}

TEST_CASE("archives that are damaged are refused with file and array") {
  TemporaryFolder folder;
  std::string path = folder.path("a.npz");
  writeBytes(path, "no zip");
  CHECK(readNpz(path).status().message() == "`" + path + "`: not a zip file, or its end is missing");
  auto writeEntry = [&](const std::string &content, bool deflated) {
    std::unique_ptr<ZipWriter> zip = *ZipWriter::create(path);
    REQUIRE((deflated ? zip->addDeflatedEntry("x.npy", bytesOf(content)) : zip->addEntry("x.npy", bytesOf(content), 64)).ok());
    REQUIRE(zip->finish("").ok());
  };
  writeEntry("junk", false);
  CHECK(readNpz(path).status().message() == "`" + path + "`, array `x`: npy: not a NumPy array, the magic is missing");
  writeEntry(std::string(1000, 'j'), true);
  CHECK(readNpz(path).status().message() == "`" + path + "`, array `x`: npy: not a NumPy array, the magic is missing");
  CHECK(readNpz(path, 999).status().message() == "`" + path + "`: zip entry `x.npy` has 1000 bytes, at most 999 are accepted");
  writeEntry("junk", false);
  std::string bytes = readBytes(path);
  bytes[64] = 'J';
  writeBytes(path, bytes);
  CHECK(readNpz(path).status().message() == "`" + path + "`: zip entry `x.npy`: its checksum is wrong");
}

TEST_CASE("what cannot be written is refused") {
  TemporaryFolder folder;
  std::vector<float> floats{1, 2};
  int64_t three[] = {3}, negative[] = {-1};
  NpyView wrong(ElementType::F32, three, std::as_bytes(std::span(floats)));
  CHECK(writeNpy(folder.path("a"), wrong).message() == "npy: 8 bytes of data, the shape takes 12");
  CHECK(writeNpy(folder.path("a"), NpyView(ElementType::F32, negative, {})).message() == "npy: extent -1 is negative");
  std::vector<NamedNpyView> arrays{{"x", wrong}};
  CHECK(writeNpz(folder.path("a"), arrays).message() == "array `x`: npy: 8 bytes of data, the shape takes 12");
  CHECK(folder.fileCount() == 0);
  CHECK(readNpy(folder.path("a")).status().code() == StatusCode::NotFound);
  writeBytes(folder.path("a"), "x");
  CHECK(readNpy(folder.path("a")).status().message() == "`" + folder.path("a") + "`: npy: not a NumPy array, the magic is missing");
}

TEST_CASE("bf16 goes through f32 and back, rounded to nearest even") {
  TemporaryFolder folder;
  std::vector<uint16_t> bits{0x3f80, 0xc000, 0x7f80, 0x7fc1, 0x0001};
  int64_t five[] = {5};
  NpyView bf16(ElementType::BF16, five, std::as_bytes(std::span(bits)));
  REQUIRE(writeNpy(folder.path("a"), bf16).ok());
  std::vector<NamedNpyView> arrays{{"x", bf16}};
  REQUIRE(writeNpz(folder.path("b"), arrays).ok());
  NpyArray array = *readNpy(folder.path("a"));
  CHECK(array.type == ElementType::F32);
  CHECK(elements<float>(array)[0] == 1.0f);
  CHECK(elements<float>(array)[1] == -2.0f);
  CHECK((*readNpz(folder.path("b")))[0].array.data == array.data);
  CHECK(elements<uint16_t>(toBf16(array)) == bits);

  std::vector<uint32_t> exact{0x3f808000, 0x3f818000, 0x3f808001, 0x7f7fffff, 0x7f800001, 0xff800001, 0x7fffffff};
  int64_t seven[] = {7};
  NpyArray wide{ElementType::F32, {seven, seven + 1}, {}};
  wide.data.resize(28);
  std::memcpy(wide.data.data(), exact.data(), 28);
  CHECK(elements<uint16_t>(toBf16(wide)) == std::vector<uint16_t>{0x3f80, 0x3f82, 0x3f81, 0x7f80, 0x7fc0, 0xffc0, 0x7fff});
  CHECK(toBf16(NpyArray{ElementType::I8, {1}, {std::byte(1)}}).type == ElementType::I8);
}
