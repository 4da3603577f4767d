//===- Json.h - the JSON of exported programs as a tree of views -----------===//
//
// A program is a few megabytes of JSON, a third of it metadata of nodes that
// nobody reads here. nlohmann's lexer walks the text; what is kept goes into an
// arena, in which a value is 16 bytes. Refused are texts that are too large or
// too deep, keys that occur twice, and integers beyond 64 bits.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_IMPORT_TORCH_EXPORT_JSON_H
#define STATOR_COMPILER_IMPORT_TORCH_EXPORT_JSON_H

#include "stator/Result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace stator::torch::exported {

struct JsonMember;

/// One value. Belongs to its JsonDocument and lives as long.
class Json {
public:
  enum class Kind : uint8_t { Null, Bool, Integer, Float, String, Array, Object };

  Kind kind() const { return kindOf; }
  bool is(Kind kind) const { return kindOf == kind; }
  bool isNull() const { return kindOf == Kind::Null; }

  bool boolean() const { return integerValue != 0; }
  int64_t integer() const { return integerValue; }
  double floating() const { return floatValue; }
  std::string_view string() const { return {text, count}; }
  std::span<const Json> elements() const { return {items, kindOf == Kind::Array ? count : 0u}; }
  /// In the order of the file.
  std::span<const JsonMember> members() const;
  /// Null when this is no object or has no such member.
  const Json *find(std::string_view key) const;

private:
  friend class JsonBuilder;
  Kind kindOf = Kind::Null;
  uint32_t count = 0;
  union {
    int64_t integerValue = 0;
    double floatValue;
    const char *text;
    const Json *items;
    const JsonMember *fields;
  };
};

struct JsonMember {
  std::string_view key;
  Json value;
};

inline std::span<const JsonMember> Json::members() const { return {fields, kindOf == Kind::Object ? count : 0u}; }

/// "null", "a boolean", "an object", ...
const char *describe(Json::Kind kind);

struct JsonLimits {
  size_t bytes = size_t(512) << 20;
  size_t depth = 128;
};

class JsonDocument {
public:
  /// Copies what it keeps of `text`. Inside objects called `metadata` of the elements of arrays called `nodes` only `stack_trace` is kept.
  static Result<JsonDocument> parse(std::string_view text, const JsonLimits &limits = {});
  JsonDocument(JsonDocument &&) noexcept;
  JsonDocument &operator=(JsonDocument &&) noexcept;
  ~JsonDocument();

  const Json &root() const;

private:
  struct Storage;
  explicit JsonDocument(std::unique_ptr<Storage> storage);
  std::unique_ptr<Storage> storage;
};

} // namespace stator::torch::exported

#endif // STATOR_COMPILER_IMPORT_TORCH_EXPORT_JSON_H
