// Checking inputs against the declaration, and evaluating sizes.
#include "runtime/Executor/ShapeBinding.h"
#include "serialization/Base/DimExpr.h"

#include <string>

namespace stator::runtime {

using serialization::Method;
using serialization::Symbol;
using serialization::Value;

std::string describeShape(const int64_t *shape, int64_t rank) {
  std::string text = "[";
  for (int64_t i = 0; i < rank; ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

std::string describeDims(const Method &method, const std::vector<uint32_t> &dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i)
    text += (i ? ", " : "") + method.expressions[dims[i]].text;
  return text + "]";
}

static std::string inputName(const Method &method, size_t index) { return "input `" + method.inputs[index].name + "`"; }

static std::string typeName(int32_t type) {
  return isElementType(static_cast<uint32_t>(type)) ? name(static_cast<ElementType>(type)) : "number " + std::to_string(type);
}

static Status wrongCount(const Method &method, size_t given) {
  std::string names;
  for (const Value &value : method.inputs)
    names += (names.empty() ? "`" : ", `") + value.name + "`";
  return invalidArgument("method `" + method.name + "` got " + std::to_string(given) + " inputs, expected " +
                         std::to_string(method.inputs.size()) + (names.empty() ? "" : " (" + names + ")"));
}

Status checkInputs(const Method &method, InputViews inputs, bool shapesOnly) {
  if (inputs.size() != method.inputs.size())
    return wrongCount(method, inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value &declared = method.inputs[i];
    const stator_tensor_view &given = inputs[i];
    if (given.element_type != static_cast<int32_t>(declared.elementType))
      return invalidArgument(inputName(method, i) + " has element type " + typeName(given.element_type) + ", expected " +
                             name(declared.elementType));
    if (given.rank < 0 || static_cast<size_t>(given.rank) != declared.dims.size() || (given.rank > 0 && !given.shape))
      return invalidArgument(inputName(method, i) + " has rank " + std::to_string(given.rank) +
                             (given.rank > 0 && given.shape ? " (" + describeShape(given.shape, given.rank) + ")" : "") + ", expected " +
                             std::to_string(declared.dims.size()) + " (" + describeDims(method, declared.dims) + ")");
    if (shapesOnly)
      continue;
    size_t bytes = byteSize(declared.elementType);
    for (int32_t axis = 0; axis < given.rank; ++axis) {
      if (given.shape[axis] < 0)
        return invalidArgument(inputName(method, i) + ": dimension " + std::to_string(axis) + " is " + std::to_string(given.shape[axis]));
      if (__builtin_mul_overflow(bytes, static_cast<size_t>(given.shape[axis]), &bytes))
        return invalidArgument(inputName(method, i) + " of shape " + describeShape(given.shape, given.rank) + " is too large");
    }
    if (given.size_bytes < bytes || (bytes && !given.data))
      return invalidArgument(inputName(method, i) + " has " + (given.data ? std::to_string(given.size_bytes) + " bytes" : "no data") +
                             ", expected " + std::to_string(bytes) + " bytes for " + describeShape(given.shape, given.rank));
    if (reinterpret_cast<uintptr_t>(given.data) % byteSize(declared.elementType))
      return invalidArgument(inputName(method, i) + " is not aligned to its element type");
  }
  return okStatus();
}

static std::string rangeText(const Symbol &symbol) { return std::to_string(symbol.min) + " to " + std::to_string(symbol.max); }

static Status checkDims(const Method &method, InputViews inputs, const std::vector<int64_t> &values) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    for (size_t axis = 0; axis < method.inputs[i].dims.size(); ++axis) {
      uint32_t dim = method.inputs[i].dims[axis];
      if (inputs[i].shape[axis] == values[dim])
        continue;
      const std::string &text = method.expressions[dim].text;
      std::string expected = std::to_string(values[dim]);
      return invalidArgument(inputName(method, i) + ": dimension " + std::to_string(axis) + " is " + std::to_string(inputs[i].shape[axis]) +
                             ", expected " + (text == expected ? expected : "`" + text + "` = " + expected));
    }
  }
  return okStatus();
}

// The bytes of a tensor; false when they do not fit into an int64.
static bool tensorBytes(std::span<const int64_t> shape, ElementType type, size_t &bytes) {
  int64_t total = byteSize(type);
  for (int64_t size : shape)
    if (size < 0 || __builtin_mul_overflow(total, size, &total))
      return false;
  bytes = static_cast<size_t>(total);
  return true;
}

Result<ShapeValues> bindShapes(const Method &method, InputViews inputs) {
  std::vector<int64_t> symbols;
  for (const Symbol &symbol : method.symbols) {
    int64_t value = inputs[symbol.input].shape[symbol.axis];
    if (value < symbol.min || value > symbol.max)
      return outOfRange(inputName(method, symbol.input) + ": dimension " + std::to_string(symbol.axis) + " (`" + symbol.name + "`) is " +
                        std::to_string(value) + ", outside of its range, " + rangeText(symbol));
    symbols.push_back(value);
  }
  ShapeValues result;
  for (const serialization::Expression &expression : method.expressions) {
    Result<int64_t> value = evaluatePostfix(expression.code, symbols);
    if (!value.ok())
      return outOfRange("the size `" + expression.text + "` cannot be computed for these inputs: " + value.status().message());
    result.values.push_back(*value);
  }
  STATOR_RETURN_IF_ERROR(checkDims(method, inputs, result.values));
  for (const serialization::Guard &guard : method.guards)
    if (result.values[guard.left] != result.values[guard.right])
      return invalidArgument("the inputs' sizes do not fit together: `" + method.expressions[guard.left].text + "` is " +
                             std::to_string(result.values[guard.left]) + " and `" + method.expressions[guard.right].text + "` is " +
                             std::to_string(result.values[guard.right]) + ", expected equal values");
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::span<const int64_t> shape(inputs[i].shape, method.inputs[i].dims.size());
    result.inputDims.insert(result.inputDims.end(), shape.begin(), shape.end());
    size_t bytes = 0;
    if (!tensorBytes(shape, method.inputs[i].elementType, bytes))
      return invalidArgument(inputName(method, i) + " of shape " + describeShape(shape.data(), inputs[i].rank) + " is too large");
    result.inputBytes.push_back(bytes);
  }
  for (const Value &output : method.outputs) {
    size_t begin = result.outputDims.size(), bytes = 0;
    for (uint32_t dim : output.dims)
      result.outputDims.push_back(result.values[dim]);
    std::span<const int64_t> shape(result.outputDims.data() + begin, output.dims.size());
    if (!tensorBytes(shape, output.elementType, bytes))
      return outOfRange("output `" + output.name + "` would have the shape " + describeShape(shape.data(), shape.size()));
    result.outputBytes.push_back(bytes);
  }
  return result;
}

} // namespace stator::runtime
