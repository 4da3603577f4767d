// One traced expression, run by the reference interpreter and compared with values that come from elsewhere.
#ifndef STATOR_TEST_UNIT_COMPILER_TRACE_TRACECASE_H
#define STATOR_TEST_UNIT_COMPILER_TRACE_TRACECASE_H

#include "test/unit/Catch.h"

#include "compiler/Trace/BuilderImpl.h"
#include "compiler/Trace/Capture.h"
#include "dialects/Graph/Interpreter/Interpreter.h"
#include "stator/Trace.h"

#include <cmath>
#include <cstdint>
#include <vector>

struct Case {
  stator::trace::Builder b;
  llvm::SmallVector<stator::graph::TensorValue> inputs;

  /// An input, so that nothing is known about its elements while tracing.
  stator::trace::Tensor input(stator::ElementType type, const stator::trace::Ints &dims, const std::vector<double> &values) {
    inputs.push_back(stator::graph::TensorValue::of(type, dims, values));
    return b.input("input" + std::to_string(inputs.size()), type, stator::trace::Dims(dims.begin(), dims.end()));
  }

  /// f32 numbers in [-scale, scale) that anybody can compute again.
  stator::trace::Tensor noise(const stator::trace::Ints &dims, int64_t seed, double scale = 1) {
    int64_t count = 1;
    for (int64_t dim : dims)
      count *= dim;
    std::vector<double> values;
    for (int64_t i = 0; i < count; ++i)
      values.push_back((static_cast<double>((i * 7919 + seed * 104729) % 1000) / 500.0 - 1.0) * scale);
    return input(stator::ElementType::F32, dims, values);
  }

  /// Ends the method with the result `y`, runs it, and compares: |d| <= tolerance * (1 + |expected|).
  void expect(const stator::trace::Tensor &y, const stator::trace::Ints &dims, const std::vector<double> &values, double tolerance = 2e-6) {
    INFO(b.status().message());
    REQUIRE(b.ok());
    b.output("y", y);
    REQUIRE(b.finish().ok());
    stator::trace::BuilderImpl &impl = stator::trace::BuilderImpl::of(b);
    stator::trace::DiagnosticCapture capture(impl.context());
    auto results = stator::graph::interpret(impl.method(), inputs);
    INFO(b.str() << capture.text());
    REQUIRE(mlir::succeeded(results));
    const stator::graph::TensorValue &result = results->front();
    REQUIRE(stator::trace::Ints(result.shape.begin(), result.shape.end()) == dims);
    std::vector<double> actual = result.reals();
    REQUIRE(actual.size() == values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      INFO("element " << i << ": " << actual[i] << ", expected " << values[i]);
      bool isSame = std::isnan(values[i])
                        ? std::isnan(actual[i])
                        : actual[i] == values[i] || std::fabs(actual[i] - values[i]) <= tolerance * (1 + std::fabs(values[i]));
      REQUIRE(isSame);
    }
  }
};

#endif // STATOR_TEST_UNIT_COMPILER_TRACE_TRACECASE_H
