// Operators that make tensors out of numbers. Memory that PyTorch would leave uninitialised is zero. Random numbers are refused: a compiled
// model is a function of its inputs.
#include "compiler/Import/Torch/Aten/Conversion.h"
#include "compiler/Import/Torch/Aten/Views.h"

#include <algorithm>

namespace stator::torch {

namespace fn = trace::fn;
using trace::Dim;
using trace::Dims;
using trace::Ints;
using trace::Tensor;
using trace::Tensors;

namespace {

/// What the schemas have in common: where the dtype stands, and the tensor (if any) whose type is the default.
Value filled(OpCall &call, const Dims &dims, double value, size_t dtype, ElementType fallback = ElementType::F32) {
  ElementType type = call.dtype(dtype).value_or(fallback);
  return call.ok() ? call.result(fn::full(call.builder(), type, dims, value)) : Value::poison();
}

template <int value>
Value constant(OpCall &call) {
  return filled(call, call.dims(0), value, 1);
}
template <int value>
Value newConstant(OpCall &call) {
  return filled(call, call.dims(1), value, 2, call.ref(0)->type());
}

/// (self, *, dtype, layout, device, pin_memory, memory_format)
Value likeOf(OpCall &call, const Tensor &scalar, size_t format) {
  if (!call.ok())
    return Value::poison();
  TensorRef self = call.ref(0);
  Dims dims = call.context().dims(self);
  Tensor value = fn::full(call.builder(), dims, scalar);
  int64_t memory = call.isNone(format) ? kPreserveFormat : call.integer(format);
  return call.ok() ? Value::tensor(call.context().make(value, formatStrides(call.context(), dims, memory, self))) : Value::poison();
}
template <int value>
Value constantLike(OpCall &call) {
  ElementType type = call.dtype(1).value_or(call.ref(0)->type());
  return likeOf(call, call.builder().scalar(type, value), 5);
}
Value fullLike(OpCall &call) {
  ElementType type = call.dtype(2).value_or(call.ref(0)->type());
  return likeOf(call, scalarOf(call, 1, type), 6);
}

Value full(OpCall &call) {
  Dims dims = call.dims(0);
  ElementType type = call.dtype(2).value_or(defaultTypeOf(numberAt(call, 1)));
  return call.result(fn::full(call.builder(), dims, scalarOf(call, 1, type)));
}
Value newFull(OpCall &call) {
  Dims dims = call.dims(1);
  ElementType type = call.dtype(3).value_or(call.ref(0)->type());
  return call.result(fn::full(call.builder(), dims, scalarOf(call, 2, type)));
}

Value strided(OpCall &call, const Dims &dims, const Dims &strides, size_t dtype, ElementType fallback) {
  ElementType type = call.dtype(dtype).value_or(fallback);
  if (!call.ok() || dims.size() != strides.size())
    return call.invalid(std::to_string(dims.size()) + " sizes with " + std::to_string(strides.size()) + " strides");
  return Value::tensor(call.context().make(fn::full(call.builder(), type, dims, 0), strides));
}
Value emptyStrided(OpCall &call) { return strided(call, call.dims(0), call.dims(1), 2, ElementType::F32); }
Value newEmptyStrided(OpCall &call) { return strided(call, call.dims(1), call.dims(2), 3, call.ref(0)->type()); }
Value emptyPermuted(OpCall &call) { return filled(call, call.dims(0), 0, 2); }

Value scalarTensor(OpCall &call) {
  ElementType type = call.dtype(1).value_or(ElementType::F32);
  return call.ok() ? call.result(scalarOf(call, 0, type)) : Value::poison();
}

/// A nested list of numbers, flattened.
struct Literal {
  Ints dims;
  Values scalars;
  bool isKnown = true;
};

bool collect(OpCall &call, const Value &value, size_t depth, Literal &literal) {
  const Values *items = value.items();
  if (!items) {
    if (depth != literal.dims.size() || !(value.isScalar() || value.isTensor()))
      return call.invalid("a list of " + value.typeName() + " beside lists of numbers"), false;
    literal.isKnown = literal.isKnown && !value.isTensor() && value.knownNumber().has_value();
    literal.scalars.push_back(value.isTensor() ? call.context().item(call.context().read(value.asTensor())) : value);
    return call.ok();
  }
  int64_t count = static_cast<int64_t>(items->size());
  if (depth == literal.dims.size() && literal.scalars.empty())
    literal.dims.push_back(count);
  if (depth >= literal.dims.size() || literal.dims[depth] != count)
    return call.invalid("lists of different lengths"), false;
  return std::all_of(items->begin(), items->end(), [&](const Value &item) { return collect(call, item, depth + 1, literal); });
}

ElementType literalType(const Literal &literal) {
  auto holds = [&](bool (Value::*is)() const) {
    return std::any_of(literal.scalars.begin(), literal.scalars.end(), [&](const Value &scalar) { return (scalar.*is)(); });
  };
  if (literal.scalars.empty() || holds(&Value::isFloat))
    return ElementType::F32;
  return holds(&Value::isInt) ? ElementType::I64 : ElementType::I1;
}

Tensor knownLiteral(OpCall &call, const Literal &literal, ElementType type) {
  trace::Builder &builder = call.builder();
  bool areFloats = std::any_of(literal.scalars.begin(), literal.scalars.end(), [](const Value &x) { return x.isFloat(); });
  if (!areFloats) {
    std::vector<int64_t> numbers;
    for (const Value &scalar : literal.scalars)
      numbers.push_back(scalar.isInt() ? scalar.asInt().dim.constant() : scalar.asBool().known);
    return fn::cast(builder.constant(ElementType::I64, literal.dims, numbers.data(), numbers.size() * sizeof(int64_t)), type);
  }
  std::vector<double> numbers;
  for (const Value &scalar : literal.scalars)
    numbers.push_back(*scalar.knownNumber());
  if (type == ElementType::F32) {
    std::vector<float> narrow(numbers.begin(), numbers.end());
    return builder.constant(type, literal.dims, narrow.data(), narrow.size() * sizeof(float));
  }
  return converted(builder.constant(ElementType::F64, literal.dims, numbers.data(), numbers.size() * sizeof(double)), type);
}

/// tensor() and as_tensor() of numbers, nested lists and tensors.
Value literal(OpCall &call) {
  const Value &data = call.argument(0);
  std::optional<ElementType> wanted = call.dtype(1);
  if (!call.ok())
    return Value::poison();
  if (data.isTensor()) {
    ElementType type = wanted.value_or(data.asTensor()->type());
    bool isSame = call.schema().name == "as_tensor" && type == data.asTensor()->type();
    return isSame ? data : call.result(converted(call.tensor(0), type));
  }
  Literal read;
  if (!collect(call, data, 0, read))
    return Value::poison();
  ElementType type = wanted.value_or(literalType(read));
  if (read.isKnown)
    return call.result(knownLiteral(call, read, type));
  Tensors elements;
  for (const Value &scalar : read.scalars)
    elements.push_back(fn::reshape(converted(call.context().scalarTensor(scalar), type), Dims{1}));
  Tensor row = fn::concat(elements, 0);
  return call.result(fn::reshape(row, Dims(read.dims.begin(), read.dims.end())));
}

Value random(OpCall &call) {
  return call.unsupported("random numbers are drawn, which a compiled model does not do; pass them as an input, or call model.eval() first "
                          "if this is part of training only");
}

} // namespace

#define FACTORY "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
#define INTEGER_FACTORY "ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None"
#define LIKE FACTORY ", MemoryFormat? memory_format=None"

std::span<const OpEntry> creationOps() {
  static constexpr OpEntry entries[] = {
      {"zeros(int[] size, *, " FACTORY ") -> Tensor", constant<0>},
      {"ones(int[] size, *, " FACTORY ") -> Tensor", constant<1>},
      {"empty.memory_format(int[] size, *, " LIKE ") -> Tensor", constant<0>},
      {"full(int[] size, Scalar fill_value, *, " FACTORY ") -> Tensor", full},
      {"zeros_like(Tensor self, *, " LIKE ") -> Tensor", constantLike<0>},
      {"ones_like(Tensor self, *, " LIKE ") -> Tensor", constantLike<1>},
      {"empty_like(Tensor self, *, " LIKE ") -> Tensor", constantLike<0>},
      {"full_like(Tensor self, Scalar fill_value, *, " LIKE ") -> Tensor", fullLike},
      {"new_zeros(Tensor self, int[] size, *, " FACTORY ") -> Tensor", newConstant<0>},
      {"new_ones(Tensor self, int[] size, *, " FACTORY ") -> Tensor", newConstant<1>},
      {"new_empty(Tensor self, int[] size, *, " FACTORY ") -> Tensor", newConstant<0>},
      {"new_full(Tensor self, int[] size, Scalar fill_value, *, " FACTORY ") -> Tensor", newFull},
      {"empty_strided(int[] size, int[] stride, *, " FACTORY ") -> Tensor", emptyStrided},
      {"new_empty_strided(Tensor self, int[] size, int[] stride, *, " FACTORY ") -> Tensor", newEmptyStrided},
      {"empty_permuted(int[] size, int[] physical_layout, *, " FACTORY ") -> Tensor", emptyPermuted},
      {"scalar_tensor(Scalar s, *, " FACTORY ") -> Tensor", scalarTensor},
      {"tensor.float(float t, *, ScalarType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor", literal},
      {"tensor.int(int t, *, ScalarType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor", literal},
      {"tensor.bool(bool t, *, ScalarType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor", literal},
      {"tensor(t[] data, *, ScalarType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor", literal},
      {"as_tensor.float(float t, *, ScalarType? dtype=None, Device? device=None) -> Tensor", literal},
      {"as_tensor.int(int t, *, ScalarType? dtype=None, Device? device=None) -> Tensor", literal},
      {"as_tensor.bool(bool t, *, ScalarType? dtype=None, Device? device=None) -> Tensor", literal},
      {"as_tensor(Tensor data, *, ScalarType? dtype=None, Device? device=None) -> Tensor", literal},
      {"as_tensor.list(t[] data, *, ScalarType? dtype=None, Device? device=None) -> Tensor", literal},

      {"rand(int[] size, *, " FACTORY ") -> Tensor", random},
      {"rand.generator(int[] size, *, Generator? generator, " FACTORY ") -> Tensor", random},
      {"randn(int[] size, *, " FACTORY ") -> Tensor", random},
      {"randn.generator(int[] size, *, Generator? generator, " FACTORY ") -> Tensor", random},
      {"rand_like(Tensor self, *, " LIKE ") -> Tensor", random},
      {"randn_like(Tensor self, *, " LIKE ") -> Tensor", random},
      {"randint(int high, int[] size, *, " INTEGER_FACTORY ") -> Tensor", random},
      {"randint.low(int low, int high, int[] size, *, " INTEGER_FACTORY ") -> Tensor", random},
      {"randint_like(Tensor self, int high, *, " LIKE ") -> Tensor", random},
      {"randint_like.low_dtype(Tensor self, int low, int high, *, " LIKE ") -> Tensor", random},
      {"randperm(int n, *, " INTEGER_FACTORY ") -> Tensor", random},
      {"bernoulli(Tensor self, *, Generator? generator=None) -> Tensor", random},
      {"bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> Tensor", random},
      {"bernoulli.Tensor(Tensor self, Tensor p, *, Generator? generator=None) -> Tensor", random},
      {"bernoulli_.Tensor(Tensor self, Tensor p, *, Generator? generator=None) -> Tensor", random},
      {"bernoulli_.float(Tensor self, float p=0.5, *, Generator? generator=None) -> Tensor", random},
      {"normal.Tensor_float(Tensor mean, float std=1., *, Generator? generator=None) -> Tensor", random},
      {"normal.float_Tensor(float mean, Tensor std, *, Generator? generator=None) -> Tensor", random},
      {"normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? generator=None) -> Tensor", random},
      {"normal.float_float(float mean, float std, int[] size, *, Generator? generator=None, " FACTORY ") -> Tensor", random},
      {"normal_(Tensor self, float mean=0., float std=1., *, Generator? generator=None) -> Tensor", random},
      {"uniform_(Tensor self, float from=0., float to=1., *, Generator? generator=None) -> Tensor", random},
      {"exponential_(Tensor self, float lambd=1., *, Generator? generator=None) -> Tensor", random},
      {"random_.from(Tensor self, int from, int? to, *, Generator? generator=None) -> Tensor", random},
      {"random_.to(Tensor self, int to, *, Generator? generator=None) -> Tensor", random},
      {"random_(Tensor self, *, Generator? generator=None) -> Tensor", random},
      {"multinomial(Tensor self, int num_samples, bool replacement=False, *, Generator? generator=None) -> Tensor", random},
      {"poisson(Tensor self, Generator? generator=None) -> Tensor", random},
  };
  return entries;
}

} // namespace stator::torch
