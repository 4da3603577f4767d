//===- ProgramReader.h - members of JSON objects, checked ------------------===//
//
// What the parsers of programs and of weight directories share: members by
// name and type, tagged unions, sizes. The first error stays, with the place
// in the file; after it everything reads as empty, so that parsers need not
// look at every step.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_IMPORT_TORCH_EXPORT_PROGRAMREADER_H
#define STATOR_COMPILER_IMPORT_TORCH_EXPORT_PROGRAMREADER_H

#include "compiler/Import/Torch/Export/Program.h"

#include <unordered_map>

namespace stator::torch::exported {

class ProgramReader {
public:
  bool ok() const { return status.ok(); }
  void fail(StatusCode code, std::string message);
  void invalid(std::string message) { fail(StatusCode::InvalidFile, std::move(message)); }

  /// Puts a part of a path in front of messages while it lives: "node 3 `linear`".
  class Place {
  public:
    Place(ProgramReader &reader, std::string_view what, std::string_view name = {}) : reader(reader) {
      reader.places.emplace_back(what, name);
    }
    ~Place() { reader.places.pop_back(); }
    Place(const Place &) = delete;
    Place &operator=(const Place &) = delete;

  private:
    ProgramReader &reader;
  };

  /// A member that must be there and of that kind; after an error a null.
  const Json &need(const Json &object, std::string_view key, Json::Kind kind);
  /// Null for a member that is absent or null; an error for one of another kind.
  const Json *optional(const Json &object, std::string_view key, Json::Kind kind);
  std::string_view needString(const Json &object, std::string_view key) { return need(object, key, Json::Kind::String).string(); }
  std::string_view optionalString(const Json &object, std::string_view key);
  bool optionalBool(const Json &object, std::string_view key, bool otherwise);
  /// Whether `json` is of that kind; else an error.
  bool isA(const Json &json, Json::Kind kind, std::string_view what);

  /// The only member of a tagged union; null after an error.
  const JsonMember *unionMember(const Json &json);

  double number(const Json &json);
  int64_t scalarType(const Json &json);
  DimExpr size(const Json &json);
  TensorMeta tensorMeta(const Json &json);

  Status status;

private:
  std::vector<std::pair<std::string_view, std::string_view>> places;
  /// Texts recur: every size is written out at every tensor.
  std::unordered_map<std::string_view, DimExpr> expressions;
};

/// A text of the file fit for a message: printable, and not too long.
std::string shown(std::string_view text);

} // namespace stator::torch::exported

#endif // STATOR_COMPILER_IMPORT_TORCH_EXPORT_PROGRAMREADER_H
