//===- KernelBuilderMemory.cpp - vector memory accesses of a kernel --------===//
//
// Loads and stores between storage and compute types. Half-precision values
// are converted by hardware where it exists and by integer arithmetic
// otherwise, because the backend would call a library function there. bf16 is
// always integer arithmetic: it is a shift, and LLVM's own expansion of the
// type is slow to compile.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel/KernelBuilder.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace stator::kernel {

Type KernelBuilder::computeType(Type storage) {
  if (storage.isF16() || storage.isBF16())
    return Float32Type::get(storage.getContext());
  if (storage.isUnsignedInteger())
    return IntegerType::get(storage.getContext(), storage.getIntOrFloatBitWidth());
  return storage;
}

Type KernelBuilder::laneType(Type type, unsigned lanes) { return lanes == 1 ? type : VectorType::get(lanes, type); }

unsigned KernelBuilder::lanesOf(Value value) {
  auto type = dyn_cast<VectorType>(value.getType());
  return type ? type.getNumElements() : 1;
}

Type KernelBuilder::elementType(Value value) { return getElementTypeOrSelf(value.getType()); }

int64_t KernelBuilder::byteSize(Type storage) { return (storage.getIntOrFloatBitWidth() + 7) / 8; }

Type KernelBuilder::memoryType(Type storage) {
  if (storage.isInteger(1))
    return getI8Type();
  if (storage.isBF16() || (storage.isF16() && !kernelOptions.hasHalfConversion()))
    return getI16Type();
  if (storage.isUnsignedInteger())
    return getIntegerType(storage.getIntOrFloatBitWidth());
  return storage;
}

Value KernelBuilder::address(Value base, Value index, Type storage) {
  return LLVM::GEPOp::create(*this, LLVM::LLVMPointerType::get(getContext()), memoryType(storage), base, ArrayRef<LLVM::GEPArg>{index});
}

Value KernelBuilder::load(Value base, Value index, Type storage, unsigned lanes, Value mask) {
  Type type = laneType(memoryType(storage), lanes);
  Value place = address(base, index, storage);
  unsigned alignment = byteSize(storage);
  if (mask && lanes > 1)
    return widen(LLVM::MaskedLoadOp::create(*this, type, place, mask, zero(type), alignment), storage);
  return widen(LLVM::LoadOp::create(*this, type, place, alignment), storage);
}

void KernelBuilder::store(Value value, Value base, Value index, Type storage, Value mask) {
  Value raw = narrow(value, storage);
  Value place = address(base, index, storage);
  unsigned alignment = byteSize(storage);
  if (mask && lanesOf(value) > 1)
    LLVM::MaskedStoreOp::create(*this, raw, place, mask, alignment);
  else
    LLVM::StoreOp::create(*this, raw, place, alignment);
}

void KernelBuilder::prefetch(Value base, Value bytes) {
  // For reading, into all levels of cache: fetched only into the second one, weights came later (0-3 % of a product).
  LLVM::Prefetch::create(*this, address(base, bytes, getI8Type()), /*rw=*/0, /*hint=*/3, /*cache=*/1);
}

/// Addresses of several elements.
static Value addresses(KernelBuilder &b, Value base, Value indices, Type memory) {
  unsigned lanes = KernelBuilder::lanesOf(indices);
  Type pointers = LLVM::getVectorType(LLVM::LLVMPointerType::get(b.getContext()), lanes);
  return LLVM::GEPOp::create(b, pointers, memory, base, ArrayRef<LLVM::GEPArg>{indices});
}

Value KernelBuilder::gather(Value base, Value indices, Type storage, Value mask) {
  unsigned lanes = lanesOf(indices);
  if (lanes == 1)
    return load(base, indices, storage);
  Type type = laneType(memoryType(storage), lanes);
  Value all = mask ? mask : integer(laneType(getI1Type(), lanes), 1);
  Value raw = LLVM::masked_gather::create(*this, type, addresses(*this, base, indices, memoryType(storage)), all, ValueRange{zero(type)},
                                          static_cast<uint32_t>(byteSize(storage)));
  return widen(raw, storage);
}

void KernelBuilder::scatter(Value value, Value base, Value indices, Type storage, Value mask) {
  unsigned lanes = lanesOf(indices);
  if (lanes == 1)
    return store(value, base, indices, storage);
  Value all = mask ? mask : integer(laneType(getI1Type(), lanes), 1);
  LLVM::masked_scatter::create(*this, narrow(value, storage), addresses(*this, base, indices, memoryType(storage)), all,
                               static_cast<uint32_t>(byteSize(storage)));
}

Value KernelBuilder::constantData(DenseElementsAttr data) {
  Type storage = data.getElementType(), memory = memoryType(storage);
  int64_t count = data.getNumElements();
  auto type = RankedTensorType::get({count}, memory);
  DenseElementsAttr flat;
  if (storage.isInteger(1)) {
    SmallVector<int8_t> bytes;
    for (bool bit : data.getValues<bool>())
      bytes.push_back(bit);
    flat = DenseElementsAttr::get(type, ArrayRef<int8_t>(bytes));
  } else if (data.isSplat()) {
    data = data.resizeSplat(RankedTensorType::get({count}, storage));
    flat = data.bitcast(memory);
  } else {
    flat = DenseElementsAttr::getFromRawBuffer(type, data.getRawData());
  }
  std::string name = (function.getName() + "_data" + Twine(numConstantData++)).str();
  {
    OpBuilder::InsertionGuard guard(*this);
    setInsertionPoint(function);
    LLVM::GlobalOp::create(*this, LLVM::LLVMArrayType::get(memory, count), /*isConstant=*/true, LLVM::Linkage::Private, name, flat,
                           /*alignment=*/64);
  }
  InPrologue guard(*this);
  return LLVM::AddressOfOp::create(*this, LLVM::LLVMPointerType::get(getContext()), name);
}

Value KernelBuilder::splat(Value scalar, unsigned lanes) {
  if (lanes == 1 || isa<VectorType>(scalar.getType()))
    return scalar;
  return vector::BroadcastOp::create(*this, VectorType::get(lanes, scalar.getType()), scalar);
}

Value KernelBuilder::maskBelow(Value remaining, unsigned lanes) {
  // Compared as i32: one register wide, which i64 lanes are not.
  Value clamped = max(min(remaining, i64(lanes)), i64(0));
  Value count = arith::TruncIOp::create(*this, getI32Type(), clamped);
  if (lanes == 1)
    return arith::CmpIOp::create(*this, arith::CmpIPredicate::sgt, count, zero(getI32Type()));
  SmallVector<int32_t> numbers;
  for (unsigned i = 0; i != lanes; ++i)
    numbers.push_back(i);
  auto type = VectorType::get(lanes, getI32Type());
  Value steps = constant(DenseElementsAttr::get(type, ArrayRef<int32_t>(numbers)));
  return arith::CmpIOp::create(*this, arith::CmpIPredicate::slt, steps, splat(count, lanes));
}

Value KernelBuilder::fma(Value a, Value b, Value c) { return math::FmaOp::create(*this, a, b, c); }

Value KernelBuilder::reduceLanes(Value vector, llvm::function_ref<Value(Value, Value)> combine) {
  unsigned lanes = lanesOf(vector);
  if (lanes == 1)
    return vector;
  for (unsigned half = lanes / 2; half > 0; half /= 2) {
    SmallVector<int64_t> low, high;
    for (unsigned i = 0; i != half; ++i) {
      low.push_back(i);
      high.push_back(half + i);
    }
    if (half == 1) {
      Value a = vector::ExtractOp::create(*this, vector, int64_t(0));
      Value b = vector::ExtractOp::create(*this, vector, int64_t(1));
      return combine(a, b);
    }
    Value a = vector::ShuffleOp::create(*this, vector, vector, low);
    Value b = vector::ShuffleOp::create(*this, vector, vector, high);
    vector = combine(a, b);
  }
  return vector;
}

//===----------------------------------------------------------------------===//
// Storage types
//===----------------------------------------------------------------------===//

Value KernelBuilder::widen(Value raw, Type storage) {
  unsigned lanes = lanesOf(raw);
  if (storage.isInteger(1))
    return arith::TruncIOp::create(*this, laneType(getI1Type(), lanes), raw);
  if (storage.isBF16()) {
    Type wide = laneType(getI32Type(), lanes);
    Value bits = arith::ShLIOp::create(*this, arith::ExtUIOp::create(*this, wide, raw), integer(wide, 16));
    return arith::BitcastOp::create(*this, laneType(getF32Type(), lanes), bits);
  }
  if (storage.isF16())
    return kernelOptions.hasHalfConversion() ? arith::ExtFOp::create(*this, laneType(getF32Type(), lanes), raw).getResult()
                                             : halfToFloat(raw);
  return raw;
}

Value KernelBuilder::narrow(Value value, Type storage) {
  unsigned lanes = lanesOf(value);
  if (storage.isInteger(1))
    return arith::ExtUIOp::create(*this, laneType(getI8Type(), lanes), value);
  if (storage.isBF16()) {
    // Round to nearest even by adding 0x7fff plus the bit that will be the last; a NaN becomes a quiet NaN instead.
    Type wide = laneType(getI32Type(), lanes);
    Value bits = arith::BitcastOp::create(*this, wide, value);
    Value high = arith::ShRUIOp::create(*this, bits, integer(wide, 16));
    Value odd = arith::AndIOp::create(*this, high, integer(wide, 1));
    Value bias = arith::AddIOp::create(*this, odd, integer(wide, 0x7fff));
    Value rounded = arith::ShRUIOp::create(*this, arith::AddIOp::create(*this, bits, bias), integer(wide, 16));
    Value quiet = arith::OrIOp::create(*this, high, integer(wide, 0x40));
    Value isNan = arith::CmpFOp::create(*this, arith::CmpFPredicate::UNO, value, value);
    return arith::TruncIOp::create(*this, laneType(getI16Type(), lanes), select(isNan, quiet, rounded));
  }
  if (storage.isF16())
    return kernelOptions.hasHalfConversion() ? arith::TruncFOp::create(*this, laneType(getF16Type(), lanes), value).getResult()
                                             : floatToHalf(value);
  return value;
}

Value KernelBuilder::halfToFloat(Value bits) {
  unsigned lanes = lanesOf(bits);
  Type wide = laneType(getI32Type(), lanes), real = laneType(getF32Type(), lanes);
  Value x = arith::ExtUIOp::create(*this, wide, bits);
  Value sign = arith::ShLIOp::create(*this, arith::AndIOp::create(*this, x, integer(wide, 0x8000)), integer(wide, 16));
  Value magnitude = arith::ShLIOp::create(*this, arith::AndIOp::create(*this, x, integer(wide, 0x7fff)), integer(wide, 13));
  // Multiplying by 2^112 moves the exponent bias from 15 to 127, and normalises denormals.
  Value scaled = arith::MulFOp::create(*this, arith::BitcastOp::create(*this, real, magnitude), number(real, 0x1p112));
  Value finite = arith::BitcastOp::create(*this, wide, scaled);
  Value special = arith::OrIOp::create(*this, magnitude, integer(wide, 0x7f800000));
  Value isSpecial = arith::CmpIOp::create(*this, arith::CmpIPredicate::uge, magnitude, integer(wide, 0x7c00 << 13));
  Value result = arith::OrIOp::create(*this, select(isSpecial, special, finite), sign);
  return arith::BitcastOp::create(*this, real, result);
}

Value KernelBuilder::floatToHalf(Value value) {
  unsigned lanes = lanesOf(value);
  Type wide = laneType(getI32Type(), lanes), real = laneType(getF32Type(), lanes);
  Value bits = arith::BitcastOp::create(*this, wide, value);
  Value magnitude = arith::AndIOp::create(*this, bits, integer(wide, 0x7fffffff));
  Value sign = arith::ShRUIOp::create(*this, arith::XOrIOp::create(*this, bits, magnitude), integer(wide, 16));

  // Infinity, overflow and NaN.
  Value isNan = arith::CmpIOp::create(*this, arith::CmpIPredicate::ugt, magnitude, integer(wide, 0x7f800000));
  Value special = select(isNan, integer(wide, 0x7e00), integer(wide, 0x7c00));
  Value isSpecial = arith::CmpIOp::create(*this, arith::CmpIPredicate::uge, magnitude, integer(wide, (127 + 16) << 23));

  // Denormal halves: adding 0.5 lets the FPU shift and round the mantissa.
  Value magic = number(real, 0.5);
  Value shifted = arith::AddFOp::create(*this, arith::BitcastOp::create(*this, real, magnitude), magic);
  Value denormal = arith::SubIOp::create(*this, arith::BitcastOp::create(*this, wide, shifted), integer(wide, 126 << 23));
  Value isDenormal = arith::CmpIOp::create(*this, arith::CmpIPredicate::ult, magnitude, integer(wide, 113 << 23));

  // Normal halves: rebias and round to nearest even.
  Value odd = arith::AndIOp::create(*this, arith::ShRUIOp::create(*this, magnitude, integer(wide, 13)), integer(wide, 1));
  Value bias = arith::AddIOp::create(*this, odd, integer(wide, 0xfff - (112 << 23)));
  Value normal = arith::ShRUIOp::create(*this, arith::AddIOp::create(*this, magnitude, bias), integer(wide, 13));

  Value result = select(isSpecial, special, select(isDenormal, denormal, normal));
  result = arith::OrIOp::create(*this, result, sign);
  return arith::TruncIOp::create(*this, laneType(getI16Type(), lanes), result);
}

} // namespace stator::kernel
