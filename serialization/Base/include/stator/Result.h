// A value or the Status that says why there is none. Asking a failed Result for its value is a programming error and ends the process
// with the message; programs that must go on ask ok() first. This header is installed and compiles as C++17.
#ifndef STATOR_RESULT_H
#define STATOR_RESULT_H

#include "stator/Status.h"

#include <cstdio>
#include <cstdlib>
#include <type_traits>
#include <utility>
#include <variant>

namespace stator {

template <typename T>
class [[nodiscard]] Result {
  static_assert(!std::is_same_v<std::decay_t<T>, Status>, "a Result<Status> is a Status");

public:
  Result(T value) : storage(std::in_place_index<0>, std::move(value)) {}
  /// From a failure. An ok Status carries no value, so that it is turned into an internal error.
  Result(Status status)
      : storage(std::in_place_index<1>, status.ok() ? internalError("a result was made from an ok status") : std::move(status)) {}

  bool ok() const { return storage.index() == 0; }
  explicit operator bool() const { return ok(); }
  /// The failure; ok when there is a value.
  Status status() const { return ok() ? Status() : *std::get_if<1>(&storage); }

  T &value() & { return *checked(); }
  const T &value() const & { return *const_cast<Result *>(this)->checked(); }
  T &&value() && { return std::move(*checked()); }
  T valueOr(T other) && { return ok() ? std::move(*checked()) : std::move(other); }

  T &operator*() & { return value(); }
  const T &operator*() const & { return value(); }
  T &&operator*() && { return std::move(*this).value(); }
  T *operator->() { return checked(); }
  const T *operator->() const { return const_cast<Result *>(this)->checked(); }

private:
  T *checked() {
    if (!ok()) {
      std::fprintf(stderr, "stator: value() of a failed result: %s\n", std::get_if<1>(&storage)->message().c_str());
      std::abort();
    }
    return std::get_if<0>(&storage);
  }

  std::variant<T, Status> storage;
};

} // namespace stator

#define STATOR_CONCAT_IMPL_(a, b) a##b
#define STATOR_CONCAT_(a, b) STATOR_CONCAT_IMPL_(a, b)
#define STATOR_TRY_IMPL_(result, variable, ...)                                                                                            \
  auto result = (__VA_ARGS__);                                                                                                             \
  if (!result.ok())                                                                                                                        \
    return result.status();                                                                                                                \
  auto variable = std::move(result).value()

/// `STATOR_TRY(file, MappedFile::open(path));` declares `auto file` with the value, or returns the failure.
#define STATOR_TRY(variable, ...) STATOR_TRY_IMPL_(STATOR_CONCAT_(statorResult_, __LINE__), variable, __VA_ARGS__)

#endif // STATOR_RESULT_H
