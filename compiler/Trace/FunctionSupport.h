// What the functions of the functional layer share: the check of their arguments, axes, promotion, broadcasting, attributes, and the
// one place where an operation is appended.
#ifndef STATOR_COMPILER_TRACE_FUNCTIONSUPPORT_H
#define STATOR_COMPILER_TRACE_FUNCTIONSUPPORT_H

#include "compiler/Trace/BuilderImpl.h"
#include "dialects/Graph/GraphOps.h"
#include "dialects/Graph/Shapes.h"

namespace stator::trace {

using Sizes = llvm::SmallVector<DimExpr, 4>;
using Axes = llvm::SmallVector<int64_t, 4>;

/// Begins a function: finds the Builder of its tensors, and whether there is anything to do. All of `required` must be present.
///
///   Call call("matmul", {a, b});
///   if (!call)
///     return call.failed();
class Call {
public:
  Call(llvm::StringRef name, llvm::ArrayRef<Tensor> required, llvm::ArrayRef<Tensor> optional = {});

  /// For what has no tensors.
  Call(llvm::StringRef name, BuilderImpl &builder) : name_(name.str()), impl_(&builder) {}

  explicit operator bool() const { return impl_ && impl_->ok(); }
  BuilderImpl &operator*() const { return *impl_; }
  BuilderImpl *operator->() const { return impl_; }
  llvm::StringRef name() const { return name_; }
  /// What a function returns when it cannot go on.
  Tensor failed() const { return impl_ ? impl_->poison() : Tensor(); }
  /// An error "`name`: message".
  Tensor invalid(const llvm::Twine &message) const { return impl_->invalid("`" + name_ + "`: " + message); }
  Tensor unsupported(const llvm::Twine &message) const { return impl_->unsupported("`" + name_ + "`: " + message); }

  // Each of these records an error and returns false (or nothing) when the argument is wrong.

  /// Makes a negative axis positive; allowed is -rank .. rank - 1.
  bool axis(int64_t &axis, int64_t rank) const;
  /// The axes made positive, sorted, each once.
  std::optional<Axes> axes(llvm::ArrayRef<int64_t> axes, int64_t rank) const;
  bool rank(llvm::StringRef what, const Tensor &x, int64_t expected) const;
  bool rankAtLeast(llvm::StringRef what, const Tensor &x, int64_t expected) const;
  /// `list` is empty (then it becomes `count` times `value`) or has `count` entries of at least `least`.
  bool perAxis(llvm::StringRef what, Axes &list, llvm::ArrayRef<int64_t> given, int64_t count, int64_t value, int64_t least) const;
  /// The constant size along an axis.
  std::optional<int64_t> constantSize(llvm::StringRef what, const Tensor &x, int64_t axis) const;
  /// The integers of a tensor, all constants.
  std::optional<Axes> constants(llvm::StringRef what, const Tensor &x) const;
  /// The sizes in an integer tensor.
  std::optional<Sizes> sizes(llvm::StringRef what, const Tensor &x) const;
  /// The sizes of a list, simplified.
  Sizes sizes(const Dims &dims) const;

private:
  std::string name_;
  BuilderImpl *impl_ = nullptr;
};

/// Attributes of an operation, by name.
class Attributes {
public:
  explicit Attributes(BuilderImpl &builder) : builder_(builder) {}
  Attributes &ints(llvm::StringRef name, llvm::ArrayRef<int64_t> values);
  Attributes &integer(llvm::StringRef name, int64_t value);
  Attributes &flag(llvm::StringRef name, bool value);
  Attributes &number(llvm::StringRef name, double value);
  Attributes &numbers(llvm::StringRef name, llvm::ArrayRef<double> values);
  Attributes &sizes(llvm::StringRef name, llvm::ArrayRef<DimExpr> values);
  Attributes &attr(llvm::StringRef name, mlir::Attribute value);
  operator llvm::ArrayRef<mlir::NamedAttribute>() const { return list_; }

private:
  BuilderImpl &builder_;
  llvm::SmallVector<mlir::NamedAttribute> list_;
};

/// Appends operation `name` ("graph.add"), its result types inferred unless given. Absent operands are null values. What the dialect
/// finds wrong becomes the Builder's error; then nothing is appended and the tensors are poison.
llvm::SmallVector<Tensor> emitAll(BuilderImpl &b, llvm::StringRef name, llvm::ArrayRef<Tensor> operands,
                                  llvm::ArrayRef<mlir::NamedAttribute> attributes, unsigned results, mlir::TypeRange types = {});
Tensor emit(BuilderImpl &b, llvm::StringRef name, llvm::ArrayRef<Tensor> operands, llvm::ArrayRef<mlir::NamedAttribute> attributes = {});
/// With the result's type given.
Tensor emitAs(BuilderImpl &b, llvm::StringRef name, llvm::ArrayRef<Tensor> operands, ElementType type, llvm::ArrayRef<DimExpr> dims,
              llvm::ArrayRef<mlir::NamedAttribute> attributes = {});

/// The common element type of two operands.
ElementType promote(ElementType a, ElementType b);
/// The broadcast of shapes; after an error something of no further use.
Sizes broadcastShapes(BuilderImpl &b, llvm::StringRef what, llvm::ArrayRef<DimExpr> x, llvm::ArrayRef<DimExpr> y);
/// x repeated to exactly `dims`, which it fits.
Tensor broadcastTo(BuilderImpl &b, llvm::StringRef what, const Tensor &x, llvm::ArrayRef<DimExpr> dims);
/// The elements in another shape with as many of them. Contents are kept.
Tensor reshapeTo(BuilderImpl &b, const Tensor &x, llvm::ArrayRef<DimExpr> dims);
/// A vector placed along `axis` of a tensor of shape `dims` and repeated along the others.
Tensor broadcastAlong(BuilderImpl &b, const Tensor &x, llvm::ArrayRef<DimExpr> dims, int64_t axis);
/// Makes one size of x and one of y equal, in fact and in spelling; false after an error.
bool requireEqualSizes(BuilderImpl &b, llvm::StringRef what, Tensor &x, int64_t axisX, Tensor &y, int64_t axisY);
/// A rank-0 constant.
Tensor scalarOf(BuilderImpl &b, ElementType type, double value);

Sizes sizesOf(const Tensor &x);
DimExpr productOf(llvm::ArrayRef<DimExpr> dims);
std::string shapeText(llvm::ArrayRef<DimExpr> dims);
/// All sizes, if they are constants.
std::optional<Axes> constantShape(const Tensor &x);

/// Contents of `op` applied element by element, when tracing can tell: unary, binary, comparison by name of the graph op.
std::optional<Element> knownUnary(BuilderImpl &b, llvm::StringRef op, ElementType type, const Element &x);
std::optional<Element> knownBinary(BuilderImpl &b, llvm::StringRef op, ElementType type, const Element &x, const Element &y);
std::optional<bool> knownCompare(BuilderImpl &b, graph::CompareDirection direction, const Element &x, const Element &y);
/// Row-major positions in a tensor of `shape` of the elements whose index along each axis is in that axis' list, in order.
llvm::SmallVector<int64_t> gridOffsets(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<llvm::SmallVector<int64_t>> indices);
/// Positions in row-major order: for each element of `dims`, the offset of the element of a tensor of shape `from` that broadcasts to it.
llvm::SmallVector<int64_t> broadcastOffsets(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> dims);

} // namespace stator::trace

#endif // STATOR_COMPILER_TRACE_FUNCTIONSUPPORT_H
