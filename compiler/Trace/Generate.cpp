// Functions that make data: ranges, masks, constants of a computed shape.
#include "compiler/Trace/ElementwiseSupport.h"

#include <cmath>

namespace stator::trace::fn {

namespace {

/// Constants that a model asks for may not be larger; they would exist when the model runs.
constexpr int64_t kMaxGenerated = int64_t(1) << 28;

bool isTooLarge(const Call &call, llvm::ArrayRef<DimExpr> dims) {
  DimExpr count = productOf(dims);
  DimInterval range = call->bounds(count);
  if (count.isValid() && !(range.lo && *range.lo > kMaxGenerated))
    return false;
  call->fail(StatusCode::ResourceExhausted,
             "`" + call.name() + "`: a constant of shape " + shapeText(dims) + " has more than 2^28 elements");
  return true;
}

Tensor fullOf(const Call &call, llvm::ArrayRef<DimExpr> dims, const Tensor &scalar) {
  if (!call || isTooLarge(call, dims))
    return call.failed();
  for (const DimExpr &dim : dims)
    if (call->bounds(dim).hi.value_or(0) < 0)
      return call.invalid("a negative size in the shape " + shapeText(dims));
  return trace::broadcastTo(*call, call.name(), scalar, dims);
}

/// The only element as a rank-0 tensor.
Tensor single(const Call &call, llvm::StringRef what, const Tensor &x) {
  if (call && !(productOf(call->dims(x)) == DimExpr(1)))
    return call.invalid(what + " has the shape " + shapeText(call->dims(x)) + ", expected one element");
  return reshapeTo(*call, x, {});
}

} // namespace

Tensor shapeOf(const Tensor &x, int64_t start, std::optional<int64_t> end) {
  Call call("shape", {x});
  if (!call)
    return call.failed();
  auto clamp = [&](int64_t bound) { return std::clamp<int64_t>(bound < 0 ? bound + x.rank() : bound, 0, x.rank()); };
  int64_t from = clamp(std::max(start, -x.rank())), to = clamp(std::max(end.value_or(x.rank()), -x.rank()));
  Contents contents;
  for (int64_t axis = from; axis < to; ++axis)
    contents.emplace_back(call->dims(x)[axis]);
  int64_t count = static_cast<int64_t>(contents.size());
  return call->known(ElementType::I64, {count}, std::move(contents));
}

Tensor sizeOf(const Tensor &x) {
  Call call("size", {x});
  return call ? call->known(ElementType::I64, {}, {Element(productOf(call->dims(x)))}) : call.failed();
}

Tensor iota(Builder &builder, ElementType type, const Dims &dims, int64_t axis) {
  BuilderImpl &b = builder.impl();
  Call call("iota", {scalarOf(b, type, 0)});
  if (!call || !call.axis(axis, static_cast<int64_t>(dims.size())))
    return b.poison();
  ElementType numbers = type == ElementType::I1 ? ElementType::I64 : type;
  Sizes sizes = call.sizes(dims);
  return cast(emitAs(b, "graph.iota", {}, numbers, sizes, Attributes(b).integer("axis", axis)), type);
}

Tensor full(Builder &builder, const Dims &dims, const Tensor &scalar) {
  Call call("full", {scalar});
  return call ? fullOf(call, call.sizes(dims), single(call, "the value", scalar)) : builder.impl().poison();
}

Tensor full(Builder &builder, ElementType type, const Dims &dims, double value) { return full(builder, dims, builder.scalar(type, value)); }

Tensor constantOfShape(const Tensor &shape, const Tensor &value) {
  Call call("constantOfShape", {shape}, {value});
  if (!call)
    return call.failed();
  std::optional<Sizes> dims = call.sizes("the shape", shape);
  if (!dims)
    return call.failed();
  return fullOf(call, *dims, value ? single(call, "the value", value) : scalarOf(*call, ElementType::F32, 0));
}

Tensor range(const Tensor &start, const Tensor &limit, const Tensor &delta) {
  Call call("range", {start, limit, delta});
  if (!call)
    return call.failed();
  ElementType type = promote(promote(start.type(), limit.type()), delta.type());
  Tensor bounds[3] = {cast(start, type), cast(limit, type), cast(delta, type)};
  Element values[3];
  for (int i = 0; i < 3; ++i) {
    const Contents *contents = call->contents(bounds[i]);
    if (!contents)
      return call.unsupported("the bounds must be known when the model is compiled, but depend on data");
    if (contents->size() != 1)
      return call.invalid("a bound has " + llvm::Twine(contents->size()) + " elements, expected 1");
    values[i] = contents->front();
  }
  std::optional<double> step = values[2].constant();
  if (!step || *step == 0 || std::isnan(*step))
    return step ? call.invalid("the step is 0 or not a number") : call.unsupported("the step must be constant");

  // How many: ceil((limit - start) / step), at least none.
  DimExpr count;
  std::optional<double> first = values[0].constant(), last = values[1].constant();
  if (isFloat(type) && first && last) {
    double number = std::ceil((*last - *first) / *step);
    if (!(number < static_cast<double>(kMaxGenerated)))
      return call.invalid("a range of more than 2^28 elements");
    count = DimExpr(static_cast<int64_t>(std::max(0.0, number)));
  } else {
    std::optional<Element> from = values[0].asFraction(), to = values[1].asFraction(), by = values[2].asFraction();
    if (!from || !to || !by || !from->expr() || !to->expr() || !by->integer())
      return call.unsupported("a range over sizes with fractions");
    int64_t stride = *by->integer();
    DimExpr span = stride > 0 ? *to->expr() - *from->expr() : *from->expr() - *to->expr();
    count = call->max(span.ceilDiv(DimExpr(stride > 0 ? stride : DimExpr(-stride))), DimExpr(0));
  }
  if (isTooLarge(call, {count}))
    return call.failed();
  std::optional<int64_t> constantCount = count.constant();
  if (constantCount && *constantCount <= kMaxKnownElements) {
    Contents contents;
    for (int64_t i = 0; i < *constantCount; ++i) {
      std::optional<Element> scaled = knownBinary(*call, "mul", type, values[2], elementOf(type, static_cast<double>(i)));
      std::optional<Element> value = scaled ? knownBinary(*call, "add", type, values[0], *scaled) : std::nullopt;
      if (!value)
        break;
      contents.push_back(*value);
    }
    if (static_cast<int64_t>(contents.size()) == *constantCount)
      return call->known(type, {*constantCount}, std::move(contents));
  }
  Tensor positions = iota(*call->builder(), type, {Dim(count)}, 0);
  if (*step != 1)
    positions = mul(positions, reshapeTo(*call, bounds[2], {}));
  return first && *first == 0 ? positions : add(positions, reshapeTo(*call, bounds[0], {}));
}

Tensor oneHot(const Tensor &given, const Tensor &depth, const Tensor &values, int64_t axis) {
  Call call("oneHot", {given, depth, values});
  if (!call)
    return call.failed();
  std::optional<Sizes> size = call.sizes("the depth", cast(depth, ElementType::I64));
  if (!size || !call.axis(axis, given.rank() + 1))
    return call.failed();
  if (size->size() != 1 || values.rank() != 1)
    return call.invalid("a depth of " + llvm::Twine(size->size()) + " elements and values of rank " + llvm::Twine(values.rank()) +
                        ", expected 1 and 1");
  Tensor indices = cast(given, ElementType::I64);
  Tensor count = call->known(ElementType::I64, {}, {Element(size->front())});
  // Negative indices count from the end; what is out of range is off everywhere.
  Tensor wrapped = unsqueeze(where(lt(indices, scalarLike(indices, 0)), add(indices, count), indices), {axis});
  if (!call)
    return call.failed();
  Sizes dims = sizesOf(wrapped);
  dims[axis] = size->front();
  Tensor positions = iota(*call->builder(), ElementType::I64, Dims(dims.begin(), dims.end()), axis);
  Builder &builder = *call->builder();
  return where(eq(positions, wrapped), gather(values, builder.scalarInt(ElementType::I64, 1)),
               gather(values, builder.scalarInt(ElementType::I64, 0)));
}

Tensor eyeLike(const Tensor &x, ElementType type, int64_t k) {
  Call call("eyeLike", {x});
  if (!call || !call.rank("the input", x, 2))
    return call.failed();
  Builder &builder = *call->builder();
  Tensor row = iota(builder, ElementType::I64, x.dims(), 0), column = iota(builder, ElementType::I64, x.dims(), 1);
  return cast(eq(column, add(row, builder.scalarInt(ElementType::I64, k))), type);
}

Tensor trilu(const Tensor &x, bool upper, int64_t k) {
  Call call("trilu", {x});
  if (!call || !call.rankAtLeast("the input", x, 2))
    return call.failed();
  Builder &builder = *call->builder();
  Dims matrix{x.dim(-2), x.dim(-1)};
  Tensor row = iota(builder, ElementType::I64, matrix, 0), column = iota(builder, ElementType::I64, matrix, 1);
  Tensor diagonal = k == 0 ? row : add(row, builder.scalarInt(ElementType::I64, k));
  return where(upper ? ge(column, diagonal) : le(column, diagonal), x, scalarLike(x, 0));
}

} // namespace stator::trace::fn
