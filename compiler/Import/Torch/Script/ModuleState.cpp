//===- ModuleState.cpp - the objects of an archive while a method is traced --===//

#include "compiler/Import/Torch/Script/ModuleState.h"
#include "compiler/Trace/BuilderImpl.h"
#include "dialects/Graph/ParameterStore.h"

#include <cstring>

namespace stator::torch::script {

Result<Value> ModuleState::constant(uint64_t index) {
  const PickleValue *value = source.constant(index);
  if (!value)
    return invalidFile("the archive has no constant c" + std::to_string(index));
  STATOR_TRY(converted, convert(*value, /*isConstant=*/true));
  if (converted.isTensor() && converted.asTensor()->rank() == 0)
    return Value::tensor(context.asWrappedNumber(converted.asTensor()));
  return converted;
}

Result<Value> ModuleState::convert(const PickleValue &value, bool isConstant) {
  switch (value.kind()) {
  case PickleKind::None:
    return Value::none();
  case PickleKind::Bool:
    return Value::boolean(value.boolean());
  case PickleKind::Int:
    return Value::integer(value.integer());
  case PickleKind::Float:
    return Value::real(value.real());
  case PickleKind::String:
    return Value::string(value.text().str());
  case PickleKind::Device:
    return Value(DeviceValue{"cpu"});
  case PickleKind::Tensor: {
    STATOR_TRY(tensor, load(source.parameterOf(*value.tensor(), isConstant)));
    return Value::tensor(tensor);
  }
  case PickleKind::Enum: {
    STATOR_TRY(definition, program.findClass(value.text()));
    STATOR_TRY(content, value.content() ? convert(*value.content(), isConstant) : Result<Value>(Value::none()));
    for (const Field &field : definition->fields) {
      bool isSame =
          field.value && ((field.value->kind == ExprKind::Int && content.knownInt() == field.value->integer) ||
                          (field.value->kind == ExprKind::String && content.isString() && content.asString() == field.value->text) ||
                          (field.value->kind == ExprKind::Float && content.isFloat() && content.asFloat().number == field.value->number));
      if (isSame)
        return enumMember(definition, field.name, content);
    }
    return invalidFile("enum `" + definition->name().str() + "` has no member with the value that the archive holds");
  }
  case PickleKind::List:
  case PickleKind::Tuple:
  case PickleKind::Dict:
  case PickleKind::Object:
    break;
  case PickleKind::Complex:
    return unsupported("complex numbers are not supported");
  case PickleKind::Global:
    return unsupported("`" + value.text().str() + "` as a value is not supported");
  }
  auto found = objects.find(&value);
  if (found != objects.end())
    return found->second;
  Value made;
  if (value.is(PickleKind::Object)) {
    if (value.text().starts_with("__torch__.torch.classes."))
      return unsupported("the module holds an object of the compiled class `" + value.text().drop_front(10).str() + "`");
    STATOR_TRY(definition, program.findClass(value.text()));
    made = Value(std::shared_ptr<Object>(std::make_shared<Instance>(definition, source.pathOf(&value), &value)));
  } else if (value.is(PickleKind::Dict)) {
    std::vector<std::pair<Value, Value>> items;
    for (const PickleEntry &entry : value.entries()) {
      STATOR_TRY(key, convert(*entry.first, isConstant));
      STATOR_TRY(item, convert(*entry.second, isConstant));
      items.emplace_back(std::move(key), std::move(item));
    }
    made = Value::dict(std::move(items));
  } else {
    Values items;
    for (const PickleValue *element : value.elements()) {
      STATOR_TRY(item, convert(*element, isConstant));
      items.push_back(std::move(item));
    }
    made = value.is(PickleKind::List) ? Value::list(std::move(items)) : Value::tuple(std::move(items));
  }
  objects[&value] = made;
  return made;
}

Value ModuleState::enumMember(const ClassDef *definition, const std::string &name, Value value) {
  Value &member = members[{definition, name}];
  if (member.isNone())
    member = Value(std::shared_ptr<Object>(std::make_shared<EnumMember>(definition, name, std::move(value))));
  return member;
}

Result<TensorRef> ModuleState::load(ParameterInfo &info) {
  auto found = tensorIndex.find(&info);
  if (found != tensorIndex.end())
    return tensors[found->second].tensor;
  STATOR_TRY(payload, source.payloadOf(info));
  trace::BuilderImpl &impl = context.builder().impl();
  bool isMutable = source.plan.mutableTensors.count(info.name) || source.plan.cells.count(info.name);
  trace::Tensor parameter = info.symbol.empty() ? trace::Tensor() : impl.sharedParameter(info.symbol);
  llvm::ArrayRef<int64_t> strides = payload->isContiguous() ? llvm::ArrayRef<int64_t>() : llvm::ArrayRef<int64_t>(payload->strides);
  if (!parameter && payload->fileOffset && source.file().file()) {
    int32_t number = graph::parametersOf(impl.context()).addMapped(source.file().file(), source.filePath());
    parameter = impl.mappedParameter(info.name, payload->type, payload->sizes, number, *payload->fileOffset, strides, isMutable);
  } else if (!parameter) {
    parameter = impl.ownedParameter(info.name, payload->type, payload->sizes, payload->gather(), isMutable);
  }
  if (!impl.ok())
    return impl.takeError();
  info.symbol = impl.nameOf(parameter).str();
  trace::Dims viewStrides(payload->strides.begin(), payload->strides.end());
  TensorRef tensor = context.make(parameter, payload->elements ? std::move(viewStrides) : contiguousStrides(parameter.dims()), info.name);
  // It was there before the method, also when a branch is the first to ask for it.
  tensor->storage()->scope = 0;
  if (info.tensor->requiresGrad)
    withGrad.insert(tensor->storage().get());
  tensorIndex[&info] = tensors.size();
  tensors.push_back({&info, parameter, tensor});
  return tensor;
}

static std::string keyOf(const Instance &object, const std::string &name) { return object.path.empty() ? name : object.path + "." + name; }

Result<Attribute *> ModuleState::find(Instance &object, const std::string &name) {
  Attribute &attribute = object.attributes[name];
  if (attribute.isLoaded)
    return &attribute;
  if (!object.source) {
    // Made by the method: what was not set is not there.
    if (!attribute.value)
      return static_cast<Attribute *>(nullptr);
    attribute.isLoaded = true;
    return &attribute;
  }
  const PickleValue *pickled = object.source->attribute(name);
  if (!pickled)
    return static_cast<Attribute *>(nullptr);
  std::string key = keyOf(object, name);
  Result<Value> value = convert(*pickled, /*isConstant=*/false);
  if (!value.ok())
    return value.status().withContext("attribute `" + key + "`");
  attribute.value = attribute.initial = *value;
  attribute.isLoaded = true;
  if (value->isList())
    containers[&value->asList()] = key;
  else if (value->isDict())
    containers[&value->asDict()] = key;
  if (source.plan.cells.count(key))
    STATOR_RETURN_IF_ERROR(makeCell(attribute, key));
  return &attribute;
}

trace::Tensor ModuleState::makeState(const std::string &name, ElementType type, const std::vector<int64_t> &dims,
                                     const std::vector<char> &bytes) {
  trace::BuilderImpl &impl = context.builder().impl();
  std::string &symbol = source.plan.cellSymbols[name];
  trace::Tensor state = symbol.empty() ? trace::Tensor() : impl.sharedParameter(symbol);
  if (!state) {
    state = impl.ownedParameter(name, type, dims, bytes, /*isMutable=*/true);
    symbol = impl.nameOf(state).str();
  }
  cellParameters[name] = state;
  return state;
}

Status ModuleState::makeCell(Attribute &attribute, const std::string &key) {
  touched[key] = &attribute;
  auto late = source.plan.lateShapes.find(key);
  if (late != source.plan.lateShapes.end())
    return makeLateCell(attribute, key, late->second);
  if (attribute.initial.isTensor()) {
    // Memory of its own: others may still look at the tensor that the attribute held before.
    attribute.cell = context.make(context.read(attribute.initial.asTensor()), key);
    attribute.cell->storage()->scope = 0;
    return okStatus();
  }
  if (!isNumber(attribute.initial))
    return unsupported("attribute `" + key +
                       "` is set by one call and read by the next, but only numbers and tensors of one shape can be "
                       "kept from call to call, and it is " +
                       attribute.initial.typeName());
  std::vector<char> bytes(attribute.initial.isBool() ? 1 : 8);
  double real = attribute.initial.knownNumber().value_or(0);
  int64_t integer = attribute.initial.knownInt().value_or(0);
  if (attribute.initial.isBool())
    bytes[0] = real != 0;
  else
    std::memcpy(bytes.data(), attribute.initial.isInt() ? static_cast<const void *>(&integer) : &real, 8);
  ElementType type = attribute.initial.isBool() ? ElementType::I1 : attribute.initial.isInt() ? ElementType::I64 : ElementType::F64;
  attribute.cell = context.make(makeState(key, type, {}, bytes), key);
  attribute.cell->storage()->scope = 0;
  attribute.value.reset();
  return okStatus();
}

Result<Value> ModuleState::read(Instance &object, const std::string &name, Attribute &attribute) {
  if (object.isPersistent() && !attribute.wasWritten && !attribute.wasReadAtEntry) {
    attribute.wasReadAtEntry = true;
    readAtEntry.insert(keyOf(object, name));
  }
  if (attribute.value)
    return *attribute.value;
  trace::Tensor now = context.read(attribute.cell);
  if (!attribute.initial.isTensor())
    return context.item(now);
  std::optional<Value> isEmpty;
  if (attribute.isEmpty) {
    isEmpty = context.item(context.read(attribute.isEmpty));
    if (isEmpty->knownBool() == true)
      return attribute.initial;
    if (isEmpty->knownBool() == false)
      isEmpty.reset();
  }
  TensorRef copy = context.make(now);
  copyOf[copy.get()] = copies.size();
  copies.push_back({copy, keyOf(object, name), std::move(isEmpty)});
  return Value::tensor(copy);
}

/// Whether storing `value` in the place of `old` changes nothing.
static bool isSame(const Value &old, const Value &value) {
  if (old.isTensor() && value.isTensor())
    return old.asTensor() == value.asTensor() ||
           (old.asTensor()->storage() == value.asTensor()->storage() && old.asTensor()->isWhole() && value.asTensor()->isWhole());
  if (old.isList() && value.isList())
    return &old.asList() == &value.asList();
  if (old.isDict() && value.isDict())
    return &old.asDict() == &value.asDict();
  return old.variant().index() == value.variant().index() && !value.isTensor() && equalValues(old, value) == true;
}

Status ModuleState::set(Instance &object, const std::string &name, Value value) {
  if (!object.isPersistent()) {
    Attribute &attribute = object.attributes[name];
    attribute.value = std::move(value);
    attribute.isLoaded = true;
    return okStatus();
  }
  STATOR_TRY(attribute, find(object, name));
  std::string key = keyOf(object, name);
  if (!attribute)
    return invalidFile("the archive has no attribute `" + key + "`, which the code sets");
  if (attribute->value && isSame(*attribute->value, value))
    return okStatus();
  if (!attribute->wasWritten && !attribute->value && isSame(attribute->initial, value) && attribute->initial.isTensor())
    return okStatus();
  touched[key] = attribute;
  changed[key] = &object;
  if (value.isPoison()) {
    attribute->wasWritten = true;
    attribute->value = value;
    return okStatus();
  }
  if (attribute->isEmpty)
    return setLate(*attribute, key, std::move(value));
  if (context.isInsideScope()) {
    // Only memory can be written in a branch that may not be taken.
    if (!attribute->cell) {
      if (!isNumber(attribute->initial) && !attribute->initial.isTensor())
        return unsupported("attribute `" + key +
                           "` is set in a branch that depends on data; that works for numbers and tensors, and it is " +
                           attribute->initial.typeName());
      source.plan.cells.insert(key);
      needsRestart = true;
      return unsupported("attribute `" + key + "` needs a cell");
    }
    bool fits = attribute->initial.isTensor() ? value.isTensor() && value.asTensor()->type() == attribute->cell->type() &&
                                                    context.dims(value.asTensor()) == context.dims(attribute->cell)
                                              : value.isScalar();
    if (!fits && learnShape(*attribute, key, value)) {
      needsRestart = true;
      return unsupported("attribute `" + key + "` needs a shape");
    }
    if (!fits)
      return unsupported("attribute `" + key + "` changes from " + attribute->initial.typeName() + " to " + value.typeName() +
                         " or to another shape in a branch that depends on data");
    context.write(attribute->cell, value.isTensor() ? context.read(value.asTensor()) : context.scalarTensor(value));
    attribute->value.reset();
    return okStatus();
  }
  attribute->wasWritten = true;
  attribute->value = std::move(value);
  return okStatus();
}

void ModuleState::flushCells() {
  if (context.isInsideScope())
    return;
  for (auto &[key, attribute] : touched) {
    if (!attribute->cell || !attribute->value || attribute->isEmpty)
      continue;
    const Value &value = *attribute->value;
    bool fits = value.isScalar()
                    ? isNumber(attribute->initial)
                    : value.isTensor() && attribute->initial.isTensor() && value.asTensor()->type() == attribute->cell->type() &&
                          context.dims(value.asTensor()) == context.dims(attribute->cell);
    if (fits && !(value.isTensor() && isSame(attribute->initial, value)))
      context.write(attribute->cell, value.isTensor() ? context.read(value.asTensor()) : context.scalarTensor(value));
  }
}

bool ModuleState::noteMutation(const void *container) {
  auto found = containers.find(container);
  if (found == containers.end())
    return false;
  changed[found->second] = nullptr;
  return true;
}

bool ModuleState::extendPlan(StatePlan &plan, const std::vector<const ModuleState *> &methods) {
  bool isExtended = false;
  for (const ModuleState *writer : methods)
    for (const auto &[key, object] : writer->changed)
      for (const ModuleState *reader : methods)
        if (reader->readAtEntry.count(key))
          isExtended |= plan.cells.insert(key).second;
  return isExtended;
}

Status ModuleState::finishAttribute(Attribute &attribute, const std::string &key) {
  trace::BuilderImpl &impl = context.builder().impl();
  if (!attribute.cell)
    return okStatus();
  if (attribute.isEmpty) {
    if (attribute.cell->storage()->isWritten)
      impl.setParameter(cellParameters[key], context.read(attribute.cell));
    if (attribute.isEmpty->storage()->isWritten)
      impl.setParameter(cellParameters[key + ".is_empty"], context.read(attribute.isEmpty));
    return okStatus();
  }
  if (attribute.initial.isTensor()) {
    if (attribute.value && !attribute.value->isTensor())
      return attribute.value->isPoison() ? okStatus()
                                         : unsupported("attribute `" + key + "` is a tensor before the call and " +
                                                       attribute.value->typeName() + " after it, which cannot be kept for the next call");
    if (attribute.value && isSame(attribute.initial, *attribute.value))
      return okStatus(); // written in place at most, which finish() has seen
    trace::Tensor next = context.read(attribute.value ? attribute.value->asTensor() : attribute.cell);
    if (!impl.ok())
      return impl.takeError();
    for (Made &made : tensors) {
      if (made.tensor != attribute.initial.asTensor())
        continue;
      bool fits = next.type() == made.parameter.type() && next.dims() == made.parameter.dims();
      if (!fits && attribute.value && learnShape(attribute, key, *attribute.value)) {
        needsRestart = true;
        return okStatus();
      }
      if (!fits)
        return unsupported("attribute `" + key +
                           "` has another shape or element type after the call than before; state that is kept "
                           "from call to call has one shape (make it that of the calls to come before saving the model)");
      if (made.info->holders > 1)
        return unsupported("attribute `" + key + "` is replaced, and others share its memory");
      impl.setParameter(made.parameter, next);
    }
    return okStatus();
  }
  trace::Tensor next;
  if (attribute.value) {
    if (attribute.value->isPoison())
      return okStatus();
    if (attribute.value->variant().index() != attribute.initial.variant().index())
      return unsupported("attribute `" + key + "` is " + attribute.initial.typeName() + " before the call and " +
                         attribute.value->typeName() + " after it, which cannot be kept for the next call");
    next = context.scalarTensor(*attribute.value);
  } else if (attribute.cell->storage()->isWritten) {
    next = context.read(attribute.cell);
  }
  if (next)
    impl.setParameter(cellParameters[key], next);
  return okStatus();
}

Result<bool> ModuleState::finish() {
  bool isExtended = needsRestart;
  trace::BuilderImpl &impl = context.builder().impl();
  for (Made &made : tensors) {
    ParameterInfo *info = made.info;
    if (!made.tensor->storage()->isWritten)
      continue;
    for (const Made &other : tensors) // Each view of a record is a tensor of its own here, so that a write would not show in the others.
      if (other.info != info && other.info->folder == info->folder && other.info->tensor && info->tensor &&
          other.info->tensor->storageKey == info->tensor->storageKey)
        return unsupported("attribute `" + info->name + "` is written in place, and `" + other.info->name +
                           "` is another view of the same memory; clone() one of them before the model is saved");
    bool isPlanned = source.plan.mutableTensors.count(info->name) || source.plan.cells.count(info->name);
    if (isPlanned) {
      impl.setParameter(made.parameter, context.read(made.tensor));
    } else {
      source.plan.mutableTensors.insert(info->name);
      isExtended = true;
    }
  }
  if (isExtended)
    return true;
  for (auto &[key, attribute] : touched)
    STATOR_RETURN_IF_ERROR(finishAttribute(*attribute, key));
  for (const Copy &copy : copies)
    if (copy.tensor->storage()->isWritten)
      return unsupported("attribute `" + copy.key + "` is written in place after a branch that depends on data has set it");
  return needsRestart;
}

} // namespace stator::torch::script
