// The tracing API: a model is written as C++ that calls functions on symbolic tensors; each call appends an operation to a
// graph. Everything that builds a graph comes through here: users' programs and the importers of model files alike.
//
//   stator::trace::Builder builder;                                   // one method, "forward"
//   Dim n = builder.symbol("N", 1, 64);                                // a size that is known only when the model runs
//   Tensor x = builder.input("x", ElementType::F32, {n, 784});
//   Tensor w = builder.parameter("w", ElementType::F32, {10, 784}, weights.data(), weights.size() * sizeof(float));
//   builder.output("y", fn::softmax(fn::linear(x, w, {}), -1));
//   Status status = builder.finish();
//
// State is kept between runs, and several methods may share it:
//
//   Tensor count = builder.state("count", ElementType::I64, {}, &zero, sizeof(zero));
//   builder.setState(count, count + builder.scalarInt(ElementType::I64, 1));
//
// Ownership: a Builder owns the graph; a Tensor or a Dim is a cheap handle that may be copied freely.
// Lifetime:  a Tensor may be used while its Builder lives. Names and bytes given to a Builder are copied.
// Threads:   a Builder and its tensors belong to one thread at a time; different Builders are independent.
// Failure:   nothing throws or aborts on wrong arguments. The first error stays in Builder::status(), with the location that was
//            set last; from then on calls add nothing and return tensors that are only good for passing on.
#ifndef STATOR_TRACE_H
#define STATOR_TRACE_H

#include "stator/ElementType.h"
#include "stator/Result.h"
#include "stator/Status.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace stator {
class DimExpr;
}

namespace stator::trace {

class Builder;
class BuilderImpl;
struct TensorNode;

/// A size: a number, a symbol, or an expression over symbols such as `2*N + 1` or `floordiv(T, 16)`.
class Dim {
public:
  Dim() : Dim(0) {}
  template <typename Integer, typename = std::enable_if_t<std::is_integral_v<Integer>>>
  Dim(Integer value) : Dim(static_cast<int64_t>(value), nullptr) {}
  Dim(const DimExpr &expr);

  /// A symbol by name. Builder::symbol() also gives it a range; one that is never declared ranges over 0..2^31-1.
  static Dim symbol(std::string_view name);
  /// Reads the canonical text of an expression (what str() gives).
  static Result<Dim> parse(std::string_view text);

  bool isConstant() const { return expr_ == nullptr; }
  /// The number; 0 for an expression.
  int64_t constant() const { return value_; }
  std::string str() const;
  DimExpr expr() const;

  friend Dim operator+(const Dim &a, const Dim &b);
  friend Dim operator-(const Dim &a, const Dim &b);
  friend Dim operator*(const Dim &a, const Dim &b);
  friend Dim floorDiv(const Dim &a, const Dim &b);
  friend Dim ceilDiv(const Dim &a, const Dim &b);
  friend Dim mod(const Dim &a, const Dim &b);
  friend Dim min(const Dim &a, const Dim &b);
  friend Dim max(const Dim &a, const Dim &b);
  friend bool operator==(const Dim &a, const Dim &b);
  friend bool operator!=(const Dim &a, const Dim &b) { return !(a == b); }

private:
  Dim(int64_t value, std::shared_ptr<const DimExpr> expr) : value_(value), expr_(std::move(expr)) {}

  int64_t value_;
  std::shared_ptr<const DimExpr> expr_; // null: the number value_
};

using Dims = std::vector<Dim>;
using Ints = std::vector<int64_t>;

/// A value of the graph: element type and shape are known, its elements usually are not. A default-constructed Tensor is
/// *absent*; functions take absent tensors for optional arguments (written `{}`).
class Tensor {
public:
  Tensor() = default;

  /// Whether it is there at all.
  explicit operator bool() const { return node_ != nullptr; }
  ElementType type() const;
  int64_t rank() const;
  /// The size along `axis`; negative axes count from the end. Out of range: an error in the Builder, and 0.
  Dim dim(int64_t axis) const;
  Dims dims() const;
  /// The product of the sizes.
  Dim elements() const;

  /// The elements in row-major order where tracing knows them: integers and booleans (as 0 and 1) of up to 256 elements, computed
  /// from constants and sizes. This is what lets `reshape(x, shape)` take a tensor.
  std::optional<Dims> knownIntegers() const;
  /// The same when they are plain numbers, of any element type.
  std::optional<std::vector<double>> knownNumbers() const;

  /// Null for an absent tensor.
  Builder *builder() const;
  TensorNode *node() const { return node_; }

private:
  friend class BuilderImpl;
  explicit Tensor(TensorNode *node) : node_(node) {}
  TensorNode *node_ = nullptr;
};

using Tensors = std::vector<Tensor>;

class Builder {
public:
  /// Starts a module with one method.
  explicit Builder(std::string_view methodName = "forward");
  /// Adds a method to the module of `first`, which must have been finished, outlive this Builder, and be the one that is compiled.
  Builder(Builder &first, std::string_view methodName);
  explicit Builder(std::unique_ptr<BuilderImpl> impl);
  ~Builder();
  Builder(Builder &&) = delete;
  Builder &operator=(Builder &&) = delete;

  // Interface of the method.

  /// Declares a symbol and its inclusive range; `name` may be any text. Declaring one again narrows its range.
  Dim symbol(std::string_view name, int64_t min = 0, int64_t max = 2147483647);
  Tensor input(std::string_view name, ElementType type, const Dims &dims);
  void output(std::string_view name, const Tensor &value);

  // Constants. `bytes` is the size of `data` and must be exactly what type and dims ask for (i1: one byte per element).

  /// A named weight. Its bytes are copied (importers map files instead, see compiler/Trace/BuilderImpl.h).
  Tensor parameter(std::string_view name, ElementType type, const Ints &dims, const void *data, size_t bytes);
  /// The same, but it may be changed by running the model: the bytes are what a session begins with, and nothing is folded through it.
  Tensor state(std::string_view name, ElementType type, const Ints &dims, const void *data, size_t bytes);
  /// What `state`, made by state() or shared(), is when the method has run; a session keeps it for its next call of any method. The tensor
  /// `state` itself stays what it was at entry, so the order of reads and sets does not matter, and two states may be exchanged. `value`
  /// has the state's type and sizes. Only the last value that is set counts. A method may set state and have no outputs.
  void setState(const Tensor &state, const Tensor &value);
  /// The parameter or state called `name` that another method of the module has; absent if there is none. Parameters of at most 1024
  /// elements are constants of their method and not found.
  Tensor shared(std::string_view name);
  Tensor constant(ElementType type, const Ints &dims, const void *data, size_t bytes);
  /// A rank-0 tensor; integers that do not fit saturate.
  Tensor scalar(ElementType type, double value);
  Tensor scalarInt(ElementType type, int64_t value);
  /// 1-D tensors.
  Tensor vector(const std::vector<float> &values);
  Tensor vector(const Ints &values);
  /// Sizes as data: 1-D and rank-0 i64 tensors.
  Tensor fromDims(const Dims &dims);
  Tensor fromDim(const Dim &dim);

  // Facts about sizes.

  /// Promises that two sizes are equal. Symbols are replaced (N = M, N = 64), ranges narrowed (min(T, 64) = T gives T <= 64); what
  /// cannot be resolved becomes a guard that is checked when the model runs. Impossible: an error naming both and `what`.
  void constrainEqual(const Dim &a, const Dim &b, std::string_view what = "");

  // Where we are, for messages and for the map from kernels back to the model.

  void setLocation(std::string_view nodeName);
  const std::string &location() const;

  // Errors.

  bool ok() const { return status().ok(); }
  const Status &status() const;
  /// Records an error (only the first one is kept); the location is put in front of the message.
  void fail(StatusCode code, std::string_view message);

  /// Ends the method, checks the module, and returns status(). Further operations are errors.
  Status finish();
  /// The module as text, weights elided.
  std::string str() const;

  BuilderImpl &impl() { return *impl_; }

private:
  std::unique_ptr<BuilderImpl> impl_;
};

} // namespace stator::trace

#include "stator/TraceFunctions.h"

#endif // STATOR_TRACE_H
