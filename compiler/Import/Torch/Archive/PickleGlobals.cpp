//===- PickleGlobals.cpp - what the known globals of a pickle mean ---------===//
//
// The allow-list. A global is a name and stays one; where the pickle "calls" it, the few functions that torch writes are done here by hand
// on plain values. See torch/csrc/jit/serialization/pickler.cpp and torch/_utils.py for what they do in PyTorch.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/Torch/Archive/TensorPayload.h"
#include "compiler/Import/Torch/Archive/Unpickler.h"
#include "compiler/Import/Torch/Aten/ScalarTypes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace stator::torch {

namespace {
enum class Function {
  Unknown,
  OrderedDict,
  RebuildTensor,
  RebuildTensorWithDtype,
  RebuildParameter,
  IntList,
  FloatList,
  BoolList,
  TensorList,
  RestoreTypeTag,
  Device,
  Complex,
};
} // namespace

static Function functionOf(llvm::StringRef name) {
  return llvm::StringSwitch<Function>(name)
      .Case("collections.OrderedDict", Function::OrderedDict)
      .Case("torch._utils._rebuild_tensor_v2", Function::RebuildTensor)
      .Case("torch._utils._rebuild_tensor_v3", Function::RebuildTensorWithDtype)
      .Cases({"torch._utils._rebuild_parameter", "torch._utils._rebuild_parameter_with_state"}, Function::RebuildParameter)
      .Case("torch.jit._pickle.build_intlist", Function::IntList)
      .Case("torch.jit._pickle.build_doublelist", Function::FloatList)
      .Case("torch.jit._pickle.build_boollist", Function::BoolList)
      .Case("torch.jit._pickle.build_tensorlist", Function::TensorList)
      .Case("torch.jit._pickle.restore_type_tag", Function::RestoreTypeTag)
      .Case("torch.device", Function::Device)
      .Cases({"builtins.complex", "__builtin__.complex"}, Function::Complex)
      .Default(Function::Unknown);
}

/// What is known, but not supported: what it would make.
static const char *unsupportedGlobal(llvm::StringRef name) {
  return llvm::StringSwitch<const char *>(name)
      .Case("torch._utils._rebuild_qtensor", "a quantised tensor")
      .Cases({"torch._utils._rebuild_sparse_tensor", "torch._utils._rebuild_sparse_csr_tensor"}, "a sparse tensor")
      .Case("torch._utils._rebuild_nested_tensor", "a nested tensor")
      .Cases({"torch._utils._rebuild_wrapper_subclass", "torch._tensor._rebuild_from_type_v2"}, "a tensor of a Python subclass")
      .Cases({"torch._utils._rebuild_meta_tensor_no_storage", "torch._subclasses.fake_tensor._reconstruct_fake_tensor"},
             "a tensor without data")
      .Case("torch.jit._pickle.build_tensor_from_id", "a tensor whose data is not in the file")
      .Default(nullptr);
}

static bool isTorchClass(llvm::StringRef name) {
  return name.starts_with("__torch__.") &&
         llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.' || static_cast<unsigned char>(c) >= 0x80; });
}

/// The name below torch. of a storage class: "FloatStorage".
static std::optional<llvm::StringRef> storageClass(llvm::StringRef name) {
  if (!name.consume_front("torch.storage.") && !name.consume_front("torch."))
    return std::nullopt;
  return name == "UntypedStorage" || scalarTypeOfStorage(name) ? std::optional(name) : std::nullopt;
}

static std::optional<int64_t> dtypeOf(llvm::StringRef name) {
  return name.starts_with("torch.") ? scalarTypeNamed(std::string_view(name)) : std::nullopt;
}

Status Unpickler::global(llvm::StringRef module, llvm::StringRef name) {
  std::string full = (llvm::Twine(module) + "." + name).str();
  if (functionOf(full) != Function::Unknown || storageClass(full) || dtypeOf(full) || isTorchClass(full)) {
    push(makeText(PickleKind::Global, keep(full)));
    return Status();
  }
  if (const char *what = unsupportedGlobal(full))
    return failure(StatusCode::Unsupported, "`" + full + "` makes " + what + ", which is not supported");
  for (char &c : full)
    c = static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  return bad("names `" + full.substr(0, 100) + "`, which is none of the classes and functions that torch writes for a model");
}

/// An instance without content; BUILD brings it.
Status Unpickler::newObject() {
  STATOR_TRY(values, pop(2));
  if (!values[0]->is(PickleKind::Global) || !isTorchClass(values[0]->text()))
    return bad(std::string("makes an instance of ") +
               (values[0]->is(PickleKind::Global) ? "`" + values[0]->text().str() + "`" : describe(values[0]->kind())) +
               ", expected a class of the model (`__torch__...`)");
  if (!values[1]->is(PickleKind::Tuple) || !values[1]->elements().empty())
    return bad("makes an instance with arguments, expected an empty tuple");
  PickleValue *object = make(PickleKind::Object);
  bodyOf(object).text = values[0]->text();
  push(object);
  return Status();
}

Status Unpickler::build() {
  STATOR_TRY(state, pop(1));
  STATOR_TRY(object, top());
  // An OrderedDict with attributes, as the state_dict() of a module has (_metadata): nothing in them matters here.
  if (object->is(PickleKind::Dict))
    return Status();
  if (!object->is(PickleKind::Object))
    return bad(std::string("gives a state to ") + describe(object->kind()) + ", expected an object");
  if (bodyOf(object).content)
    return bad("gives `" + object->text().str() + "` a second state");
  bodyOf(object).content = state[0];
  return Status();
}

/// ('storage', class, key, location, elements)
Status Unpickler::persistentStorage() {
  STATOR_TRY(values, pop(1));
  llvm::ArrayRef<const PickleValue *> parts = values[0]->elements();
  constexpr PickleKind kinds[] = {PickleKind::String, PickleKind::Global, PickleKind::String, PickleKind::String, PickleKind::Int};
  bool isStorage = values[0]->is(PickleKind::Tuple) && parts.size() == std::size(kinds) &&
                   llvm::all_of(llvm::zip(parts, kinds), [](auto pair) { return std::get<0>(pair)->is(std::get<1>(pair)); });
  std::optional<llvm::StringRef> className = isStorage ? storageClass(parts[1]->text()) : std::nullopt;
  if (!className || parts[0]->text() != "storage")
    return bad("expected a storage: ('storage', class, key, device, number of elements)");
  if (parts[4]->integer() < 0)
    return bad("a storage has the negative size " + std::to_string(parts[4]->integer()));
  PickledTensor storage;
  storage.storageKey = parts[2]->text();
  storage.storageElements = parts[4]->integer();
  storage.isUntyped = *className == "UntypedStorage";
  storage.scalarType = scalarTypeOfStorage(std::string_view(*className)).value_or(-1);
  push(makeTensor(storage, PickleKind::Storage));
  return Status();
}

Result<llvm::ArrayRef<int64_t>> Unpickler::integers(const PickleValue &tuple, const char *what) {
  llvm::ArrayRef<const PickleValue *> elements = tuple.elements();
  if (!tuple.is(PickleKind::Tuple) || !llvm::all_of(elements, [](const PickleValue *v) { return v->is(PickleKind::Int); }))
    return bad(std::string("the ") + what + " of a tensor are no tuple of ints");
  int64_t *numbers = tree.arena->memory.Allocate<int64_t>(elements.size());
  for (size_t i = 0; i != elements.size(); ++i)
    numbers[i] = elements[i]->integer();
  return llvm::ArrayRef<int64_t>(numbers, elements.size());
}

/// (storage, offset, sizes, strides, requires_grad, hooks[, metadata]); v3: (..., hooks, dtype[, metadata]).
Result<PickleValue *> Unpickler::rebuildTensor(llvm::ArrayRef<const PickleValue *> arguments, bool hasDtype) {
  size_t needed = hasDtype ? 7 : 6;
  if (arguments.size() != needed && arguments.size() != needed + 1)
    return bad("a tensor of " + std::to_string(arguments.size()) + " arguments, expected " + std::to_string(needed) + " or " +
               std::to_string(needed + 1));
  if (!arguments[0]->is(PickleKind::Storage) || !arguments[1]->is(PickleKind::Int) || !arguments[4]->is(PickleKind::Bool))
    return bad("expected a tensor: (storage, offset, sizes, strides, requires_grad, hooks)");
  PickledTensor tensor = *arguments[0]->tensor_;
  tensor.offset = arguments[1]->integer();
  STATOR_TRY(sizes, integers(*arguments[2], "sizes"));
  STATOR_TRY(strides, integers(*arguments[3], "strides"));
  tensor.sizes = sizes;
  tensor.strides = strides;
  tensor.requiresGrad = arguments[4]->boolean();
  if (hasDtype) {
    std::optional<int64_t> dtype = arguments[6]->is(PickleKind::Global) ? dtypeOf(arguments[6]->text()) : std::nullopt;
    if (!dtype || !tensor.isUntyped)
      return bad("expected a tensor of an untyped storage with its dtype");
    tensor.scalarType = *dtype;
  } else if (tensor.isUntyped) {
    return bad("a tensor of an untyped storage has no dtype");
  }
  if (arguments.size() > needed)
    for (const char *bit : {"conj", "neg"})
      if (const PickleValue *isSet = arguments[needed]->find(bit); isSet && isSet->boolean())
        return failure(StatusCode::Unsupported, std::string("a tensor is a lazily ") + (bit[0] == 'c' ? "conjugated" : "negated") +
                                                    " view, which is not supported; save a clone() of it");
  return makeTensor(tensor, PickleKind::Tensor);
}

/// (tensor, requires_grad, hooks[, attributes])
Result<PickleValue *> Unpickler::rebuildParameter(llvm::ArrayRef<const PickleValue *> arguments) {
  if (arguments.size() < 3 || arguments.size() > 4 || !arguments[0]->is(PickleKind::Tensor) || !arguments[1]->is(PickleKind::Bool))
    return bad("expected a parameter: (tensor, requires_grad, hooks)");
  PickledTensor parameter = *arguments[0]->tensor_;
  parameter.isParameter = true;
  parameter.requiresGrad = arguments[1]->boolean();
  return makeTensor(parameter, PickleKind::Tensor);
}

Result<PickleValue *> Unpickler::typedList(PickleValue *arguments, llvm::StringRef tag, PickleKind kind) {
  llvm::ArrayRef<const PickleValue *> parts = arguments->elements();
  if (parts.size() != 1 || !parts[0]->is(PickleKind::List))
    return bad("expected one list");
  for (const PickleValue *element : parts[0]->elements())
    if (!element->is(kind))
      return bad(std::string("a ") + tag.str() + " has " + describe(element->kind()) + " as an element");
  auto *list = const_cast<PickleValue *>(parts[0]);
  bodyOf(list).typeTag = tag;
  return list;
}

/// (value, "Dict[str, int]")
Result<PickleValue *> Unpickler::restoreTypeTag(PickleValue *arguments) {
  llvm::ArrayRef<const PickleValue *> parts = arguments->elements();
  if (parts.size() != 2 || !parts[1]->is(PickleKind::String))
    return bad("expected a value and the text of its type");
  auto *value = const_cast<PickleValue *>(parts[0]);
  if (value->is(PickleKind::List) || value->is(PickleKind::Dict))
    bodyOf(value).typeTag = parts[1]->text();
  return value;
}

/// ("cuda:0",) from TorchScript, ("cuda", 0) from Python.
Result<PickleValue *> Unpickler::device(llvm::ArrayRef<const PickleValue *> arguments) {
  bool isIndexed = arguments.size() == 2 && arguments[1]->is(PickleKind::Int);
  if (arguments.empty() || !arguments[0]->is(PickleKind::String) || (arguments.size() > 1 && !isIndexed))
    return bad("expected the name of a device");
  llvm::StringRef name = arguments[0]->text();
  return makeText(PickleKind::Device, isIndexed ? keep(name.str() + ":" + std::to_string(arguments[1]->integer())) : name);
}

Result<PickleValue *> Unpickler::complexNumber(llvm::ArrayRef<const PickleValue *> arguments) {
  if (arguments.size() != 2 || !arguments[0]->is(PickleKind::Float) || !arguments[1]->is(PickleKind::Float))
    return bad("expected the two parts of a complex number");
  PickleValue *value = make(PickleKind::Complex);
  value->real_ = arguments[0]->real();
  value->imaginary_ = arguments[1]->real();
  return value;
}

Status Unpickler::reduce() {
  STATOR_TRY(values, pop(2));
  if (!values[0]->is(PickleKind::Global))
    return bad(std::string("calls ") + describe(values[0]->kind()) + ", expected a function");
  llvm::StringRef name = values[0]->text();
  PickleValue *arguments = values[1];
  // A member of an enumeration is written as its class "called" with the bare value.
  if (isTorchClass(name)) {
    PickleValue *member = make(PickleKind::Enum);
    bodyOf(member).text = name;
    bodyOf(member).content = arguments;
    push(member);
    return Status();
  }
  if (!arguments->is(PickleKind::Tuple))
    return bad("calls `" + name.str() + "` with " + describe(arguments->kind()) + ", expected a tuple");
  llvm::ArrayRef<const PickleValue *> elements = arguments->elements();
  auto call = [&]() -> Result<PickleValue *> {
    switch (functionOf(name)) {
    case Function::OrderedDict:
      if (!elements.empty())
        return bad("expected an OrderedDict without arguments");
      return make(PickleKind::Dict);
    case Function::RebuildTensor:
      return rebuildTensor(elements, /*hasDtype=*/false);
    case Function::RebuildTensorWithDtype:
      return rebuildTensor(elements, /*hasDtype=*/true);
    case Function::RebuildParameter:
      return rebuildParameter(elements);
    case Function::IntList:
      return typedList(arguments, "List[int]", PickleKind::Int);
    case Function::FloatList:
      return typedList(arguments, "List[float]", PickleKind::Float);
    case Function::BoolList:
      return typedList(arguments, "List[bool]", PickleKind::Bool);
    case Function::TensorList:
      return typedList(arguments, "List[Tensor]", PickleKind::Tensor);
    case Function::RestoreTypeTag:
      return restoreTypeTag(arguments);
    case Function::Device:
      return device(elements);
    case Function::Complex:
      return complexNumber(elements);
    case Function::Unknown:
      break;
    }
    return bad("calls `" + name.str() + "`, which is no function");
  };
  STATOR_TRY(value, call());
  push(value);
  return Status();
}

} // namespace stator::torch
