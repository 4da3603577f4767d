//===- Build.cpp - a method on tensors becomes instructions over buffers ---===//
//
// The walk is simple because TensorPlacement has decided everything: each root
// is declared once, each operation becomes at most one instruction, and an
// operand that is not where its user wants it costs one copy.
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/Passes.h"
#include "passes/Plan/PitchedKernels.h"
#include "passes/Plan/TensorPlacement.h"

#include "dialects/Graph/ParameterStore.h"
#include "dialects/Graph/Shapes.h"
#include "dialects/Plan/Views.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cstring>
#include <map>

namespace stator::plan {
#define GEN_PASS_DEF_PLANBUILDPASS
#include "passes/Plan/Passes.h.inc"
} // namespace stator::plan

using namespace mlir;
using namespace stator;
using namespace stator::plan;

namespace {

RankedTensorType tensorType(Value value) { return cast<RankedTensorType>(value.getType()); }

/// The elements as the runtime stores them: little-endian, one byte per i1.
std::vector<std::byte> denseBytes(DenseElementsAttr elements) {
  auto type = cast<RankedTensorType>(elements.getType());
  size_t elementBytes = byteSize(graph::elementTypeOf(type.getElementType()));
  std::vector<std::byte> bytes(type.getNumElements() * elementBytes);
  std::byte *out = bytes.data();
  auto put = [&](const APInt &value) {
    uint64_t bits = value.getZExtValue();
    std::memcpy(out, &bits, elementBytes);
    out += elementBytes;
  };
  if (isa<FloatType>(type.getElementType()))
    for (const APFloat &value : elements.getValues<APFloat>())
      put(value.bitcastToAPInt());
  else
    for (const APInt &value : elements.getValues<APInt>())
      put(value);
  return bytes;
}

/// Moves what only computes the next value of a state from the old one to the end of the method, where nothing reads the old one any
/// more, so that the two can share bytes.
void sinkUpdates(func::FuncOp function) {
  Block &body = function.getBody().front();
  SmallVector<graph::SetParameterOp> sets = llvm::to_vector(body.getOps<graph::SetParameterOp>());
  for (graph::SetParameterOp set : sets) {
    auto call = set.getValue().getDefiningOp<CallOp>();
    if (!call || call->getBlock() != &body)
      continue;
    bool isUpdate = llvm::any_of(call.getInputs(), [&](Value input) {
      auto get = input.getDefiningOp<graph::GetParameterOp>();
      return get && get.getParameter() == set.getParameter();
    });
    bool isOnlyUpdate = llvm::all_of(call->getUsers(), [](Operation *user) { return isa<graph::SetParameterOp, func::ReturnOp>(user); });
    if (isUpdate && isOnlyUpdate)
      call->moveBefore(sets.front());
  }
}

/// Turns one function into one method.
class MethodBuilder {
public:
  MethodBuilder(func::FuncOp function, SymbolTable &symbols, PitchedKernels &pitched)
      : function(function), symbols(symbols), pitched(pitched), placement(function), builder(function.getContext()) {}

  FailureOr<MethodOp> build();
  int64_t numCopies = 0, numViews = 0;

private:
  Location loc() { return function.getLoc(); }

  void declareSignature();
  BufferOp declare(BufferKind kind, RankedTensorType type, std::optional<int64_t> index = {}, StringAttr name = {},
                   FlatSymbolRefAttr parameter = {});
  BufferOp declareRoot(Value root);
  BufferOp stateBuffer(StringRef parameter, RankedTensorType type);
  /// The buffer that holds `tensor`, with the type of `tensor`.
  Value bufferOf(Value tensor) { return bufferOfPart(tensor, tensorType(tensor), {}); }
  /// The part of `tensor` that has `type` and begins at `starts`.
  Value bufferOfPart(Value tensor, RankedTensorType type, ArrayRef<DimExpr> starts);
  Value viewOf(BufferOp base, const Placement &place, RankedTensorType type);
  SmallVector<Value> buffersOf(ValueRange tensors) {
    return llvm::map_to_vector(tensors, [&](Value tensor) { return bufferOf(tensor); });
  }

  LogicalResult emitBlock(Block &block);
  LogicalResult emit(Operation &op);
  void emitCopy(Location loc, Value source, Value destination, StringRef label);
  void emitConcat(graph::ConcatOp concat);
  void emitSlice(graph::SliceOp slice);
  LogicalResult emitIf(graph::IfOp op);
  LogicalResult emitWhile(graph::WhileOp op);
  void emitReturn(func::ReturnOp op);
  void emitSets();
  void emitCopies(ArrayRef<std::pair<Value, Value>> copies, StringRef label);
  FlatSymbolRefAttr makeParameter(graph::ConstantOp constant);

  func::FuncOp function;
  SymbolTable &symbols;
  PitchedKernels &pitched;
  TensorPlacement placement;
  OpBuilder builder;
  MethodOp method;
  Operation *lastDeclaration = nullptr;
  llvm::DenseMap<Value, BufferOp> rootBuffers;
  SmallVector<BufferOp> outputs;
  llvm::StringMap<BufferOp> writtenStates;
  SmallVector<graph::SetParameterOp> sets;
  /// Only looked up: nothing depends on the order of addresses.
  std::map<std::tuple<Operation *, std::string, const void *, int64_t, int64_t>, Value> views;
};

} // namespace

BufferOp MethodBuilder::declare(BufferKind kind, RankedTensorType type, std::optional<int64_t> index, StringAttr name,
                                FlatSymbolRefAttr parameter) {
  OpBuilder::InsertionGuard guard(builder);
  if (lastDeclaration)
    builder.setInsertionPointAfter(lastDeclaration);
  else
    builder.setInsertionPointToStart(&method.getBody().front());
  auto buffer = BufferOp::create(builder, loc(), BufferType::get(builder.getContext()), BufferKindAttr::get(builder.getContext(), kind),
                                 index ? builder.getI64IntegerAttr(*index) : nullptr, name, parameter, TypeAttr::get(type),
                                 /*offset=*/nullptr);
  lastDeclaration = buffer;
  return buffer;
}

void MethodBuilder::declareSignature() {
  auto nameOf = [&](Attribute given, StringRef prefix, size_t index) {
    auto name = dyn_cast_or_null<StringAttr>(given);
    return name ? name : builder.getStringAttr(prefix + "_" + Twine(index));
  };
  for (BlockArgument argument : function.getArguments()) {
    unsigned index = argument.getArgNumber();
    StringAttr name = nameOf(function.getArgAttr(index, graph::kNameAttr), "input", index);
    rootBuffers[argument] = declare(BufferKind::input, tensorType(argument), index, name);
  }
  for (auto [index, type] : llvm::enumerate(function.getResultTypes())) {
    StringAttr name = nameOf(function.getResultAttr(index, graph::kNameAttr), "output", index);
    outputs.push_back(declare(BufferKind::output, cast<RankedTensorType>(type), index, name));
  }
}

FlatSymbolRefAttr MethodBuilder::makeParameter(graph::ConstantOp constant) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(function);
  int source = graph::parametersOf(builder.getContext()).addOwned(denseBytes(cast<DenseElementsAttr>(constant.getValue())));
  auto parameter =
      graph::ParameterOp::create(builder, constant.getLoc(), "constant", tensorType(constant.getResult()), source, /*offset=*/0);
  symbols.insert(parameter); // Makes the name unique.
  return FlatSymbolRefAttr::get(parameter.getSymNameAttr());
}

/// The buffer of a state, whether or not the method reads it.
BufferOp MethodBuilder::stateBuffer(StringRef parameter, RankedTensorType type) {
  if (Value root = placement.rootOfParameter(parameter))
    return declareRoot(root);
  BufferOp &buffer = writtenStates[parameter];
  if (!buffer)
    buffer = declare(BufferKind::state, type, {}, {}, FlatSymbolRefAttr::get(builder.getContext(), parameter));
  return buffer;
}

BufferOp MethodBuilder::declareRoot(Value root) {
  BufferOp &buffer = rootBuffers[root];
  if (buffer)
    return buffer;
  if (int64_t output = placement.outputOf(root); output >= 0)
    return buffer = outputs[output];
  if (StringRef state = placement.stateOf(root); !state.empty())
    return buffer = stateBuffer(state, tensorType(root));
  if (auto get = root.getDefiningOp<graph::GetParameterOp>()) {
    auto parameter = symbols.lookup<graph::ParameterOp>(get.getParameter());
    bool isState = parameter && parameter.getIsMutable();
    return buffer = declare(isState ? BufferKind::state : BufferKind::parameter, tensorType(root), {}, {},
                            FlatSymbolRefAttr::get(builder.getContext(), get.getParameter()));
  }
  if (auto constant = root.getDefiningOp<graph::ConstantOp>())
    return buffer = declare(BufferKind::parameter, tensorType(root), {}, {}, makeParameter(constant));
  return buffer = declare(BufferKind::arena, tensorType(root));
}

Value MethodBuilder::viewOf(BufferOp base, const Placement &place, RankedTensorType type) {
  if (place.offset == DimExpr(0) && type == base.getTensorType() && !place.pitch)
    return base;
  graph::Pitch pitch = place.pitch.value_or(graph::Pitch{0, 0});
  Value &view = views[{base, place.offset.str(), type.getAsOpaquePointer(), pitch.row, pitch.distance}];
  if (!view) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfter(lastDeclaration);
    auto op = ViewOp::create(builder, loc(), BufferType::get(builder.getContext()), base, exprAttr(builder.getContext(), place.offset),
                             TypeAttr::get(type), place.pitch ? builder.getDenseI64ArrayAttr({pitch.row, pitch.distance}) : nullptr);
    lastDeclaration = op;
    view = op;
    ++numViews;
  }
  return view;
}

Value MethodBuilder::bufferOfPart(Value tensor, RankedTensorType type, ArrayRef<DimExpr> starts) {
  Placement place = *placement.placementOfPart(tensor, graph::dimsOf(type), starts);
  return viewOf(declareRoot(place.root), place, type);
}

void MethodBuilder::emitCopy(Location loc, Value source, Value destination, StringRef label) {
  if (pitchOf(source) || pitchOf(destination))
    pitched.copy(builder, loc, function, source, destination, label);
  else
    CopyOp::create(builder, loc, source, destination, builder.getStringAttr(label));
  ++numCopies;
}

void MethodBuilder::emitConcat(graph::ConcatOp concat) {
  auto isThere = [&](OpOperand &operand) { return placement.isInPlace(operand); };
  if (!isContiguousConcat(concat) && llvm::none_of(concat->getOpOperands(), isThere)) {
    // One kernel instead of one for each part, if it can read all of them where they lie.
    SmallVector<Value> parts = buffersOf(concat.getInputs());
    Value whole = bufferOf(concat.getResult());
    DimExpr inner(1);
    SmallVector<DimExpr> dims = graph::dimsOf(tensorType(concat.getResult()));
    for (const DimExpr &dim : ArrayRef<DimExpr>(dims).drop_front(concat.getAxis() + 1))
      inner *= dim;
    bool isReadable = llvm::all_of(parts, [&](Value part) {
      std::optional<graph::Pitch> pitch = pitchOf(part);
      return !pitch || (inner * graph::dimOf(tensorTypeOf(part), concat.getAxis())).isConstant(pitch->row);
    });
    if (isReadable && !pitchOf(whole)) {
      pitched.copy(builder, concat.getLoc(), function, parts, whole, "concat", concat);
      numCopies += parts.size();
      return;
    }
  }
  SmallVector<DimExpr> starts(tensorType(concat.getResult()).getRank(), DimExpr(0));
  for (OpOperand &operand : concat->getOpOperands()) {
    RankedTensorType type = tensorType(operand.get());
    if (!isThere(operand))
      emitCopy(concat.getLoc(), bufferOf(operand.get()), bufferOfPart(concat.getResult(), type, starts), "concat");
    starts[concat.getAxis()] += graph::dimOf(type, concat.getAxis());
  }
}

/// A slice whose readers want it dense.
void MethodBuilder::emitSlice(graph::SliceOp slice) {
  if (placement.isInside(slice.getResult()))
    return;
  Value part = bufferOfPart(slice.getInput(), tensorType(slice.getResult()), slice.getStarts().dims());
  emitCopy(slice.getLoc(), part, bufferOf(slice.getResult()), "slice");
}

LogicalResult MethodBuilder::emitIf(graph::IfOp op) {
  auto planIf = IfOp::create(builder, op.getLoc(), bufferOf(op->getOperand(0)));
  for (auto [from, to] : llvm::zip(op->getRegions(), planIf->getRegions())) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&to.emplaceBlock());
    if (failed(emitBlock(from.front())))
      return failure();
    for (OpOperand &operand : from.front().getTerminator()->getOpOperands())
      if (Value result = op->getResult(operand.getOperandNumber()); !placement.isSamePlace(operand.get(), result))
        emitCopy(op.getLoc(), bufferOf(operand.get()), bufferOf(result), "if");
  }
  return success();
}

LogicalResult MethodBuilder::emitWhile(graph::WhileOp op) {
  for (auto [init, result] : llvm::zip(op->getOperands(), op->getResults()))
    if (!placement.isSamePlace(init, result))
      emitCopy(op.getLoc(), bufferOf(init), bufferOf(result), "while");
  Block &before = op->getRegion(0).front(), &body = op->getRegion(1).front();
  auto loop = LoopOp::create(builder, op.getLoc(), bufferOf(before.getTerminator()->getOperand(0)));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&loop.getBefore().emplaceBlock());
  if (failed(emitBlock(before)))
    return failure();
  builder.setInsertionPointToStart(&loop.getBody().emplaceBlock());
  if (failed(emitBlock(body)))
    return failure();

  SmallVector<std::pair<Value, Value>> copies;
  for (auto [next, result] : llvm::zip(body.getTerminator()->getOperands(), op->getResults()))
    if (!placement.isSamePlace(next, result))
      copies.push_back({bufferOf(next), bufferOf(result)});
  emitCopies(copies, "while");
  return success();
}

/// Copies that belong to one moment: all sources are read before any destination is overwritten. What lies in one of the destinations
/// (a swap) is set aside first.
void MethodBuilder::emitCopies(ArrayRef<std::pair<Value, Value>> copies, StringRef label) {
  auto declarationOf = [](Value buffer) { return resolveBuffer(buffer).declaration; };
  SmallVector<std::pair<Value, Value>> last;
  for (auto [source, destination] : copies) {
    bool isOverwritten =
        llvm::any_of(copies, [&, source = source](auto copy) { return declarationOf(copy.second) == declarationOf(source); });
    if (isOverwritten) {
      Value aside = declare(BufferKind::arena, tensorTypeOf(source));
      emitCopy(loc(), source, aside, label);
      source = aside;
    }
    last.push_back({source, destination});
  }
  for (auto [source, destination] : last)
    emitCopy(loc(), source, destination, label);
}

void MethodBuilder::emitReturn(func::ReturnOp op) {
  for (OpOperand &operand : op->getOpOperands())
    if (!placement.isInPlace(operand))
      emitCopy(op.getLoc(), bufferOf(operand.get()), outputs[operand.getOperandNumber()], "output");
  emitSets();
}

/// States change behind everything that reads what they were at entry, outputs included.
void MethodBuilder::emitSets() {
  SmallVector<std::pair<Value, Value>> copies;
  for (graph::SetParameterOp set : sets) {
    Value root = placement.rootOfParameter(set.getParameter());
    if (placement.isInPlace(set.getValueMutable()) || (root && placement.isSamePlace(set.getValue(), root)))
      continue;
    copies.push_back({bufferOf(set.getValue()), stateBuffer(set.getParameter(), tensorType(set.getValue()))});
  }
  emitCopies(copies, "state");
}

LogicalResult MethodBuilder::emit(Operation &op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(&op)
      .Case<CallOp>([&](CallOp call) {
        SmallVector<Value> inputs = buffersOf(call.getInputs()), results = buffersOf(call.getResults());
        KernelOp::create(builder, op.getLoc(), pitched.variantOf(call.getKernel(), inputs, results), inputs, results, call.getSizes(),
                         call.getFamilyAttr(), call.getLabelAttr(), call.getReasonAttr(), call.getInPlaceAttr());
        return success();
      })
      .Case<LibraryCallOp>([&](LibraryCallOp call) {
        LibraryOp::create(builder, op.getLoc(), call.getLibraryAttr(), call.getRoutineAttr(), buffersOf(call.getInputs()),
                          buffersOf(call.getResults()), call.getOptions(), call.getSizes(), call.getFamilyAttr(), call.getLabelAttr(),
                          call.getReasonAttr());
        return success();
      })
      .Case<graph::DimValuesOp>([&](graph::DimValuesOp values) {
        ShapeOp::create(builder, op.getLoc(), bufferOf(values.getResult()), values.getValues(), nullptr);
        return success();
      })
      .Case<graph::IfOp>([&](graph::IfOp ifOp) { return emitIf(ifOp); })
      .Case<graph::WhileOp>([&](graph::WhileOp loop) { return emitWhile(loop); })
      .Case<graph::SetParameterOp>([&](graph::SetParameterOp set) { return sets.push_back(set), success(); })
      .Case<func::ReturnOp>([&](func::ReturnOp result) { return emitReturn(result), success(); })
      .Case<graph::GetParameterOp, graph::ConstantOp, graph::YieldOp>([](auto) { return success(); })
      .Default([&](Operation *other) -> LogicalResult {
        if (!isView(other))
          return other->emitOpError("is neither in a fusion nor a view of contiguous bytes");
        if (auto concat = dyn_cast<graph::ConcatOp>(other))
          emitConcat(concat);
        if (auto slice = dyn_cast<graph::SliceOp>(other))
          emitSlice(slice);
        return success();
      });
}

LogicalResult MethodBuilder::emitBlock(Block &block) {
  for (Operation &op : block)
    if (failed(emit(op)))
      return failure();
  return success();
}

FailureOr<MethodOp> MethodBuilder::build() {
  builder.setInsertionPoint(function);
  method = MethodOp::create(builder, loc(), function.getName());
  if (auto attr = function->getAttrOfType<ArrayAttr>(graph::kSymbolsAttr))
    method.setSymbolsAttr(attr);
  if (auto attr = function->getAttrOfType<ArrayAttr>(graph::kGuardsAttr))
    method.setGuardsAttr(attr);
  declareSignature();
  builder.setInsertionPointToEnd(&method.getBody().front());
  if (failed(emitBlock(function.getBody().front()))) {
    method.erase();
    return failure();
  }
  return method;
}

namespace {

class Build : public plan::impl::PlanBuildPassBase<Build> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    PitchedKernels pitched(module);
    for (auto function : llvm::to_vector(module.getOps<func::FuncOp>())) {
      sinkUpdates(function);
      MethodBuilder builder(function, symbols, pitched);
      FailureOr<MethodOp> method = builder.build();
      if (failed(method))
        return signalPassFailure();
      // The method takes the function's name, which two symbols cannot share even for a moment in the table.
      symbols.erase(function);
      symbols.insert(*method);
      numCopies += builder.numCopies;
      numViews += builder.numViews;
    }
    pitched.eraseUnused();
  }
};

} // namespace
