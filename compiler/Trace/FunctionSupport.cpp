// Checks, promotion, broadcasting and the appending of operations for the functional layer.
#include "compiler/Trace/FunctionSupport.h"

#include "compiler/Trace/Capture.h"

#include <algorithm>

namespace stator::trace {

Call::Call(llvm::StringRef name, llvm::ArrayRef<Tensor> required, llvm::ArrayRef<Tensor> optional) : name_(name.str()) {
  for (llvm::ArrayRef<Tensor> list : {required, optional})
    for (const Tensor &tensor : list) {
      if (!tensor)
        continue;
      BuilderImpl *owner = tensor.node()->owner;
      if (impl_ && owner != impl_) {
        impl_->invalid("`" + name_ + "`: tensors of different builders");
        return;
      }
      impl_ = owner;
    }
  for (size_t i = 0; i < required.size() && impl_; ++i)
    if (!required[i])
      invalid("operand " + llvm::Twine(i) + " is absent");
}

bool Call::axis(int64_t &axis, int64_t rank) const {
  if (axis < -rank || axis >= rank) {
    invalid("axis " + llvm::Twine(axis) + " of a tensor of rank " + llvm::Twine(rank));
    return false;
  }
  if (axis < 0)
    axis += rank;
  return true;
}

std::optional<Axes> Call::axes(llvm::ArrayRef<int64_t> given, int64_t rank) const {
  Axes result;
  for (int64_t axis : given) {
    if (!this->axis(axis, rank))
      return std::nullopt;
    result.push_back(axis);
  }
  llvm::sort(result);
  auto repeated = std::adjacent_find(result.begin(), result.end());
  if (repeated != result.end()) {
    invalid("axis " + llvm::Twine(*repeated) + " is given twice");
    return std::nullopt;
  }
  return result;
}

bool Call::rank(llvm::StringRef what, const Tensor &x, int64_t expected) const {
  if (x.rank() == expected)
    return true;
  invalid(what + " has rank " + llvm::Twine(x.rank()) + ", expected " + llvm::Twine(expected));
  return false;
}

bool Call::rankAtLeast(llvm::StringRef what, const Tensor &x, int64_t expected) const {
  if (x.rank() >= expected)
    return true;
  invalid(what + " has rank " + llvm::Twine(x.rank()) + ", expected at least " + llvm::Twine(expected));
  return false;
}

bool Call::perAxis(llvm::StringRef what, Axes &list, llvm::ArrayRef<int64_t> given, int64_t count, int64_t value, int64_t least) const {
  // Larger numbers are no sizes of anything, and would overflow.
  constexpr int64_t kMost = int64_t(1) << 31;
  if (given.empty()) {
    list.assign(count, value);
    return true;
  }
  if (static_cast<int64_t>(given.size()) != count) {
    invalid(what + " has " + llvm::Twine(given.size()) + " entries, expected " + llvm::Twine(count));
    return false;
  }
  list.assign(given.begin(), given.end());
  for (int64_t entry : list)
    if (entry < least || entry > kMost) {
      invalid(what + " contains " + llvm::Twine(entry) + ", expected " + llvm::Twine(least) + ".." + llvm::Twine(kMost));
      return false;
    }
  return true;
}

std::optional<int64_t> Call::constantSize(llvm::StringRef what, const Tensor &x, int64_t axis) const {
  std::optional<int64_t> size = impl_->dims(x)[axis].constant();
  if (!size)
    unsupported("axis " + llvm::Twine(axis) + " of " + what + " must have a constant size, is `" + impl_->dims(x)[axis].str() + "`");
  return size;
}

std::optional<Axes> Call::constants(llvm::StringRef what, const Tensor &x) const {
  const Contents *contents = impl_->contents(x);
  if (!contents) {
    unsupported(what + " must be known when the model is compiled, but depends on data");
    return std::nullopt;
  }
  Axes result;
  for (const Element &element : *contents) {
    std::optional<int64_t> value = element.integer();
    if (!value) {
      unsupported(what + " must be constant" + (element.isNumber() ? llvm::Twine() : ", contains `" + element.numerator().str() + "`"));
      return std::nullopt;
    }
    result.push_back(*value);
  }
  return result;
}

std::optional<Sizes> Call::sizes(llvm::StringRef what, const Tensor &x) const {
  const Contents *contents = impl_->contents(x);
  if (!contents) {
    unsupported(what + " must be known when the model is compiled, but depends on data");
    return std::nullopt;
  }
  Sizes result;
  for (const Element &element : *contents) {
    if (const DimExpr *expr = element.expr()) {
      result.push_back(*expr);
    } else if (std::optional<int64_t> value = element.integer()) {
      result.emplace_back(*value);
    } else {
      invalid(what + " must hold integers");
      return std::nullopt;
    }
  }
  return result;
}

Sizes Call::sizes(const Dims &dims) const {
  Sizes result;
  for (const Dim &dim : dims)
    result.push_back(impl_->simplify(dim.expr()));
  return result;
}

Attributes &Attributes::ints(llvm::StringRef name, llvm::ArrayRef<int64_t> values) {
  return attr(name, builder_.ops().getDenseI64ArrayAttr(values));
}
Attributes &Attributes::integer(llvm::StringRef name, int64_t value) { return attr(name, builder_.ops().getI64IntegerAttr(value)); }
Attributes &Attributes::flag(llvm::StringRef name, bool value) { return attr(name, builder_.ops().getBoolAttr(value)); }
Attributes &Attributes::number(llvm::StringRef name, double value) { return attr(name, builder_.ops().getF64FloatAttr(value)); }
Attributes &Attributes::numbers(llvm::StringRef name, llvm::ArrayRef<double> values) {
  return attr(name, builder_.ops().getDenseF64ArrayAttr(values));
}
Attributes &Attributes::sizes(llvm::StringRef name, llvm::ArrayRef<DimExpr> values) {
  llvm::SmallVector<DimExpr> simplified;
  for (const DimExpr &value : values)
    simplified.push_back(builder_.simplify(value));
  return attr(name, graph::DimsAttr::get(builder_.context(), simplified));
}
Attributes &Attributes::attr(llvm::StringRef name, mlir::Attribute value) {
  list_.push_back(builder_.ops().getNamedAttr(name, value));
  return *this;
}

llvm::SmallVector<Tensor> emitAll(BuilderImpl &b, llvm::StringRef name, llvm::ArrayRef<Tensor> operands,
                                  llvm::ArrayRef<mlir::NamedAttribute> attributes, unsigned results, mlir::TypeRange types) {
  llvm::SmallVector<Tensor> tensors(results, b.poison());
  llvm::SmallVector<mlir::Value> values;
  for (const Tensor &operand : operands)
    values.push_back(b.value(operand));
  if (!b.ok())
    return tensors;
  DiagnosticCapture capture(b.context());
  mlir::FailureOr<mlir::Operation *> op = graph::tryCreateOp(b.ops(), b.loc(), name, values, attributes, types);
  if (mlir::failed(op)) {
    b.invalid(capture.text());
    return tensors;
  }
  for (unsigned i = 0; i < results && b.ok(); ++i)
    tensors[i] = b.wrap((*op)->getResult(i));
  return tensors;
}

Tensor emit(BuilderImpl &b, llvm::StringRef name, llvm::ArrayRef<Tensor> operands, llvm::ArrayRef<mlir::NamedAttribute> attributes) {
  return emitAll(b, name, operands, attributes, 1)[0];
}

Tensor emitAs(BuilderImpl &b, llvm::StringRef name, llvm::ArrayRef<Tensor> operands, ElementType type, llvm::ArrayRef<DimExpr> dims,
              llvm::ArrayRef<mlir::NamedAttribute> attributes) {
  if (!b.ok())
    return b.poison();
  // Equalities learnt since the caller computed the sizes may have replaced symbols.
  Sizes simplified;
  for (const DimExpr &dim : dims)
    simplified.push_back(b.simplify(dim));
  mlir::RankedTensorType mlirType = graph::tensorType(simplified, graph::toMlirType(type, b.context()));
  if (!mlirType)
    return b.invalid("`" + name + "` would give the shape " + shapeText(simplified));
  return emitAll(b, name, operands, attributes, 1, mlir::TypeRange(mlir::Type(mlirType)))[0];
}

ElementType promote(ElementType a, ElementType b) {
  if (a == b)
    return a;
  auto order = [](ElementType type) {
    switch (type) {
    case ElementType::I1:
      return 0;
    case ElementType::U8:
      return 1;
    case ElementType::I8:
      return 2;
    case ElementType::I16:
      return 3;
    case ElementType::I32:
      return 4;
    case ElementType::I64:
      return 5;
    case ElementType::F16:
    case ElementType::BF16:
      return 6;
    case ElementType::F32:
      return 7;
    case ElementType::F64:
      return 8;
    }
    return 0;
  };
  if (order(a) == 6 && order(b) == 6)
    return ElementType::F32;
  ElementType wider = order(a) > order(b) ? a : b, other = order(a) > order(b) ? b : a;
  // Neither holds the values of the other.
  return wider == ElementType::I8 && other == ElementType::U8 ? ElementType::I16 : wider;
}

Sizes broadcastShapes(BuilderImpl &b, llvm::StringRef what, llvm::ArrayRef<DimExpr> x, llvm::ArrayRef<DimExpr> y) {
  // Copies, since an equality that is learnt may rewrite the tensors' sizes.
  Sizes left(x.begin(), x.end()), right(y.begin(), y.end());
  size_t rank = std::max(left.size(), right.size());
  left.insert(left.begin(), rank - left.size(), DimExpr(1));
  right.insert(right.begin(), rank - right.size(), DimExpr(1));
  Sizes result;
  for (size_t i = 0; i < rank; ++i)
    result.push_back(b.broadcastDim(left[i], right[i], what));
  for (DimExpr &dim : result)
    dim = b.simplify(dim);
  return result;
}

llvm::SmallVector<int64_t> broadcastOffsets(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> dims) {
  llvm::SmallVector<int64_t> offsets{0};
  int64_t stride = 1;
  llvm::SmallVector<int64_t> strides(dims.size(), 0);
  for (size_t i = 0; i < from.size(); ++i) {
    size_t axis = from.size() - 1 - i;
    strides[dims.size() - 1 - i] = from[axis] == 1 ? 0 : stride;
    stride *= from[axis];
  }
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    llvm::SmallVector<int64_t> next;
    for (int64_t offset : offsets)
      for (int64_t i = 0; i < dims[axis]; ++i)
        next.push_back(offset + i * strides[axis]);
    offsets = std::move(next);
  }
  return offsets;
}

Tensor broadcastTo(BuilderImpl &b, llvm::StringRef what, const Tensor &x, llvm::ArrayRef<DimExpr> target) {
  if (!b.ok())
    return b.poison();
  Sizes dims(target.begin(), target.end());
  if (b.dims(x) == llvm::ArrayRef<DimExpr>(dims))
    return x;
  int64_t lead = static_cast<int64_t>(dims.size()) - x.rank();
  if (lead < 0)
    return b.invalid("`" + what + "`: a tensor of shape " + shapeText(b.dims(x)) + " does not broadcast to " + shapeText(dims));
  bool repeats = lead > 0;
  for (int64_t i = 0; i < x.rank(); ++i) {
    DimExpr own = b.dims(x)[i];
    if (own.isConstant(1) && !dims[lead + i].isConstant(1))
      repeats = true;
    else
      dims[lead + i] = b.requireEqual(dims[lead + i], own, what);
  }
  for (DimExpr &dim : dims)
    dim = b.simplify(dim);
  if (!b.ok())
    return b.poison();
  // The sizes that x keeps, spelt as in the result.
  Sizes kept;
  for (int64_t i = 0; i < x.rank(); ++i)
    kept.push_back(b.dims(x)[i].isConstant(1) ? DimExpr(1) : dims[lead + i]);
  Tensor source = reshapeTo(b, x, kept);
  if (!repeats)
    return source;

  std::optional<Axes> from = constantShape(source);
  const Contents *contents = b.contents(source);
  if (contents && from) {
    Axes to;
    int64_t count = 1;
    for (const DimExpr &dim : dims) {
      std::optional<int64_t> size = dim.constant();
      if (!size || (*size > 0 && count > kMaxKnownElements / *size)) {
        count = kMaxKnownElements + 1;
        break;
      }
      count *= *size;
      to.push_back(*size);
    }
    if (count <= kMaxKnownElements) {
      Contents repeated;
      for (int64_t offset : broadcastOffsets(*from, to))
        repeated.push_back((*contents)[offset]);
      return b.known(x.type(), to, std::move(repeated));
    }
  }
  Axes dimensions;
  for (int64_t i = 0; i < x.rank(); ++i)
    dimensions.push_back(lead + i);
  return emitAs(b, "graph.broadcast", {source}, x.type(), dims, Attributes(b).ints("dimensions", dimensions));
}

Tensor reshapeTo(BuilderImpl &b, const Tensor &x, llvm::ArrayRef<DimExpr> target) {
  if (!b.ok())
    return b.poison();
  Sizes simplified;
  for (const DimExpr &dim : target)
    simplified.push_back(b.simplify(dim));
  llvm::ArrayRef<DimExpr> dims = simplified;
  if (b.dims(x) == dims)
    return x;
  if (const Contents *contents = b.contents(x)) {
    Axes constants;
    int64_t count = 1;
    for (const DimExpr &dim : dims)
      if (std::optional<int64_t> size = dim.constant(); size && *size >= 0 && *size <= kMaxKnownElements && count <= kMaxKnownElements) {
        constants.push_back(*size);
        count *= *size;
      }
    if (constants.size() == dims.size() && count == static_cast<int64_t>(contents->size()))
      return b.known(x.type(), constants, *contents);
  }
  return emitAs(b, "graph.reshape", {x}, x.type(), dims);
}

Tensor broadcastAlong(BuilderImpl &b, const Tensor &x, llvm::ArrayRef<DimExpr> dims, int64_t axis) {
  return emitAs(b, "graph.broadcast", {x}, x.type(), dims, Attributes(b).ints("dimensions", {axis}));
}

bool requireEqualSizes(BuilderImpl &b, llvm::StringRef what, Tensor &x, int64_t axisX, Tensor &y, int64_t axisY) {
  if (!b.ok())
    return false;
  DimExpr common = b.requireEqual(b.dims(x)[axisX], b.dims(y)[axisY], what);
  Sizes dimsX = sizesOf(x), dimsY = sizesOf(y);
  dimsX[axisX] = common;
  dimsY[axisY] = common;
  x = reshapeTo(b, x, dimsX);
  y = reshapeTo(b, y, dimsY);
  return b.ok();
}

llvm::SmallVector<int64_t> gridOffsets(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<llvm::SmallVector<int64_t>> indices) {
  llvm::SmallVector<int64_t> offsets{0};
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    llvm::SmallVector<int64_t> next;
    for (int64_t offset : offsets)
      for (int64_t index : indices[axis])
        next.push_back(offset * shape[axis] + index);
    offsets = std::move(next);
  }
  return offsets;
}

Tensor scalarOf(BuilderImpl &b, ElementType type, double value) { return b.known(type, {}, {elementOf(type, value)}); }

Sizes sizesOf(const Tensor &x) { return x ? Sizes(x.node()->dims.begin(), x.node()->dims.end()) : Sizes(); }

DimExpr productOf(llvm::ArrayRef<DimExpr> dims) {
  DimExpr product(1);
  for (const DimExpr &dim : dims)
    product *= dim;
  return product;
}

std::string shapeText(llvm::ArrayRef<DimExpr> dims) { return graph::str(dims); }

std::optional<Axes> constantShape(const Tensor &x) {
  Axes result;
  for (const DimExpr &dim : x.node()->dims) {
    std::optional<int64_t> size = dim.constant();
    if (!size)
      return std::nullopt;
    result.push_back(*size);
  }
  return result;
}

} // namespace stator::trace
