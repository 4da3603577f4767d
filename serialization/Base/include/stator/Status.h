// Why something failed, as a value: a code for programs and a message for people. Stator never throws and never aborts on what a
// user or a file can cause, so every such function returns a Status or a Result (Result.h). This header is installed and compiles as
// C++17.
#ifndef STATOR_STATUS_H
#define STATOR_STATUS_H

#include <string>
#include <utility>

namespace stator {

enum class StatusCode {
  Ok,
  InvalidArgument,   ///< The caller's input: shape, type, name or option.
  InvalidFile,       ///< A file's content: damaged, truncated, of another version.
  Unsupported,       ///< Valid, but not something that this build or machine does.
  NotFound,          ///< A file, method, input or library that is not there.
  OutOfRange,        ///< A size outside of its declared range.
  ResourceExhausted, ///< Memory, disk or a budget.
  Internal,          ///< A bug of Stator.
};

/// "invalid argument", "invalid file", ...
inline const char *name(StatusCode code) {
  switch (code) {
  case StatusCode::Ok:
    return "ok";
  case StatusCode::InvalidArgument:
    return "invalid argument";
  case StatusCode::InvalidFile:
    return "invalid file";
  case StatusCode::Unsupported:
    return "unsupported";
  case StatusCode::NotFound:
    return "not found";
  case StatusCode::OutOfRange:
    return "out of range";
  case StatusCode::ResourceExhausted:
    return "resource exhausted";
  case StatusCode::Internal:
    return "internal error";
  }
  return "unknown";
}

class [[nodiscard]] Status {
public:
  Status() = default;
  Status(StatusCode code, std::string message) : statusCode(code), text(std::move(message)) {}

  bool ok() const { return statusCode == StatusCode::Ok; }
  StatusCode code() const { return statusCode; }
  const std::string &message() const { return text; }

  /// The same failure, with the place put in front: "`model.stator`: ...". Success stays success.
  Status withContext(const std::string &place) const { return ok() ? *this : Status(statusCode, place + ": " + text); }

private:
  StatusCode statusCode = StatusCode::Ok;
  std::string text;
};

inline Status okStatus() { return Status(); }
inline Status invalidArgument(std::string message) { return {StatusCode::InvalidArgument, std::move(message)}; }
inline Status invalidFile(std::string message) { return {StatusCode::InvalidFile, std::move(message)}; }
inline Status unsupported(std::string message) { return {StatusCode::Unsupported, std::move(message)}; }
inline Status notFound(std::string message) { return {StatusCode::NotFound, std::move(message)}; }
inline Status outOfRange(std::string message) { return {StatusCode::OutOfRange, std::move(message)}; }
inline Status resourceExhausted(std::string message) { return {StatusCode::ResourceExhausted, std::move(message)}; }
inline Status internalError(std::string message) { return {StatusCode::Internal, std::move(message)}; }

} // namespace stator

/// Returns from the enclosing function when `...` is a Status that is not ok.
#define STATOR_RETURN_IF_ERROR(...)                                                                                                        \
  do {                                                                                                                                     \
    ::stator::Status statorStatus_ = (__VA_ARGS__);                                                                                        \
    if (!statorStatus_.ok())                                                                                                               \
      return statorStatus_;                                                                                                                \
  } while (false)

#endif // STATOR_STATUS_H
