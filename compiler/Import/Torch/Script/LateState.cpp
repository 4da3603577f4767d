//===- LateState.cpp - tensors that get their shape in a call ----------------===//
//
// Streaming models begin with empty tensors: `if not len(self.context):
// self.context = torch.zeros(batch, 16)`. State of an artifact has one shape, so
// that it gets the later one, which a first trace has found, and a bool beside it
// says whether it is still empty. What asks for the length of such a tensor gets
// a number that depends on that bool, and the condition above becomes an `if`.
//
// An operator that computes with the tensor has to be sure that it is not empty.
// The importer cannot prove that; where the method sets the attribute somewhere
// before, or has asked for its length and now is in a branch, it says that it
// takes it for granted, else it refuses.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/Torch/Script/ModuleState.h"
#include "compiler/Trace/BuilderImpl.h"

namespace stator::torch::script {

/// State that a call makes starts as zeros, which the artifact holds.
static constexpr int64_t maxLateElements = int64_t(1) << 24;

static bool hasNoElements(Context &context, const Value &value) {
  if (!value.isTensor())
    return false;
  for (const trace::Dim &dim : context.dims(value.asTensor()))
    if (dim.isConstant() && dim.constant() == 0)
      return true;
  return false;
}

bool ModuleState::learnShape(const Attribute &attribute, const std::string &key, const Value &value) {
  if (!hasNoElements(context, attribute.initial) || !value.isTensor() || source.plan.lateShapes.count(key))
    return false;
  StatePlan::Shape shape;
  shape.type = value.asTensor()->type();
  int64_t count = 1;
  for (const trace::Dim &dim : context.dims(value.asTensor())) {
    if (!dim.isConstant() || dim.constant() <= 0 || dim.constant() > maxLateElements)
      return false;
    shape.dims.push_back(dim.constant());
    count *= dim.constant();
    if (count > maxLateElements)
      return false;
  }
  source.plan.lateShapes[key] = std::move(shape);
  source.plan.cells.insert(key);
  return true;
}

Status ModuleState::makeLateCell(Attribute &attribute, const std::string &key, const StatePlan::Shape &shape) {
  int64_t count = 1;
  for (int64_t dim : shape.dims)
    count *= dim;
  std::vector<char> zeros(size_t(count) * byteSize(shape.type));
  attribute.cell = context.make(makeState(key, shape.type, shape.dims, zeros), key);
  attribute.cell->storage()->scope = 0;
  attribute.isEmpty = context.make(makeState(key + ".is_empty", ElementType::I1, {}, {char(1)}), key);
  attribute.isEmpty->storage()->scope = 0;
  attribute.value.reset();
  return okStatus();
}

Status ModuleState::setLate(Attribute &attribute, const std::string &key, Value value) {
  attribute.wasWritten |= !context.isInsideScope();
  bool clears = hasNoElements(context, value);
  bool fits = value.isTensor() && value.asTensor()->type() == attribute.cell->type() &&
              context.dims(value.asTensor()) == context.dims(attribute.cell);
  if (!fits && !clears)
    return unsupported("attribute `" + key +
                       "` is empty at first, and calls give it more than one shape or element type; state that is "
                       "kept from call to call has one");
  if (fits)
    context.write(attribute.cell, context.read(value.asTensor()));
  context.write(attribute.isEmpty, context.builder().scalarInt(ElementType::I1, clears));
  attribute.value.reset();
  if (!context.isInsideScope())
    attribute.value = std::move(value);
  return okStatus();
}

const Value *ModuleState::isStillEmpty(const TensorRef &tensor) {
  auto found = copyOf.find(tensor.get());
  if (found == copyOf.end() || !copies[found->second].isEmpty)
    return nullptr;
  asked.insert(copies[found->second].key);
  return &*copies[found->second].isEmpty;
}

Status ModuleState::useOf(const TensorRef &tensor, std::string &warning) const {
  auto found = copyOf.find(tensor.get());
  if (found == copyOf.end() || !copies[found->second].isEmpty)
    return okStatus();
  const std::string &key = copies[found->second].key;
  bool isGuarded = context.isInsideScope() && asked.count(key);
  if (!changed.count(key) && !isGuarded)
    return unsupported("attribute `" + key +
                       "` is an empty tensor before the first call, which uses it as it is; state that is kept from call "
                       "to call has one shape");
  warning = "attribute `" + key +
            "` is an empty tensor before the first call; the compiled model takes it to have been set before it is used here";
  return okStatus();
}

} // namespace stator::torch::script
