//===- KernelBuilder.cpp - function, sizes and control flow of a kernel ----===//
//
// The frame of a kernel: entry, sizes, loops and the split over workers. Index
// arithmetic is in KernelBuilderArithmetic.cpp, memory and register operations
// in KernelBuilderMemory.cpp.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/KernelBuilder.h"

#include "dialects/Graph/Shapes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/APFloat.h"

using namespace mlir;

namespace stator::kernel {

KernelBuilder::InPrologue::InPrologue(KernelBuilder &builder) : builder(builder), saved(builder.saveInsertionPoint()) {
  if (builder.lastOfPrologue)
    builder.setInsertionPointAfter(builder.lastOfPrologue);
  else
    builder.setInsertionPointToStart(&builder.function.getBody().front());
}

KernelBuilder::InPrologue::~InPrologue() {
  Block::iterator point = builder.getInsertionPoint();
  if (point != builder.getInsertionBlock()->begin())
    builder.lastOfPrologue = &*std::prev(point);
  builder.restoreInsertionPoint(saved);
}

KernelBuilder::KernelBuilder(func::FuncOp source, const KernelOptions &options)
    : ImplicitLocOpBuilder(source.getLoc(), source), kernelOptions(options), source(source), numOperands(source.getNumArguments()) {
  Type pointer = LLVM::LLVMPointerType::get(getContext());
  function = func::FuncOp::create(*this, source.getName(), getFunctionType({pointer, pointer}, {}));
  for (NamedAttribute attribute : source->getDiscardableAttrs())
    function->setDiscardableAttr(attribute.getName(), attribute.getValue());
  Block *entry = function.addEntryBlock();
  setInsertionPointToStart(entry);

  // Pointers and integers of the argument record: { buffers, sizes }.
  auto loadPointer = [&](Value base, int64_t bytes) -> Value {
    Value place = bytes == 0 ? base : LLVM::GEPOp::create(*this, pointer, getI8Type(), base, ArrayRef<LLVM::GEPArg>{int32_t(bytes)});
    return LLVM::LoadOp::create(*this, pointer, place, /*alignment=*/8);
  };
  Value buffersBase = loadPointer(entry->getArgument(0), 0);
  sizesBase = loadPointer(entry->getArgument(0), 8);
  for (unsigned i = 0, e = numOperands + source.getNumResults(); i != e; ++i)
    buffers.push_back(loadPointer(buffersBase, 8 * i));
  for (auto [i, base] : llvm::enumerate(buffers))
    if (std::optional<graph::Pitch> pitch = graph::pitchOfBuffer(source, i))
      pitches[base] = *pitch;
  if (!entry->empty())
    lastOfPrologue = &entry->back();
}

func::FuncOp KernelBuilder::finish() {
  setInsertionPointToEnd(&function.getBody().front());
  func::ReturnOp::create(*this);
  if (!scratchBytes.isConstant(0))
    function->setDiscardableAttr("stator.scratch", getStringAttr(scratchBytes.str()));
  source.erase();
  return function;
}

KernelBuilder::Value KernelBuilder::buffer(unsigned index) { return buffers[index]; }

/// Floor division, whose operands may be negative while an expression is being evaluated; the divisor is positive.
static Value floorDivide(ImplicitLocOpBuilder &b, Value a, Value d, Value zero, Value one) {
  Value quotient = arith::DivSIOp::create(b, a, d);
  Value remainder = arith::RemSIOp::create(b, a, d);
  Value isNegative = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, remainder, zero);
  Value lower = arith::SubIOp::create(b, quotient, one);
  return arith::SelectOp::create(b, isNegative, lower, quotient);
}

Value KernelBuilder::emitPostfix(ArrayRef<int64_t> code) {
  SmallVector<Value> stack;
  for (size_t i = 0; i < code.size(); ++i) {
    auto opcode = static_cast<DimOpcode>(code[i]);
    if (opcode == DimOpcode::Const) {
      stack.push_back(i64(code[++i]));
      continue;
    }
    if (opcode == DimOpcode::Symbol) {
      int64_t index = code[++i];
      Value &symbol = symbols[index];
      if (!symbol) {
        Value place = LLVM::GEPOp::create(*this, LLVM::LLVMPointerType::get(getContext()), getI64Type(), sizesBase,
                                          ArrayRef<LLVM::GEPArg>{int32_t(index)});
        symbols[index] = LLVM::LoadOp::create(*this, getI64Type(), place, /*alignment=*/8);
      }
      stack.push_back(symbols[index]);
      continue;
    }
    Value b = stack.pop_back_val(), a = stack.pop_back_val();
    switch (opcode) {
    case DimOpcode::Add:
      stack.push_back(add(a, b));
      break;
    case DimOpcode::Sub:
      stack.push_back(sub(a, b));
      break;
    case DimOpcode::Mul:
      stack.push_back(mul(a, b));
      break;
    case DimOpcode::FloorDiv:
      stack.push_back(floorDivide(*this, a, b, i64(0), i64(1)));
      break;
    case DimOpcode::CeilDiv: // ceil(a / b) = -floor(-a / b)
      stack.push_back(sub(i64(0), floorDivide(*this, sub(i64(0), a), b, i64(0), i64(1))));
      break;
    case DimOpcode::Mod:
      stack.push_back(sub(a, mul(b, floorDivide(*this, a, b, i64(0), i64(1)))));
      break;
    case DimOpcode::Min:
      stack.push_back(min(a, b));
      break;
    case DimOpcode::Max:
      stack.push_back(max(a, b));
      break;
    case DimOpcode::Const:
    case DimOpcode::Symbol:
      break; // Handled above.
    }
  }
  return stack.back();
}

Value KernelBuilder::size(const DimExpr &expression) {
  if (auto constant = expression.constant())
    return i64(*constant);
  Value &known = sizeOf[expression.str()];
  if (known)
    return known;
  std::map<std::string, uint32_t> indices;
  for (const std::string &name : expression.symbols()) {
    unsigned index = 0;
    bool isLocal = StringRef(name).starts_with("s") && !StringRef(name).drop_front().getAsInteger(10, index);
    assert(isLocal && "kernels only know the local symbols s0, s1, ...");
    (void)isLocal;
    indices[name] = index;
  }
  Result<std::vector<int64_t>> code = compile(expression, indices);
  InPrologue guard(*this);
  return known = emitPostfix(code.value());
}

KernelBuilder::Values KernelBuilder::sizes(RankedTensorType type) {
  Values result;
  for (const DimExpr &dim : graph::dimsOf(type))
    result.push_back(size(dim));
  return result;
}

KernelBuilder::Values KernelBuilder::strides(RankedTensorType type) {
  SmallVector<DimExpr> dims = graph::dimsOf(type);
  Values result(dims.size());
  DimExpr stride = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    result[i] = size(stride);
    stride = stride * dims[i];
  }
  return result;
}

SmallVector<DimExpr> KernelBuilder::stridesOf(RankedTensorType type, Value base) const {
  auto found = pitches.find(base);
  return graph::stridesOf(graph::dimsOf(type), found == pitches.end() ? std::nullopt : std::optional(found->second));
}

/// Reads { i32 worker, i32 workers, ptr scratch, ptr barrier, ptr pool }.
static Value loadContext(KernelBuilder &b, Value context, Type type, int32_t byteOffset) {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value place = LLVM::GEPOp::create(b, pointer, b.getI8Type(), context, ArrayRef<LLVM::GEPArg>{byteOffset});
  return LLVM::LoadOp::create(b, type, place, /*alignment=*/type.isInteger(32) ? 4 : 8);
}

Value KernelBuilder::worker() {
  if (!workerIndex) {
    InPrologue guard(*this);
    workerIndex = arith::ExtUIOp::create(*this, getI64Type(), loadContext(*this, function.getArgument(1), getI32Type(), 0));
  }
  return workerIndex;
}

Value KernelBuilder::workers() {
  if (!workerCount) {
    InPrologue guard(*this);
    workerCount = arith::ExtUIOp::create(*this, getI64Type(), loadContext(*this, function.getArgument(1), getI32Type(), 4));
  }
  return workerCount;
}

Value KernelBuilder::scratch(const DimExpr &bytes) {
  Value offset = size(scratchBytes);
  scratchBytes = scratchBytes + bytes.ceilDiv(64) * 64;
  InPrologue guard(*this);
  Type pointer = LLVM::LLVMPointerType::get(getContext());
  if (!scratchBase)
    scratchBase = loadContext(*this, function.getArgument(1), pointer, 8);
  return LLVM::GEPOp::create(*this, pointer, getI8Type(), scratchBase, ArrayRef<LLVM::GEPArg>{offset});
}

void KernelBuilder::barrier() {
  Type pointer = LLVM::LLVMPointerType::get(getContext());
  Value context = function.getArgument(1);
  Value callee = loadContext(*this, context, pointer, 16);
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(getContext()), {pointer});
  LLVM::CallOp::create(*this, type, ValueRange{callee, context});
}

//===----------------------------------------------------------------------===//
// Control
//===----------------------------------------------------------------------===//

void KernelBuilder::loop(Value begin, Value end, Value step, llvm::function_ref<void(Value)> body) {
  loop(begin, end, step, {}, [&](Value index, ValueRange) -> Values {
    body(index);
    return {};
  });
}

KernelBuilder::Values KernelBuilder::loop(Value begin, Value end, Value step, ValueRange initial,
                                          llvm::function_ref<Values(Value, ValueRange)> body) {
  auto loop = scf::ForOp::create(*this, begin, end, step, initial);
  {
    OpBuilder::InsertionGuard guard(*this);
    Block *block = loop.getBody();
    if (block->mightHaveTerminator())
      block->back().erase();
    setInsertionPointToEnd(block);
    Values next = body(loop.getInductionVar(), loop.getRegionIterArgs());
    scf::YieldOp::create(*this, next);
  }
  return Values(loop.getResults());
}

KernelBuilder::Values KernelBuilder::whileLoop(ValueRange initial, llvm::function_ref<Value(ValueRange)> condition,
                                               llvm::function_ref<Values(ValueRange)> body) {
  auto loop = scf::WhileOp::create(*this, initial.getTypes(), initial);
  OpBuilder::InsertionGuard guard(*this);
  SmallVector<Location> locations(initial.size(), getLoc());
  Block *before = createBlock(&loop.getBefore(), {}, initial.getTypes(), locations);
  Value holds = condition(before->getArguments());
  scf::ConditionOp::create(*this, holds, before->getArguments());
  Block *after = createBlock(&loop.getAfter(), {}, initial.getTypes(), locations);
  Values next = body(after->getArguments());
  scf::YieldOp::create(*this, next);
  return Values(loop.getResults());
}

void KernelBuilder::when(Value condition, llvm::function_ref<void()> then) {
  auto branch = scf::IfOp::create(*this, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(branch.thenBlock());
  then();
}

void KernelBuilder::ifElse(Value condition, llvm::function_ref<void()> then, llvm::function_ref<void()> otherwise) {
  auto branch = scf::IfOp::create(*this, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(branch.thenBlock());
  then();
  setInsertionPointToStart(branch.elseBlock());
  otherwise();
}

KernelBuilder::Values KernelBuilder::ifElse(Value condition, TypeRange types, llvm::function_ref<Values()> then,
                                            llvm::function_ref<Values()> otherwise) {
  auto branch = scf::IfOp::create(*this, types, condition, /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(branch.thenBlock());
  Values thenValues = then();
  scf::YieldOp::create(*this, thenValues);
  setInsertionPointToStart(branch.elseBlock());
  Values elseValues = otherwise();
  scf::YieldOp::create(*this, elseValues);
  return Values(branch.getResults());
}

void KernelBuilder::requireForWork(Value condition) {
  workCondition = workCondition ? arith::AndIOp::create(*this, workCondition, condition).getResult() : condition;
}

KernelBuilder::Range KernelBuilder::split(Value count, int64_t granule) {
  if (workCondition)
    count = select(workCondition, count, i64(0));
  Value chunks = ceilDiv(count, i64(granule));
  Value begin = div(mul(chunks, worker()), workers());
  Value end = div(mul(chunks, add(worker(), i64(1))), workers());
  if (granule == 1)
    return {begin, end};
  return {mul(begin, i64(granule)), min(count, mul(end, i64(granule)))};
}

void KernelBuilder::parallel(ArrayRef<Value> sizes, llvm::function_ref<void(ArrayRef<Value>)> body) {
  walk(split(product(sizes)), sizes, body);
}

void KernelBuilder::walk(Range range, ArrayRef<Value> sizes, llvm::function_ref<void(ArrayRef<Value>)> body) {
  // Dims of one element have no index; the rest is walked like an odometer, so that there is one division per dim and worker.
  SmallVector<unsigned> moving;
  for (auto [i, size] : llvm::enumerate(sizes))
    if (size != i64(1))
      moving.push_back(i);
  Values indices(sizes.size(), i64(0));
  if (moving.size() <= 1) {
    loop(range.begin, range.end, i64(1), [&](Value index) {
      if (!moving.empty())
        indices[moving.front()] = index;
      body(indices);
    });
    return;
  }
  when(less(range.begin, range.end), [&] {
    Values first(moving.size());
    Value rest = range.begin;
    for (size_t i = moving.size(); i-- > 1;) {
      first[i] = rem(rest, sizes[moving[i]]);
      rest = div(rest, sizes[moving[i]]);
    }
    first[0] = rest;
    loop(range.begin, range.end, i64(1), first, [&](Value, ValueRange carried) -> Values {
      for (auto [dim, value] : llvm::zip_equal(moving, carried))
        indices[dim] = value;
      body(indices);
      Values next(carried);
      Value carry = i64(1);
      for (size_t i = moving.size(); i-- > 1;) {
        Value raised = add(next[i], carry);
        Value isFull = compare(arith::CmpIPredicate::eq, raised, sizes[moving[i]]);
        next[i] = select(isFull, i64(0), raised);
        carry = select(isFull, i64(1), i64(0));
      }
      next[0] = add(next[0], carry);
      return next;
    });
  });
}

} // namespace stator::kernel
