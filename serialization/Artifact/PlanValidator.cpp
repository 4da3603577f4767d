// Checks a method of a manifest and the plan that it runs; see Validator.h.
#include "serialization/Artifact/PlanValidator.h"

#include "serialization/Base/DimExpr.h"

#include <algorithm>
#include <optional>
#include <set>

using namespace stator;
using namespace stator::serialization;

namespace {
class MethodValidator {
public:
  MethodValidator(const Manifest &manifest, const Method &method, std::string place)
      : manifest(manifest), method(method), plan(manifest.plans[method.plan]), place(std::move(place)) {}

  Status validate() {
    STATOR_RETURN_IF_ERROR(checkExpressions());
    STATOR_RETURN_IF_ERROR(checkValues("inputs", method.inputs));
    STATOR_RETURN_IF_ERROR(checkValues("outputs", method.outputs));
    STATOR_RETURN_IF_ERROR(checkSymbols());
    for (size_t i = 0; i != method.guards.size(); ++i) {
      STATOR_RETURN_IF_ERROR(checkExpression(at("guards", i), "expression", method.guards[i].left));
      STATOR_RETURN_IF_ERROR(checkExpression(at("guards", i), "expression", method.guards[i].right));
    }
    place += ", plan " + std::to_string(method.plan);
    STATOR_RETURN_IF_ERROR(checkSize(place, "arena size", plan.arenaSize));
    STATOR_RETURN_IF_ERROR(checkSize(place, "scratch size", plan.scratchSize));
    for (size_t i = 0; i != plan.buffers.size(); ++i)
      STATOR_RETURN_IF_ERROR(checkBuffer(plan.buffers[i], at("buffers", i)));
    return checkInstructions(plan.instructions, place, "instructions");
  }

private:
  std::string at(const char *list, size_t index, const std::string &name = "") const { return place + ": " + placeOf(list, index, name); }

  /// The value of an expression without symbols.
  std::optional<int64_t> constant(uint32_t expression) const { return constants[expression]; }

  Status checkExpressions() {
    for (size_t i = 0; i != method.expressions.size(); ++i) {
      const Expression &expression = method.expressions[i];
      Status status = checkPostfix(expression.code, method.symbols.size());
      if (!status.ok())
        return invalidAt(at("expressions", i, expression.text), status.message());
      std::optional<int64_t> value;
      if (checkPostfix(expression.code, 0).ok()) {
        Result<int64_t> result = evaluatePostfix(expression.code, {});
        if (!result.ok())
          return invalidAt(at("expressions", i, expression.text), result.status().message());
        value = *result;
      }
      constants.push_back(value);
    }
    return Status();
  }

  Status checkExpression(const std::string &where, const char *what, uint32_t index) const {
    return checkIndex(where, what, index, constants.size());
  }

  /// An expression that counts something.
  Status checkSize(const std::string &where, const char *what, uint32_t index) const {
    STATOR_RETURN_IF_ERROR(checkExpression(where, what, index));
    if (constant(index) && *constant(index) < 0)
      return invalidAt(where, std::string(what) + " is " + std::to_string(*constant(index)));
    return Status();
  }

  Status checkDims(const std::string &where, const std::vector<uint32_t> &dims) const {
    for (uint32_t dim : dims)
      STATOR_RETURN_IF_ERROR(checkSize(where, "dim", dim));
    return Status();
  }

  Status checkValues(const char *list, const std::vector<Value> &values) const {
    STATOR_RETURN_IF_ERROR(checkValueNames(place, list, values));
    for (size_t i = 0; i != values.size(); ++i)
      STATOR_RETURN_IF_ERROR(checkDims(at(list, i, values[i].name), values[i].dims));
    return Status();
  }

  Status checkSymbols() const {
    std::set<std::string> names;
    for (size_t i = 0; i != method.symbols.size(); ++i) {
      const Symbol &symbol = method.symbols[i];
      std::string where = at("symbols", i, symbol.name);
      if (symbol.name.empty())
        return invalidAt(where, "it has no name");
      if (!names.insert(symbol.name).second)
        return invalidAt(where, "the name is there twice");
      if (symbol.min < 0 || symbol.min > symbol.max)
        return invalidAt(where, "range " + std::to_string(symbol.min) + " to " + std::to_string(symbol.max));
      STATOR_RETURN_IF_ERROR(checkIndex(where, "input", symbol.input, method.inputs.size()));
      const Value &input = method.inputs[symbol.input];
      STATOR_RETURN_IF_ERROR(checkIndex(where, "axis", symbol.axis, input.dims.size()));
      const std::vector<int64_t> &code = method.expressions[input.dims[symbol.axis]].code;
      if (code != std::vector<int64_t>{static_cast<int64_t>(DimOpcode::Symbol), static_cast<int64_t>(i)})
        return invalidAt(where, "axis " + std::to_string(symbol.axis) + " of input `" + input.name + "` is not this symbol");
    }
    return Status();
  }

  /// The bytes of a tensor, when its dims are known; empty too when they exceed 64 bits, which binding a shape reports.
  std::optional<int64_t> knownBytes(ElementType type, const std::vector<uint32_t> &dims) const {
    int64_t bytes = byteSize(type);
    for (uint32_t dim : dims)
      if (!constant(dim) || __builtin_mul_overflow(bytes, *constant(dim), &bytes))
        return std::nullopt;
    return bytes;
  }

  /// The bytes behind a buffer of this kind and index, when they are known.
  std::optional<int64_t> capacityOf(const Buffer &buffer) const {
    switch (buffer.kind) {
    case BufferKind::Arena:
      return constant(plan.arenaSize);
    case BufferKind::Input:
      return knownBytes(method.inputs[buffer.index].elementType, method.inputs[buffer.index].dims);
    case BufferKind::Output:
      return knownBytes(method.outputs[buffer.index].elementType, method.outputs[buffer.index].dims);
    case BufferKind::Parameter:
    case BufferKind::State:
      return static_cast<int64_t>(std::min<uint64_t>(manifest.parameters[buffer.index].size, INT64_MAX));
    }
    return std::nullopt;
  }

  Status checkBuffer(const Buffer &buffer, const std::string &where) const {
    switch (buffer.kind) {
    case BufferKind::Arena:
      if (buffer.index != 0)
        return invalidAt(where, "arena " + std::to_string(buffer.index) + ", there is 1");
      break;
    case BufferKind::Input:
      STATOR_RETURN_IF_ERROR(checkIndex(where, "input", buffer.index, method.inputs.size()));
      break;
    case BufferKind::Output:
      STATOR_RETURN_IF_ERROR(checkIndex(where, "output", buffer.index, method.outputs.size()));
      break;
    case BufferKind::Parameter:
    case BufferKind::State:
      STATOR_RETURN_IF_ERROR(checkIndex(where, "parameter", buffer.index, manifest.parameters.size()));
      if (manifest.parameters[buffer.index].isMutable != (buffer.kind == BufferKind::State))
        return invalidAt(where, "parameter `" + manifest.parameters[buffer.index].name + "` is " +
                                    (buffer.kind == BufferKind::State ? "frozen, but used as state" : "state, but used as frozen"));
      break;
    }
    STATOR_RETURN_IF_ERROR(checkDims(where, buffer.dims));
    STATOR_RETURN_IF_ERROR(checkSize(where, "size", buffer.size));
    STATOR_RETURN_IF_ERROR(checkSize(where, "offset", buffer.offset));
    std::optional<int64_t> size = constant(buffer.size), offset = constant(buffer.offset);
    std::optional<int64_t> expected = knownBytes(buffer.elementType, buffer.dims);
    if (size && expected && *size != *expected)
      return invalidAt(where, "it has " + std::to_string(*size) + " bytes, its type takes " + std::to_string(*expected));
    if (offset && *offset % byteSize(buffer.elementType) != 0)
      return invalidAt(where, "offset " + std::to_string(*offset) + " is not aligned for " + name(buffer.elementType));
    STATOR_RETURN_IF_ERROR(checkRange(where, "it", offset, size, capacityOf(buffer)));
    if (buffer.viewOf) {
      STATOR_RETURN_IF_ERROR(checkIndex(where, "base", *buffer.viewOf, plan.buffers.size()));
      const Buffer &base = plan.buffers[*buffer.viewOf];
      if (base.kind != buffer.kind || base.index != buffer.index)
        return invalidAt(where, "it is not in the place of its base, buffer " + std::to_string(*buffer.viewOf));
    }
    return Status();
  }

  /// offset + size <= capacity, as far as they are known.
  static Status checkRange(const std::string &where, const char *what, std::optional<int64_t> offset, std::optional<int64_t> size,
                           std::optional<int64_t> capacity) {
    int64_t end = 0;
    if (__builtin_add_overflow(offset.value_or(0), size.value_or(0), &end))
      return invalidAt(where, std::string(what) + " ends beyond 64 bits");
    if (capacity && end > *capacity)
      return invalidAt(where, std::string(what) + " ends at byte " + std::to_string(end) + " of " + std::to_string(*capacity));
    return Status();
  }

  Status checkInstructions(const std::vector<Instruction> &instructions, const std::string &prefix, const char *list) const {
    for (size_t i = 0; i != instructions.size(); ++i)
      STATOR_RETURN_IF_ERROR(checkInstruction(instructions[i], prefix + ": " + placeOf(list, i, instructions[i].name)));
    return Status();
  }

  Status checkInstruction(const Instruction &instruction, const std::string &where) const {
    if (instruction.operations)
      STATOR_RETURN_IF_ERROR(checkSize(where, "number of operations", *instruction.operations));
    if (instruction.bytes)
      STATOR_RETURN_IF_ERROR(checkSize(where, "number of bytes", *instruction.bytes));
    switch (instruction.kind) {
    case InstructionKind::Kernel: {
      STATOR_RETURN_IF_ERROR(checkIndex(where, "kernel", instruction.kernel, manifest.kernels.size()));
      const Kernel &kernel = manifest.kernels[instruction.kernel];
      STATOR_RETURN_IF_ERROR(checkCount(where, "buffers", instruction.buffers.size(), kernel.numBuffers));
      STATOR_RETURN_IF_ERROR(checkCount(where, "sizes", instruction.sizes.size(), kernel.numSizes));
      return checkOperands(instruction, where);
    }
    case InstructionKind::Library:
      if (std::find(manifest.requirements.begin(), manifest.requirements.end(), instruction.library) == manifest.requirements.end())
        return invalidAt(where, "library `" + instruction.library + "` is not among the requirements");
      if (instruction.routine.empty())
        return invalidAt(where, "it names no routine");
      return checkOperands(instruction, where);
    case InstructionKind::Copy:
      return checkCopy(instruction, where);
    case InstructionKind::Shape:
      return checkShape(instruction, where);
    case InstructionKind::If:
      STATOR_RETURN_IF_ERROR(checkCondition(instruction, where));
      STATOR_RETURN_IF_ERROR(checkInstructions(instruction.first, where, "on_true"));
      return checkInstructions(instruction.second, where, "on_false");
    case InstructionKind::Loop:
      STATOR_RETURN_IF_ERROR(checkCondition(instruction, where));
      STATOR_RETURN_IF_ERROR(checkInstructions(instruction.first, where, "before"));
      return checkInstructions(instruction.second, where, "body");
    }
    return invalidAt(where, "an instruction of unknown kind");
  }

  static Status checkCount(const std::string &where, const char *what, size_t count, size_t expected) {
    if (count == expected)
      return Status();
    return invalidAt(where, std::to_string(count) + " " + what + ", the kernel takes " + std::to_string(expected));
  }

  Status checkBufferIndex(const std::string &where, uint32_t index) const {
    return checkIndex(where, "buffer", index, plan.buffers.size());
  }

  Status checkWritten(const std::string &where, uint32_t index) const {
    STATOR_RETURN_IF_ERROR(checkBufferIndex(where, index));
    BufferKind kind = plan.buffers[index].kind;
    if (kind == BufferKind::Input || kind == BufferKind::Parameter)
      return invalidAt(where, "it writes buffer " + std::to_string(index) + ", which is " +
                                  (kind == BufferKind::Input ? "an input" : "a frozen parameter"));
    return Status();
  }

  Status checkOperands(const Instruction &instruction, const std::string &where) const {
    if (instruction.numInputs > instruction.buffers.size())
      return invalidAt(where,
                       std::to_string(instruction.numInputs) + " inputs among " + std::to_string(instruction.buffers.size()) + " buffers");
    for (size_t i = 0; i != instruction.buffers.size(); ++i)
      STATOR_RETURN_IF_ERROR(i < instruction.numInputs ? checkBufferIndex(where, instruction.buffers[i])
                                                       : checkWritten(where, instruction.buffers[i]));
    for (uint32_t size : instruction.sizes)
      STATOR_RETURN_IF_ERROR(checkExpression(where, "size", size));
    return Status();
  }

  Status checkCopy(const Instruction &copy, const std::string &where) const {
    STATOR_RETURN_IF_ERROR(checkBufferIndex(where, copy.source));
    STATOR_RETURN_IF_ERROR(checkWritten(where, copy.destination));
    STATOR_RETURN_IF_ERROR(checkSize(where, "source offset", copy.sourceOffset));
    STATOR_RETURN_IF_ERROR(checkSize(where, "destination offset", copy.destinationOffset));
    STATOR_RETURN_IF_ERROR(checkSize(where, "size", copy.copySize));
    STATOR_RETURN_IF_ERROR(
        checkRange(where, "the source", constant(copy.sourceOffset), constant(copy.copySize), constant(plan.buffers[copy.source].size)));
    return checkRange(where, "the destination", constant(copy.destinationOffset), constant(copy.copySize),
                      constant(plan.buffers[copy.destination].size));
  }

  Status checkShape(const Instruction &shape, const std::string &where) const {
    STATOR_RETURN_IF_ERROR(checkWritten(where, shape.destination));
    const Buffer &destination = plan.buffers[shape.destination];
    if (destination.elementType != ElementType::I64 && destination.elementType != ElementType::I32)
      return invalidAt(where, std::string("it writes sizes as ") + name(destination.elementType) + ", expected i64 or i32");
    for (uint32_t value : shape.sizes)
      STATOR_RETURN_IF_ERROR(checkExpression(where, "size", value));
    int64_t bytes = static_cast<int64_t>(shape.sizes.size()) * byteSize(destination.elementType);
    std::optional<int64_t> capacity = constant(destination.size);
    if (!capacity || *capacity != bytes)
      return invalidAt(where, "it writes " + std::to_string(bytes) + " bytes to a buffer of " +
                                  (capacity ? std::to_string(*capacity) : "variable size"));
    return Status();
  }

  Status checkCondition(const Instruction &instruction, const std::string &where) const {
    STATOR_RETURN_IF_ERROR(checkBufferIndex(where, instruction.condition));
    const Buffer &condition = plan.buffers[instruction.condition];
    if (condition.elementType != ElementType::I1 || constant(condition.size) != 1)
      return invalidAt(where, "the condition, buffer " + std::to_string(instruction.condition) + ", is not one i1");
    return Status();
  }

  const Manifest &manifest;
  const Method &method;
  const Plan &plan;
  std::string place;
  std::vector<std::optional<int64_t>> constants; // By expression.
};
} // namespace

Status stator::serialization::validateMethod(const Manifest &manifest, const Method &method, const std::string &place) {
  return MethodValidator(manifest, method, place).validate();
}
