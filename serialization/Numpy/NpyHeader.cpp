// Reads and writes the header of a .npy file: just the subset of Python's literals that NumPy writes there.
#include "serialization/Numpy/NpyHeader.h"

#include <charconv>

using namespace stator;
using namespace stator::serialization;

static constexpr size_t kMaxRank = 64;

Result<uint64_t> stator::serialization::npyByteSize(ElementType type, std::span<const int64_t> shape) {
  uint64_t bytes = byteSize(type);
  for (int64_t extent : shape) {
    if (extent < 0)
      return invalidFile("npy: extent " + std::to_string(extent) + " is negative");
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(extent), &bytes))
      return invalidFile("npy: the shape exceeds 64 bits in size");
  }
  return bytes;
}

namespace {
class HeaderParser {
public:
  explicit HeaderParser(std::string_view text) : text(text) {}

  Result<NpyHeader> parse() {
    NpyHeader header;
    bool hasType = false, hasOrder = false, hasShape = false;
    if (!accept('{'))
      return error("expected `{`");
    while (!accept('}')) {
      STATOR_TRY(key, parseString());
      if (!accept(':'))
        return error("expected `:`");
      if (key == "descr" && !hasType) {
        hasType = true;
        STATOR_RETURN_IF_ERROR(parseType(header));
      } else if (key == "fortran_order" && !hasOrder) {
        hasOrder = true;
        STATOR_TRY(order, parseBool());
        header.isFortranOrder = order;
      } else if (key == "shape" && !hasShape) {
        hasShape = true;
        STATOR_TRY(shape, parseShape());
        header.shape = std::move(shape);
      } else {
        return error("the key `" + shown(key) + "` is unexpected");
      }
      if (!accept(',') && !(peek() == '}'))
        return error("expected `,` or `}`");
    }
    skipSpaces();
    if (position != text.size())
      return error("expected the end");
    if (!hasType || !hasOrder || !hasShape)
      return error(std::string("the key `") + (!hasType ? "descr" : !hasOrder ? "fortran_order" : "shape") + "` is missing");
    return header;
  }

private:
  Status error(const std::string &what) const {
    return invalidFile("npy header, at character " + std::to_string(position + 1) + ": " + what);
  }

  static std::string shown(const std::string &text) {
    std::string result;
    for (char c : text.substr(0, 40))
      result += static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e ? '?' : c;
    return result;
  }

  void skipSpaces() {
    while (position != text.size() && (text[position] == ' ' || text[position] == '\n' || text[position] == '\t'))
      ++position;
  }

  char peek() {
    skipSpaces();
    return position == text.size() ? '\0' : text[position];
  }

  bool accept(char c) {
    if (position == text.size() || peek() != c || position == text.size())
      return false;
    ++position;
    return true;
  }

  Result<std::string> parseString() {
    char quote = peek();
    if (quote != '\'' && quote != '"')
      return error("expected a string");
    size_t end = text.find(quote, position + 1);
    if (end == std::string_view::npos)
      return error("a string has no end");
    std::string value(text.substr(position + 1, end - position - 1));
    position = end + 1;
    return value;
  }

  Result<bool> parseBool() {
    skipSpaces();
    for (std::string_view word : {"True", "False"})
      if (text.substr(position, word.size()) == word) {
        position += word.size();
        return word == "True";
      }
    return error("expected True or False");
  }

  Status parseType(NpyHeader &header) {
    if (peek() == '[')
      return unsupported("npy: arrays of records are not supported");
    STATOR_TRY(descr, parseString());
    std::string kind = descr.size() == 3 ? descr.substr(1) : "";
    char order = descr.empty() ? '\0' : descr[0];
    struct {
      const char *kind;
      ElementType type;
    } known[] = {{"f4", ElementType::F32}, {"f8", ElementType::F64}, {"f2", ElementType::F16},
                 {"i8", ElementType::I64}, {"i4", ElementType::I32}, {"i2", ElementType::I16},
                 {"i1", ElementType::I8},  {"u1", ElementType::U8},  {"b1", ElementType::I1}};
    for (auto &entry : known) {
      if (kind != entry.kind)
        continue;
      bool oneByte = byteSize(entry.type) == 1;
      if (order != '<' && order != '>' && order != '=' && !(order == '|' && oneByte))
        break;
      header.type = entry.type;
      header.isBigEndian = order == '>' && !oneByte;
      return Status();
    }
    return unsupported("npy: element type `" + shown(descr) + "` is not supported");
  }

  Result<std::vector<int64_t>> parseShape() {
    std::vector<int64_t> shape;
    if (!accept('('))
      return error("expected `(`");
    while (!accept(')')) {
      char c = peek();
      int64_t extent = 0;
      auto [end, failure] = std::from_chars(text.data() + position, text.data() + text.size(), extent);
      if (c < '0' || c > '9' || failure != std::errc())
        return error("expected an extent");
      position = static_cast<size_t>(end - text.data());
      if (position != text.size() && text[position] == 'L') // Python 2 wrote long integers so.
        ++position;
      shape.push_back(extent);
      if (shape.size() > kMaxRank)
        return error("more than 64 axes");
      if (!accept(',') && peek() != ')')
        return error("expected `,` or `)`");
    }
    return shape;
  }

  std::string_view text;
  size_t position = 0;
};
} // namespace

Result<NpyHeader> stator::serialization::parseNpyHeader(std::string_view text) { return HeaderParser(text).parse(); }

static const char *descrOf(ElementType type) {
  switch (type) {
  case ElementType::F32:
  case ElementType::BF16:
    return "<f4";
  case ElementType::F64:
    return "<f8";
  case ElementType::F16:
    return "<f2";
  case ElementType::I64:
    return "<i8";
  case ElementType::I32:
    return "<i4";
  case ElementType::I16:
    return "<i2";
  case ElementType::I8:
    return "|i1";
  case ElementType::U8:
    return "|u1";
  case ElementType::I1:
    return "|b1";
  }
  return "";
}

std::string stator::serialization::formatNpyHeader(ElementType type, std::span<const int64_t> shape) {
  std::string dictionary = std::string("{'descr': '") + descrOf(type) + "', 'fortran_order': False, 'shape': (";
  for (size_t i = 0; i != shape.size(); ++i)
    dictionary += (i == 0 ? "" : " ") + std::to_string(shape[i]) + (i + 1 != shape.size() || shape.size() == 1 ? "," : "");
  dictionary += "), }";
  constexpr size_t kPrefix = 10;
  size_t total = (kPrefix + dictionary.size() + 1 + 63) / 64 * 64;
  dictionary.resize(total - kPrefix - 1, ' ');
  dictionary += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(dictionary.size() & 0xff);
  header += static_cast<char>(dictionary.size() >> 8);
  return header + dictionary;
}
