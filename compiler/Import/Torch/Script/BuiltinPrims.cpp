//===- BuiltinPrims.cpp - what is asked of tensors and of the system ---------===//
//
// The answers to questions about the system are those of a compiled model: it
// runs on one CPU, in evaluation, with nothing recorded. Only the question
// whether gradients are wanted is answered with yes: scripted transformers then
// take their general path, which computes the same as the fast one and also does
// without nested tensors.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/Torch/Aten/OpCall.h"
#include "compiler/Import/Torch/Aten/ScalarTypes.h"
#include "compiler/Import/Torch/Script/Builtins.h"

namespace stator::torch::script {

namespace {

bool isTensorCall(BuiltinCall &call) { return call.size() >= 1 && call[0].isTensor(); }

template <bool answer>
std::optional<Value> constantly(BuiltinCall &) {
  return Value::boolean(answer);
}
std::optional<Value> nothing(BuiltinCall &) { return Value::none(); }
std::optional<Value> same(BuiltinCall &call) { return call.size() >= 1 ? std::optional(call[0]) : std::nullopt; }

std::optional<Value> raiseException(BuiltinCall &call) {
  std::string message = call.size() ? textOf(call[0]) : std::string();
  if (call.size() > 1 && call[1].isString()) {
    llvm::StringRef type = call[1].asString();
    message = type.rsplit('.').second.str() + ": " + message;
  }
  return call.evaluator.raise(message);
}

std::optional<Value> numToTensor(BuiltinCall &call) {
  if (call.size() != 1 || call[0].isTensor())
    return call.size() == 1 ? std::optional(call[0]) : std::nullopt;
  if (!call[0].isScalar())
    return std::nullopt;
  Context &context = call.evaluator.tensors();
  return Value::tensor(context.make(context.scalarTensor(call[0])));
}

std::optional<Value> dtype(BuiltinCall &call) {
  if (!isTensorCall(call))
    return std::nullopt;
  return Value::integer(scalarTypeOf(call[0].asTensor()->type()));
}
std::optional<Value> device(BuiltinCall &call) {
  if (!isTensorCall(call))
    return std::nullopt;
  return Value(DeviceValue{"cpu"});
}
/// torch.device("cuda:0"): everything is on the CPU.
std::optional<Value> makeDevice(BuiltinCall &call) {
  if (call.size() < 1 || !call[0].isString())
    return std::nullopt;
  return Value(DeviceValue{"cpu"});
}
std::optional<Value> type(BuiltinCall &call) {
  if (call.size() == 1 && call[0].isDevice())
    return Value::string(call[0].asDevice().name);
  return std::nullopt;
}
std::optional<Value> deviceIndex(BuiltinCall &call) {
  return call.size() == 1 && call[0].isDevice() ? std::optional(Value::none()) : std::nullopt;
}
std::optional<Value> layout(BuiltinCall &call) { return isTensorCall(call) ? std::optional(Value::integer(0)) : std::nullopt; }
std::optional<Value> lateSize(BuiltinCall &call);
std::optional<Value> shape(BuiltinCall &call) {
  if (!isTensorCall(call))
    return std::nullopt;
  if (std::optional<Value> late = lateSize(call))
    return late;
  Values sizes;
  for (const trace::Dim &dim : call.evaluator.tensors().dims(call[0].asTensor()))
    sizes.push_back(Value::integer(dim));
  return Value::list(std::move(sizes));
}
std::optional<Value> rank(BuiltinCall &call) {
  return isTensorCall(call) ? std::optional(Value::integer(call[0].asTensor()->rank())) : std::nullopt;
}
std::optional<Value> itemSize(BuiltinCall &call) {
  return isTensorCall(call) ? std::optional(Value::integer(int64_t(byteSize(call[0].asTensor()->type())))) : std::nullopt;
}
std::optional<Value> data(BuiltinCall &call) {
  return isTensorCall(call) ? std::optional(Value::tensor(call.evaluator.tensors().alias(call[0].asTensor()))) : std::nullopt;
}
std::optional<Value> requiresGrad(BuiltinCall &call) {
  return isTensorCall(call) ? std::optional(Value::boolean(call.evaluator.module().requiresGrad(call[0].asTensor()))) : std::nullopt;
}
std::optional<Value> isFloatingPoint(BuiltinCall &call) {
  return isTensorCall(call) ? std::optional(Value::boolean(isFloatType(call[0].asTensor()->type()))) : std::nullopt;
}
std::optional<Value> isSigned(BuiltinCall &call) {
  if (!isTensorCall(call))
    return std::nullopt;
  ElementType type = call[0].asTensor()->type();
  return Value::boolean(type != ElementType::U8 && type != ElementType::I1);
}
std::optional<Value> setGradEnabled(BuiltinCall &call) {
  if (call.size() == 1 && call[0].knownBool())
    call.evaluator.isGradEnabled = *call[0].knownBool();
  return Value::none();
}
std::optional<Value> isGradEnabled(BuiltinCall &call) { return Value::boolean(call.evaluator.isGradEnabled); }
std::optional<Value> requiresGradMethod(BuiltinCall &call) { return same(call); }

std::optional<Value> warnOp(BuiltinCall &call) {
  if (call.size() && call[0].isString())
    call.evaluator.warn("the model warns: " + shownText(call[0].asString()));
  return Value::none();
}

/// x.tolist(): nested lists of the elements, whose number must be known.
Value listOf(BuiltinCall &call, const trace::Tensor &tensor, int64_t &budget) {
  if (tensor.rank() == 0)
    return --budget < 0 ? Value::poison() : itemOf(call.evaluator, tensor);
  trace::Dim size = tensor.dim(0);
  if (!size.isConstant())
    return call.evaluator.unsupported("tolist() of a tensor whose size is known only when the model runs");
  Values items;
  for (int64_t i = 0; i < size.constant() && budget > 0; ++i) {
    trace::Tensor part = trace::fn::squeeze(trace::fn::slice(tensor, {trace::Dim(i)}, {trace::Dim(i + 1)}, {0}), {0});
    items.push_back(listOf(call, part, budget));
  }
  return Value::list(std::move(items));
}
std::optional<Value> toList(BuiltinCall &call) {
  if (!isTensorCall(call))
    return std::nullopt;
  int64_t budget = 4096;
  Value made = listOf(call, call.evaluator.tensors().read(call[0].asTensor()), budget);
  if (budget <= 0)
    return call.evaluator.unsupported("tolist() of more than 4095 elements is not supported");
  return made;
}

/// Sizes of a tensor that may still be empty: numbers that depend on that.
Value sizeUnlessEmpty(BuiltinCall &call, const Value &isEmpty, int64_t size) {
  trace::Builder &builder = call.evaluator.tensors().builder();
  return itemOf(call.evaluator,
                trace::fn::where(isEmpty.asBool().data, builder.scalarInt(ElementType::I64, 0), builder.scalarInt(ElementType::I64, size)));
}
std::optional<Value> lateLength(BuiltinCall &call) {
  const Value *isEmpty = isTensorCall(call) ? call.evaluator.module().isStillEmpty(call[0].asTensor()) : nullptr;
  if (!isEmpty || call.size() != 1)
    return std::nullopt;
  trace::Dims dims = call.evaluator.tensors().dims(call[0].asTensor());
  int64_t count = 1;
  for (const trace::Dim &dim : dims)
    count *= dim.constant();
  return sizeUnlessEmpty(call, *isEmpty, call.name == "numel" ? count : dims.empty() ? 1 : dims[0].constant());
}
/// size(x, 0) and size(x) of such a tensor; the further axes are those of its later shape.
std::optional<Value> lateSize(BuiltinCall &call) {
  const Value *isEmpty = isTensorCall(call) ? call.evaluator.module().isStillEmpty(call[0].asTensor()) : nullptr;
  if (!isEmpty)
    return std::nullopt;
  trace::Dims dims = call.evaluator.tensors().dims(call[0].asTensor());
  Values sizes;
  for (const trace::Dim &dim : dims)
    sizes.push_back(sizes.empty() ? sizeUnlessEmpty(call, *isEmpty, dim.constant()) : Value::integer(dim));
  if (call.size() == 1)
    return Value::list(std::move(sizes));
  std::optional<int64_t> axis = call[1].knownInt();
  int64_t rank = int64_t(sizes.size());
  if (!axis || *axis < -rank || *axis >= rank)
    return std::nullopt;
  return sizes[size_t(*axis < 0 ? *axis + rank : *axis)];
}

std::optional<Value> rangeList(BuiltinCall &call) {
  std::optional<int64_t> count = call.size() == 1 ? call.integer(call[0], "the length") : std::nullopt;
  if (!count)
    return Value::poison();
  if (*count > (1 << 20))
    return call.evaluator.fail(StatusCode::ResourceExhausted, "a list has more than a million elements");
  Values items;
  for (int64_t i = 0; i < *count; ++i)
    items.push_back(Value::integer(i));
  return Value::list(std::move(items));
}

} // namespace

llvm::ArrayRef<BuiltinEntry> primBuiltins() {
  static const BuiltinEntry entries[] = {
      {"prim.RaiseException", raiseException, true},
      {"prim.NumToTensor", numToTensor},
      {"prim.dtype", dtype},
      {"prim.device", device},
      {"device", makeDevice},
      {"prim.type", type},
      {"prim.index", deviceIndex},
      {"prim.layout", layout},
      {"prim.shape", shape},
      {"numel", lateLength},
      {"size", lateSize},
      {"prim.ndim", rank},
      {"prim.itemsize", itemSize},
      {"prim.data", data},
      {"prim.grad", nothing},
      {"prim.name", nothing},
      {"prim.requires_grad", requiresGrad},
      {"prim.is_cuda", constantly<false>},
      {"prim.is_cpu", constantly<true>},
      {"prim.is_nested", constantly<false>},
      {"prim.is_sparse", constantly<false>},
      {"prim.is_sparse_csr", constantly<false>},
      {"prim.is_quantized", constantly<false>},
      {"prim.is_mkldnn", constantly<false>},
      {"prim.is_mps", constantly<false>},
      {"prim.is_meta", constantly<false>},
      {"prim.is_xla", constantly<false>},
      {"prim.is_xpu", constantly<false>},
      {"prim.is_hpu", constantly<false>},
      {"prim.is_ipu", constantly<false>},
      {"prim.is_vulkan", constantly<false>},
      {"prim.is_ort", constantly<false>},
      {"prim.is_maia", constantly<false>},
      {"prim.is_mtia", constantly<false>},
      {"prim.is_leaf", constantly<true>},
      {"is_leaf", constantly<true>},
      {"is_complex", constantly<false>},
      {"is_conj", constantly<false>},
      {"is_neg", constantly<false>},
      {"is_inference", constantly<true>},
      {"is_floating_point", isFloatingPoint},
      {"is_signed", isSigned},
      {"is_grad_enabled", isGradEnabled},
      {"set_grad_enabled", setGradEnabled},
      {"_set_grad_enabled", setGradEnabled},
      {"is_autocast_enabled", constantly<false>},
      {"is_autocast_cpu_enabled", constantly<false>},
      {"is_scripting", constantly<true>},
      {"_is_tracing", constantly<false>},
      {"is_tracing", constantly<false>},
      {"_get_tracing_state", constantly<false>},
      {"requires_grad_", requiresGradMethod},
      {"retain_grad", nothing},
      {"manual_seed", nothing},
      {"_assert", nothing},
      {"warn", warnOp},
      {"prim.Print", nothing, true},
      {"word.print", nothing, true},
      {"prim.tolist", toList},
      {"prim.rangelist", rangeList},
      {"prim.unchecked_unwrap_optional", same},
      {"_unwrap_optional", same},
      {"word.wait", same},
      {"wait", same},
      {"prim.AutogradAnyNonZero", constantly<false>},
  };
  return entries;
}

} // namespace stator::torch::script
