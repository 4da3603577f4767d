// The figures of a comparison, and their text.
#include "tools/support/Comparison.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace stator::tools {

static bool comparable(ElementType value, ElementType reference) {
  bool narrow = value == ElementType::BF16 || value == ElementType::F16;
  return value == reference || (narrow && (reference == ElementType::F32 || reference == ElementType::F64));
}

Comparison compareTensors(const NpyArray &value, const NpyArray &reference, const Tolerance &tolerance) {
  Comparison result;
  if (!comparable(value.type, reference.type) || value.shape != reference.shape) {
    result.problem = "is " + typeText(value.type, value.shape) + ", expected " + typeText(reference.type, reference.shape);
    return result;
  }
  result.count = value.data.size() / byteSize(value.type);
  auto valueAt = [&](size_t i) { return elementAt(value.type, value.data.data(), i); };
  auto referenceAt = [&](size_t i) { return elementAt(reference.type, reference.data.data(), i); };
  for (size_t i = 0; i < result.count; ++i)
    if (double magnitude = std::fabs(referenceAt(i)); std::isfinite(magnitude))
      result.maxReference = std::max(result.maxReference, magnitude);
  result.limit = isFloat(value.type) ? tolerance.absolute + tolerance.relative * result.maxReference : 0;
  double sum = 0, dot = 0, valueNorm = 0, referenceNorm = 0;
  for (size_t i = 0; i < result.count; ++i) {
    double a = valueAt(i), b = referenceAt(i);
    bool same = a == b || (std::isnan(a) && std::isnan(b));
    double difference = same ? 0 : std::fabs(a - b);
    if (std::isnan(difference)) // A number against NaN, or two different infinities.
      difference = std::numeric_limits<double>::infinity();
    if (!(difference <= result.limit))
      ++result.mismatches;
    if (i == 0 || difference > result.maxDifference) {
      result.maxDifference = difference;
      result.worst = i;
      result.worstValue = a;
      result.worstReference = b;
    }
    sum += difference;
    if (std::isfinite(a) && std::isfinite(b)) {
      dot += a * b;
      valueNorm += a * a;
      referenceNorm += b * b;
    }
  }
  // Two int64 that differ only beyond 53 bits are different numbers.
  if (value.type == ElementType::I64 && result.mismatches == 0 && value.data != reference.data)
    result.mismatches = 1;
  result.meanDifference = result.count ? sum / static_cast<double>(result.count) : 0;
  if (valueNorm > 0 || referenceNorm > 0)
    result.cosine = valueNorm > 0 && referenceNorm > 0 ? dot / std::sqrt(valueNorm) / std::sqrt(referenceNorm) : 0;
  return result;
}

std::string describeComparison(const Comparison &comparison, const std::vector<int64_t> &shape) {
  if (!comparison.problem.empty())
    return comparison.problem;
  char text[256];
  if (comparison.ok()) {
    std::snprintf(text, sizeof(text), "ok: max |difference| %.3g, allowed %.3g", comparison.maxDifference, comparison.limit);
    return text;
  }
  std::string place = "[";
  size_t rest = comparison.worst, stride = 1;
  for (int64_t size : shape)
    stride *= static_cast<size_t>(size);
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    stride /= static_cast<size_t>(shape[axis]);
    place += (axis ? ", " : "") + std::to_string(rest / stride);
    rest %= stride;
  }
  std::snprintf(text, sizeof(text), "%zu of %zu elements differ: max |difference| %.6g at %s], value %.9g, expected %.9g, allowed %.3g",
                comparison.mismatches, comparison.count, comparison.maxDifference, place.c_str(), comparison.worstValue,
                comparison.worstReference, comparison.limit);
  return text;
}

} // namespace stator::tools
