//===- KernelUnit.cpp - keys, isolation and storage of single kernels ------===//
//
// The key is taken from the function before it is lowered: a hit then saves
// lowering too. That is safe because the key holds the compiler's build, so that
// a change of any pass gives other keys.
//
//===----------------------------------------------------------------------===//

#include "compiler/KernelUnit.h"

#include "dialects/Plan/PlanOps.h"
#include "serialization/Base/KernelAbi.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>

using namespace mlir;
using namespace stator;
using namespace stator::compiler;

std::string compiler::textOf(func::FuncOp function) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  // Flags of the command line may shorten constants in what people read; here every bit counts.
  function->print(stream, OpPrintingFlags().elideLargeElementsAttrs(INT64_MAX).elideLargeResourceString(INT64_MAX).enableDebugInfo(false));
  return text;
}

serialization::Hash128 compiler::keyOf(StringRef functionText, StringRef recipe) {
  serialization::StreamingHash hash;
  // The length keeps apart what would be the same in a row.
  uint64_t length = recipe.size();
  hash.update(std::as_bytes(std::span(&length, 1)));
  for (StringRef part : {recipe, functionText})
    hash.update(std::as_bytes(std::span(part.data(), part.size())));
  return hash.finish();
}

OwningOpRef<ModuleOp> compiler::isolate(KernelUnit &unit) {
  OpBuilder builder(unit.function->getContext());
  OwningOpRef<ModuleOp> module = ModuleOp::create(unit.function->getLoc());
  if (!unit.family.empty())
    module.get()->setAttr(plan::kFamilyAttrName, builder.getStringAttr(unit.family));
  builder.setInsertionPointToEnd(module->getBody());
  auto copy = cast<func::FuncOp>(builder.clone(*unit.function.getOperation()));
  copy.setName((serialization::kKernelSymbolPrefix + unit.name).c_str());
  return module;
}

void compiler::describe(ModuleOp lowered, KernelProduct &product) {
  for (auto function : lowered.getOps<LLVM::LLVMFuncOp>()) {
    if (auto text = function->getAttrOfType<StringAttr>(plan::kScratchAttrName))
      product.scratch = text.getValue().str();
    // The barrier is the only function that a kernel may call (kernel-verify).
    product.hasBarrier |= function.walk([](LLVM::CallOp) { return WalkResult::interrupt(); }).wasInterrupted();
  }
}

std::vector<char> compiler::serialise(const KernelProduct &product) {
  std::vector<char> bytes(sizeof(uint32_t) + 1);
  auto length = static_cast<uint32_t>(product.scratch.size());
  std::memcpy(bytes.data(), &length, sizeof(length));
  bytes[sizeof(length)] = product.hasBarrier;
  bytes.insert(bytes.end(), product.scratch.begin(), product.scratch.end());
  bytes.insert(bytes.end(), product.object.bytes.begin(), product.object.bytes.end());
  return bytes;
}

std::optional<KernelProduct> compiler::deserialise(std::vector<char> bytes, const std::string &name) {
  uint32_t length;
  constexpr size_t kHeaderBytes = sizeof(length) + 1;
  if (bytes.size() < kHeaderBytes)
    return std::nullopt;
  std::memcpy(&length, bytes.data(), sizeof(length));
  if (bytes.size() - kHeaderBytes < length)
    return std::nullopt;
  KernelProduct product;
  product.hasBarrier = bytes[sizeof(length)];
  product.scratch.assign(bytes.data() + kHeaderBytes, length);
  if (!product.scratch.empty() && !DimExpr::parse(product.scratch).ok())
    return std::nullopt;
  bytes.erase(bytes.begin(), bytes.begin() + kHeaderBytes + length);
  product.object.bytes = std::move(bytes);
  product.object.symbols = {serialization::kKernelSymbolPrefix + name};
  return product;
}
