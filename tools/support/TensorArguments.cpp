// The grammar of --input, see Tensors.h.
#include "tools/support/CommandLine.h"
#include "tools/support/Tensors.h"

#include <cstring>
#include <optional>

namespace stator::tools {

namespace {
struct TensorType {
  ElementType type;
  std::vector<int64_t> shape;
};
} // namespace

// "2x3xf32", "f32"; nothing when the text is something else, such as a name.
static std::optional<TensorType> parseType(std::string_view text) {
  std::vector<int64_t> shape;
  for (;;) {
    if (std::optional<ElementType> type = parseElementType(text))
      return TensorType{*type, std::move(shape)};
    size_t x = text.find('x');
    if (x == std::string_view::npos || x == 0 || text[0] < '0' || text[0] > '9')
      return std::nullopt;
    Result<int64_t> size = parseInteger(text.substr(0, x));
    if (!size.ok())
      return std::nullopt;
    shape.push_back(*size);
    text.remove_prefix(x + 1);
  }
}

static bool separates(char c) { return std::strchr(" \t\n,;[]", c) != nullptr; }

static Status parseElement(NpyArray &array, size_t index, std::string_view text) {
  if (array.type == ElementType::I64) { // A double would round large ones.
    STATOR_TRY(number, parseInteger(text));
    std::memcpy(array.data.data() + index * sizeof(int64_t), &number, sizeof(int64_t));
    return okStatus();
  }
  if (array.type == ElementType::I1 && (text == "true" || text == "false")) {
    storeElement(array.type, array.data.data(), index, text == "true");
    return okStatus();
  }
  double number;
  if (isFloat(array.type)) {
    STATOR_TRY(real, parseReal(text));
    number = real;
  } else {
    STATOR_TRY(integer, parseInteger(text));
    number = static_cast<double>(integer);
  }
  storeElement(array.type, array.data.data(), index, number);
  if (!isFloat(array.type) && elementAt(array.type, array.data.data(), index) != number)
    return invalidArgument("`" + std::string(text) + "` does not fit into " + name(array.type));
  return okStatus();
}

static Status parseValues(NpyArray &array, std::string_view text) {
  size_t count = array.data.size() / byteSize(array.type), next = 0;
  if (text.substr(0, 6) == "random") {
    int64_t seed = 0;
    if (text.size() > 6 && text[6] == ':') {
      STATOR_TRY(number, parseInteger(text.substr(7)));
      seed = number;
    } else if (text.size() > 6) {
      return invalidArgument("`" + std::string(text) + "` is not `random` or `random:SEED`");
    }
    fillRandom(array, static_cast<uint64_t>(seed));
    return okStatus();
  }
  if (text == "iota") {
    for (size_t i = 0; i < count; ++i)
      storeElement(array.type, array.data.data(), i, static_cast<double>(i));
    return okStatus();
  }
  while (!text.empty()) {
    if (separates(text[0])) {
      text.remove_prefix(1);
      continue;
    }
    size_t end = 0;
    while (end < text.size() && !separates(text[end]))
      ++end;
    if (next < count)
      STATOR_RETURN_IF_ERROR(parseElement(array, next, text.substr(0, end)));
    ++next;
    text.remove_prefix(end);
  }
  if (next == 1 && count > 1) { // One value stands for all.
    size_t size = byteSize(array.type);
    for (size_t i = 1; i < count; ++i)
      std::memcpy(array.data.data() + i * size, array.data.data(), size);
    return okStatus();
  }
  if (next != count && !(count == 0 && next <= 1))
    return invalidArgument(std::to_string(next) + " values for " + typeText(array.type, array.shape) + ", expected 1 or " +
                           std::to_string(count));
  return okStatus();
}

static bool endsWith(const std::string &text, std::string_view end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

static Result<std::vector<NamedTensor>> readFile(std::string name, const std::string &path) {
  std::vector<NamedTensor> tensors;
  if (!endsWith(path, ".npz")) {
    STATOR_TRY(array, serialization::readNpy(path));
    tensors.push_back({std::move(name), std::move(array)});
    return tensors;
  }
  STATOR_TRY(arrays, serialization::readNpz(path));
  // A name before an archive picks the array of that name.
  for (serialization::NamedNpyArray &array : arrays)
    if (name.empty() || array.name == name)
      tensors.push_back({std::move(array.name), std::move(array.array), name.empty()});
  if (tensors.empty())
    return notFound("`" + path + "` has no array" + (name.empty() ? "" : " `" + name + "`"));
  return tensors;
}

/// The name, if any, and the tensor. Names come from models and may hold `=`: one ends where a type or a file follows. What is a type
/// itself is no name.
static std::pair<std::string_view, std::string_view> splitName(std::string_view text) {
  if (text.starts_with("@") || parseType(text.substr(0, text.find('='))))
    return {"", text};
  for (size_t at = text.find('='); at != text.npos; at = text.find('=', at + 1)) {
    std::string_view rest = text.substr(at + 1);
    if (rest.starts_with("@") || parseType(rest.substr(0, rest.find('='))))
      return {text.substr(0, at), rest};
  }
  // Nothing fits: the error is about what comes after the first `=`.
  size_t first = text.find('=');
  return first == text.npos ? std::pair(std::string_view(), text) : std::pair(text.substr(0, first), text.substr(first + 1));
}

Result<std::vector<NamedTensor>> parseTensorArgument(std::string_view text) {
  auto [name, rest] = splitName(text);
  if (name.empty() && rest.size() != text.size())
    return invalidArgument("`" + std::string(text) + "` has an empty name");
  if (!rest.empty() && rest[0] == '@')
    return readFile(std::string(name), std::string(rest.substr(1)));
  size_t equals = rest.find('=');
  std::string_view typePart = rest.substr(0, equals);
  std::optional<TensorType> type = parseType(typePart);
  if (!type)
    return invalidArgument("`" + std::string(text) + "` is not [NAME=]SHAPExTYPE[=VALUES] or [NAME=]@FILE.npy: `" + std::string(typePart) +
                           "` is no type such as 1x3xf32");
  STATOR_TRY(array, makeTensor(type->type, std::move(type->shape)));
  if (equals != std::string_view::npos)
    STATOR_RETURN_IF_ERROR(parseValues(array, rest.substr(equals + 1)).withContext("`" + std::string(text.substr(0, 80)) + "`"));
  std::vector<NamedTensor> tensors;
  tensors.push_back({std::string(name), std::move(array)});
  return tensors;
}

} // namespace stator::tools
