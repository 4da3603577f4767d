//===- Json.cpp - the JSON of exported programs as a tree of views ---------===//

#include "compiler/Import/Torch/Export/Json.h"

#include <nlohmann/json.hpp>

#include "llvm/Support/Allocator.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

namespace stator::torch::exported {

const Json *Json::find(std::string_view key) const {
  for (const JsonMember &member : members())
    if (member.key == key)
      return &member.value;
  return nullptr;
}

const char *describe(Json::Kind kind) {
  switch (kind) {
  case Json::Kind::Null:
    return "null";
  case Json::Kind::Bool:
    return "a boolean";
  case Json::Kind::Integer:
    return "an integer";
  case Json::Kind::Float:
    return "a number";
  case Json::Kind::String:
    return "a string";
  case Json::Kind::Array:
    return "a list";
  case Json::Kind::Object:
    return "an object";
  }
  return "unknown";
}

struct JsonDocument::Storage {
  llvm::BumpPtrAllocator arena;
  Json root;
};

/// Receives what the lexer finds. Every function returns whether to go on.
class JsonBuilder : public nlohmann::json_sax<nlohmann::json> {
public:
  JsonBuilder(llvm::BumpPtrAllocator &arena, const JsonLimits &limits) : arena(arena), limits(limits) {}

  Status status;
  Json root;

  bool null() override { return add({}); }
  bool boolean(bool value) override {
    Json json;
    json.kindOf = Json::Kind::Bool;
    json.integerValue = value;
    return add(json);
  }
  bool number_integer(int64_t value) override {
    Json json;
    json.kindOf = Json::Kind::Integer;
    json.integerValue = value;
    return add(json);
  }
  bool number_unsigned(uint64_t value) override {
    if (value > uint64_t(INT64_MAX))
      return refuse("the integer " + std::to_string(value) + " does not fit into 64 bits");
    return number_integer(int64_t(value));
  }
  bool number_float(double value, const std::string &literal) override {
    // The lexer turns integers that are too long into floating-point numbers.
    if (literal.find_first_of(".eE") == std::string::npos)
      return refuse("the integer " + literal.substr(0, 40) + " does not fit into 64 bits");
    Json json;
    json.kindOf = Json::Kind::Float;
    json.floatValue = value;
    return add(json);
  }
  bool string(std::string &value) override {
    if (dropped)
      return true;
    Json json;
    json.kindOf = Json::Kind::String;
    std::string_view kept = keep(value);
    json.text = kept.data();
    json.count = uint32_t(kept.size());
    return add(json);
  }
  bool binary(nlohmann::json::binary_t &) override { return refuse("binary data"); }

  bool start_object(size_t) override { return start(Json::Kind::Object); }
  bool start_array(size_t) override { return start(Json::Kind::Array); }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }

  bool key(std::string &name) override {
    if (dropped > 0)
      return true;
    Frame &frame = frames.back();
    frame.key = keep(name);
    // The value that follows is dropped as a whole: it counts as one level that `add` or `end` leaves again.
    dropsNext = isNodeMetadata() && name != "stack_trace";
    return true;
  }

  bool parse_error(size_t position, const std::string &, const nlohmann::detail::exception &error) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 5: ...": the part in brackets says nothing to people.
    std::string text = error.what();
    size_t close = text.find("] ");
    return refuse((close == std::string::npos ? text : text.substr(close + 2)) + " (byte " + std::to_string(position) + ")");
  }

private:
  struct Frame {
    Json::Kind kind;
    std::string_view key; // of the member that is being read
    std::vector<JsonMember> members;
    std::vector<Json> elements;
  };

  bool refuse(std::string why) {
    if (status.ok())
      status = invalidFile("not a well-formed JSON text: " + std::move(why));
    return false;
  }

  std::string_view keep(const std::string &value) {
    if (value.empty())
      return {};
    char *copy = static_cast<char *>(arena.Allocate(value.size(), 1));
    std::memcpy(copy, value.data(), value.size());
    return {copy, value.size()};
  }

  /// Whether the object being read is the `metadata` of a node.
  bool isNodeMetadata() const {
    size_t depth = frames.size();
    return depth >= 4 && frames[depth - 2].kind == Json::Kind::Object && frames[depth - 2].key == "metadata" &&
           frames[depth - 3].kind == Json::Kind::Array && frames[depth - 4].kind == Json::Kind::Object && frames[depth - 4].key == "nodes";
  }

  bool add(const Json &value) {
    if (dropped > 0)
      return true;
    if (dropsNext) {
      dropsNext = false;
      return true;
    }
    if (frames.empty()) {
      root = value;
      return true;
    }
    Frame &frame = frames.back();
    if (frame.kind == Json::Kind::Array)
      frame.elements.push_back(value);
    else
      frame.members.push_back({frame.key, value});
    return true;
  }

  bool start(Json::Kind kind) {
    if (++depth > limits.depth)
      return refuse("it is nested more than " + std::to_string(limits.depth) + " deep");
    if (dropped > 0 || dropsNext) {
      dropsNext = false;
      ++dropped;
      return true;
    }
    frames.push_back({kind, {}, {}, {}});
    return true;
  }

  bool end() {
    --depth;
    if (dropped > 0) {
      --dropped;
      return true;
    }
    Frame frame = std::move(frames.back());
    frames.pop_back();
    Json json;
    json.kindOf = frame.kind;
    if (frame.kind == Json::Kind::Array) {
      json.count = uint32_t(frame.elements.size());
      json.items = copy(frame.elements);
    } else {
      if (std::optional<std::string_view> twice = duplicateKey(frame.members))
        return refuse("the key `" + std::string(*twice) + "` occurs twice in one object");
      json.count = uint32_t(frame.members.size());
      json.fields = copy(frame.members);
    }
    return add(json);
  }

  template <typename T>
  const T *copy(const std::vector<T> &values) {
    if (values.empty())
      return nullptr;
    T *result = arena.Allocate<T>(values.size());
    std::uninitialized_copy(values.begin(), values.end(), result);
    return result;
  }

  static std::optional<std::string_view> duplicateKey(const std::vector<JsonMember> &members) {
    if (members.size() <= 8) {
      for (size_t i = 0; i < members.size(); ++i)
        for (size_t j = 0; j < i; ++j)
          if (members[i].key == members[j].key)
            return members[i].key;
      return std::nullopt;
    }
    std::unordered_set<std::string_view> seen;
    for (const JsonMember &member : members)
      if (!seen.insert(member.key).second)
        return member.key;
    return std::nullopt;
  }

  llvm::BumpPtrAllocator &arena;
  JsonLimits limits;
  std::vector<Frame> frames;
  size_t depth = 0;
  size_t dropped = 0; // levels below a value that is not kept
  bool dropsNext = false;
};

/// Python writes numbers that JSON does not have as NaN, Infinity and -Infinity. They become strings, as later files have them; nothing
/// when there is none.
static std::optional<std::string> quoteNonFinite(std::string_view text) {
  std::optional<std::string> result;
  size_t copied = 0;
  bool isInString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (isInString) {
      i += c == '\\';
      isInString = c != '"' || i >= text.size();
    } else if (c == '"') {
      isInString = true;
    } else if (c == 'N' || c == 'I' || (c == '-' && i + 1 < text.size() && text[i + 1] == 'I')) {
      for (std::string_view word : {"NaN", "Infinity", "-Infinity"}) {
        if (text.substr(i, word.size()) != word)
          continue;
        if (!result)
          result.emplace();
        *result += text.substr(copied, i - copied);
        *result += "\"" + std::string(word) + "\"";
        copied = i + word.size();
        i = copied - 1;
        break;
      }
    }
  }
  if (result)
    *result += text.substr(copied);
  return result;
}

JsonDocument::JsonDocument(std::unique_ptr<Storage> storage) : storage(std::move(storage)) {}
JsonDocument::JsonDocument(JsonDocument &&) noexcept = default;
JsonDocument &JsonDocument::operator=(JsonDocument &&) noexcept = default;
JsonDocument::~JsonDocument() = default;

const Json &JsonDocument::root() const { return storage->root; }

Result<JsonDocument> JsonDocument::parse(std::string_view text, const JsonLimits &limits) {
  // A member counts its children in 32 bits; the limit on bytes keeps them below that.
  if (text.size() > std::min(limits.bytes, size_t(UINT32_MAX)))
    return resourceExhausted("the JSON text has " + std::to_string(text.size()) + " bytes, at most " + std::to_string(limits.bytes) +
                             " are read");
  try {
    auto storage = std::make_unique<Storage>();
    std::optional<std::string> mended = quoteNonFinite(text);
    if (mended)
      text = *mended;
    JsonBuilder builder(storage->arena, limits);
    bool complete = nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
    if (!builder.status.ok())
      return builder.status;
    if (!complete)
      return invalidFile("not a well-formed JSON text");
    storage->root = builder.root;
    return JsonDocument(std::move(storage));
  } catch (const std::bad_alloc &) {
    return resourceExhausted("the JSON text does not fit into memory");
  } catch (const std::exception &error) {
    return invalidFile(std::string("not a well-formed JSON text: ") + error.what());
  }
}

} // namespace stator::torch::exported
