// Sequences: ranges, evenly spaced numbers, and the window functions of signal processing. What depends on known numbers only is computed
// here, in double precision, as PyTorch does; ranges may end at sizes that are known when the model runs.
#include "compiler/Import/Torch/Aten/Conversion.h"

#include "compiler/Trace/BuilderImpl.h"

#include <cmath>
#include <functional>
#include <numbers>

namespace stator::torch {

namespace fn = trace::fn;
using trace::BuilderImpl;
using trace::Dims;
using trace::Ints;
using trace::Tensor;

namespace {

constexpr int64_t kMaxComputed = int64_t(1) << 22;

/// f(0), f(1), ... f(count - 1) as a tensor of `type`.
Value computed(OpCall &call, int64_t count, ElementType type, const std::function<double(int64_t)> &f) {
  if (!call.ok())
    return Value::poison();
  if (count < 0 || count > kMaxComputed)
    return call.invalid(std::to_string(count) + " elements, expected 0..2^22");
  if (type == ElementType::F32) {
    std::vector<float> numbers;
    for (int64_t i = 0; i < count; ++i)
      numbers.push_back(static_cast<float>(f(i)));
    return call.result(call.builder().constant(type, {count}, numbers.data(), numbers.size() * sizeof(float)));
  }
  std::vector<double> numbers;
  for (int64_t i = 0; i < count; ++i)
    numbers.push_back(f(i));
  Tensor exact = call.builder().constant(ElementType::F64, {count}, numbers.data(), numbers.size() * sizeof(double));
  return call.result(converted(exact, type));
}

/// Integers give i64 and floats the default type; sizes may be expressions.
Value rangeOf(OpCall &call, const Value &start, const Value &end, const Value &step, size_t dtype) {
  if (!call.ok())
    return Value::poison();
  bool areIntegers = !start.isFloat() && !end.isFloat() && !step.isFloat();
  ElementType type = call.dtype(dtype).value_or(areIntegers ? ElementType::I64 : ElementType::F32);
  ElementType compute = areIntegers ? ElementType::I64 : ElementType::F64;
  Tensor bounds[3];
  const Value *values[] = {&start, &end, &step};
  for (int i = 0; i < 3; ++i)
    bounds[i] = fn::cast(call.context().scalarTensor(*values[i]), compute);
  if (!call.ok())
    return Value::poison();
  std::optional<double> a = start.knownNumber(), b = end.knownNumber(), by = step.knownNumber();
  if (a && b && by && (*by == 0 || (*by > 0 ? *a > *b : *a < *b)))
    return call.invalid("a range from " + std::to_string(*a) + " to " + std::to_string(*b) + " with step " + std::to_string(*by));
  // A constant is exact and short; the positions of longer ranges are computed when the model runs.
  if (!areIntegers && a && b && by) {
    double count = std::ceil((*b - *a) / *by);
    if (count <= 4096)
      return computed(call, static_cast<int64_t>(count), type, [&](int64_t i) { return *a + *by * static_cast<double>(i); });
  }
  // A step that is a size: as many as fit.
  bool isSize = start.isInt() && end.isInt() && step.isInt() && !start.isData() && !end.isData() && !step.isData();
  if (isSize && !step.asInt().dim.isConstant()) {
    BuilderImpl &b = BuilderImpl::of(call.builder());
    DimExpr span = (end.asInt().dim - start.asInt().dim).expr();
    trace::Dim count(b.max(span.ceilDiv(step.asInt().dim.expr()), DimExpr(0)));
    Tensor places = fn::iota(call.builder(), ElementType::I64, {count}, 0);
    return call.result(fn::cast(fn::add(fn::mul(places, bounds[2]), bounds[0]), type));
  }
  return call.result(fn::cast(fn::range(bounds[0], bounds[1], bounds[2]), type));
}

Value arangeEnd(OpCall &call) { return rangeOf(call, Value::integer(int64_t{0}), numberAt(call, 0), Value::integer(int64_t{1}), 1); }
Value arangeStart(OpCall &call) { return rangeOf(call, numberAt(call, 0), numberAt(call, 1), Value::integer(int64_t{1}), 2); }
Value arangeStep(OpCall &call) { return rangeOf(call, numberAt(call, 0), numberAt(call, 1), numberAt(call, 2), 3); }

/// The old range(), whose end is included.
Value inclusiveRange(OpCall &call, double step, size_t dtype) {
  double start = call.number(0), end = call.number(1);
  ElementType type = call.dtype(dtype).value_or(ElementType::F32);
  if (call.ok() && (step == 0 || (end - start) / step < 0))
    return call.invalid("a range from " + std::to_string(start) + " to " + std::to_string(end) + " with step " + std::to_string(step));
  double count = std::floor((end - start) / (step == 0 ? 1 : step)) + 1;
  return computed(call, static_cast<int64_t>(std::min(count, 1e9)), type, [&](int64_t i) { return start + step * static_cast<double>(i); });
}
Value rangeStep(OpCall &call) { return inclusiveRange(call, call.number(2), 3); }
Value rangeOne(OpCall &call) { return inclusiveRange(call, 1, 2); }

/// From both ends to the middle, so that the last number is exact.
double spaced(double start, double end, int64_t steps, int64_t i) {
  double step = steps > 1 ? (end - start) / static_cast<double>(steps - 1) : 0;
  return i < steps / 2 || steps == 1 ? start + step * static_cast<double>(i) : end - step * static_cast<double>(steps - i - 1);
}

/// As many numbers as a size says, computed when the model runs.
Value spacedBySize(OpCall &call, double start, double end, const trace::Dim &steps, ElementType type) {
  trace::Builder &builder = call.builder();
  Tensor place = fn::iota(builder, ElementType::I64, {steps}, 0), last = builder.fromDim(steps - trace::Dim(1));
  Tensor one = builder.scalarInt(ElementType::I64, 1), two = builder.scalarInt(ElementType::I64, 2);
  auto real = [](const Tensor &x) { return fn::cast(x, ElementType::F64); };
  Tensor step = fn::div(builder.scalar(ElementType::F64, end - start), real(fn::maximum(last, one)));
  Tensor low = fn::add(builder.scalar(ElementType::F64, start), fn::mul(real(place), step));
  Tensor high = fn::sub(builder.scalar(ElementType::F64, end), fn::mul(real(fn::sub(last, place)), step));
  Tensor isLow = fn::logicalOr(fn::lt(fn::mul(place, two), last), fn::eq(last, builder.scalarInt(ElementType::I64, 0)));
  return call.ok() ? call.result(converted(fn::where(isLow, low, high), type)) : Value::poison();
}

Value linspace(OpCall &call) {
  double start = call.number(0), end = call.number(1);
  ElementType type = call.dtype(3).value_or(ElementType::F32);
  if (trace::Dim size = call.dim(2); call.ok() && !size.isConstant())
    return spacedBySize(call, start, end, size, type);
  int64_t steps = call.integer(2);
  return computed(call, steps, type, [&](int64_t i) { return spaced(start, end, steps, i); });
}
Value logspace(OpCall &call) {
  double start = call.number(0), end = call.number(1), base = call.number(3);
  int64_t steps = call.integer(2);
  ElementType type = call.dtype(4).value_or(ElementType::F32);
  return computed(call, steps, type, [&](int64_t i) { return std::pow(base, spaced(start, end, steps, i)); });
}

/// A window of `length` points is the first part of one of length + 1 when it is periodic.
Value windowOf(OpCall &call, bool isPeriodic, size_t dtype, const std::function<double(double)> &f) {
  int64_t length = call.integer(0), points = isPeriodic ? length + 1 : length;
  ElementType type = call.dtype(dtype).value_or(ElementType::F32);
  return computed(call, length, type,
                  [&](int64_t i) { return length == 1 ? 1.0 : f(static_cast<double>(i) / static_cast<double>(points - 1)); });
}

double cosine(double x, double a0, double a1, double a2 = 0) {
  return a0 - a1 * std::cos(2 * std::numbers::pi * x) + a2 * std::cos(4 * std::numbers::pi * x);
}
/// The first argument is the length; the others of the schema, before the dtype, are `periodic` and the coefficients.
template <int coefficients>
bool periodicOf(OpCall &call) {
  return coefficients < 0 || call.flag(1);
}

template <int given>
Value hann(OpCall &call) {
  return windowOf(call, periodicOf<given>(call), given < 0 ? 1 : 2, [](double x) { return cosine(x, 0.5, 0.5); });
}
template <int given>
Value hamming(OpCall &call) {
  double alpha = given >= 1 ? call.number(2) : 0.54, beta = given >= 2 ? call.number(3) : 0.46;
  return windowOf(call, periodicOf<given>(call), given < 0 ? 1 : 2 + given, [=](double x) { return cosine(x, alpha, beta); });
}
template <int given>
Value blackman(OpCall &call) {
  return windowOf(call, periodicOf<given>(call), given < 0 ? 1 : 2, [](double x) { return cosine(x, 0.42, 0.5, 0.08); });
}
template <int given>
Value bartlett(OpCall &call) {
  return windowOf(call, periodicOf<given>(call), given < 0 ? 1 : 2, [](double x) { return 1 - std::fabs(2 * x - 1); });
}

/// The modified Bessel function of order 0.
double bessel0(double x) {
  double term = 1, sum = 1;
  for (int k = 1; k < 500 && term > sum * 1e-17; ++k) {
    term *= (x / (2 * k)) * (x / (2 * k));
    sum += term;
  }
  return sum;
}
template <int given>
Value kaiser(OpCall &call) {
  double beta = given >= 1 ? call.number(2) : 12.0;
  return windowOf(call, periodicOf<given>(call), given < 0 ? 1 : 2 + given,
                  [=](double x) { return bessel0(beta * std::sqrt(std::max(0.0, 1 - (2 * x - 1) * (2 * x - 1)))) / bessel0(beta); });
}

} // namespace

#define FACTORY "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
#define PERIODIC "int window_length, bool periodic, "

std::span<const OpEntry> rangeOps() {
  static constexpr OpEntry entries[] = {
      {"arange(Scalar end, " FACTORY, arangeEnd},
      {"arange.start(Scalar start, Scalar end, " FACTORY, arangeStart},
      {"arange.start_step(Scalar start, Scalar end, Scalar step=1, " FACTORY, arangeStep},
      {"range.step(Scalar start, Scalar end, Scalar step=1, " FACTORY, rangeStep},
      {"range(Scalar start, Scalar end, " FACTORY, rangeOne},
      {"linspace(Scalar start, Scalar end, int steps, " FACTORY, linspace},
      {"logspace(Scalar start, Scalar end, int steps, float base=10., " FACTORY, logspace},
      {"hann_window(int window_length, " FACTORY, hann<-1>},
      {"hann_window.periodic(" PERIODIC FACTORY, hann<0>},
      {"hamming_window(int window_length, " FACTORY, hamming<-1>},
      {"hamming_window.periodic(" PERIODIC FACTORY, hamming<0>},
      {"hamming_window.periodic_alpha(" PERIODIC "float alpha, " FACTORY, hamming<1>},
      {"hamming_window.periodic_alpha_beta(" PERIODIC "float alpha, float beta, " FACTORY, hamming<2>},
      {"blackman_window(int window_length, " FACTORY, blackman<-1>},
      {"blackman_window.periodic(" PERIODIC FACTORY, blackman<0>},
      {"bartlett_window(int window_length, " FACTORY, bartlett<-1>},
      {"bartlett_window.periodic(" PERIODIC FACTORY, bartlett<0>},
      {"kaiser_window(int window_length, " FACTORY, kaiser<-1>},
      {"kaiser_window.periodic(" PERIODIC FACTORY, kaiser<0>},
      {"kaiser_window.beta(" PERIODIC "float beta, " FACTORY, kaiser<1>},
  };
  return entries;
}

} // namespace stator::torch
