//===- PitchedKernels.cpp - variants of kernels, copying kernels -----------===//
//
// A variant differs from its kernel in one attribute only, so that nothing of
// how it is lowered depends on this file.
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/PitchedKernels.h"
#include "passes/Plan/KernelSymbols.h"

#include "dialects/Graph/Shapes.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace stator;
using namespace stator::plan;

static std::string hashOf(StringRef text) {
  return llvm::utohexstr(llvm::xxh3_64bits(text), /*LowerCase=*/true, /*Width=*/16).substr(0, 8);
}

/// Number, row and distance of each pitched buffer, as graph::kPitchesAttrName wants them.
static SmallVector<int64_t> pitchesOf(ValueRange inputs, ValueRange outputs) {
  SmallVector<int64_t> numbers;
  auto add = [&](size_t number, Value buffer) {
    if (std::optional<graph::Pitch> pitch = pitchOf(buffer))
      numbers.append({static_cast<int64_t>(number), pitch->row, pitch->distance});
  };
  for (auto [i, buffer] : llvm::enumerate(inputs))
    add(i, buffer);
  for (auto [i, buffer] : llvm::enumerate(outputs))
    add(inputs.size() + i, buffer);
  return numbers;
}

ModuleOp PitchedKernels::kernels() {
  auto found = module.lookupSymbol<ModuleOp>(kKernelModuleName);
  if (found)
    return found;
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  return ModuleOp::create(builder, module.getLoc(), kKernelModuleName);
}

SymbolRefAttr PitchedKernels::variantOf(SymbolRefAttr kernel, ValueRange inputs, ValueRange outputs) {
  SmallVector<int64_t> pitches = pitchesOf(inputs, outputs);
  if (pitches.empty())
    return kernel;
  std::string text = llvm::join(llvm::map_range(pitches, [](int64_t number) { return std::to_string(number); }), ",");
  SymbolRefAttr &variant = variants[{kernel.getLeafReference().str(), text}];
  if (!variant) {
    MLIRContext *context = module.getContext();
    auto original = kernels().lookupSymbol<func::FuncOp>(kernel.getLeafReference());
    func::FuncOp clone = original.clone();
    clone.setName((original.getName() + "_" + hashOf(text)).str());
    clone->setAttr(graph::kPitchesAttrName, DenseI64ArrayAttr::get(context, pitches));
    kernels().push_back(clone);
    variant = SymbolRefAttr::get(context, kKernelModuleName, {FlatSymbolRefAttr::get(clone.getNameAttr())});
  }
  return variant;
}

KernelOp PitchedKernels::copy(OpBuilder &builder, Location loc, func::FuncOp method, ValueRange inputs, Value output, StringRef label,
                              graph::ConcatOp concat) {
  MLIRContext *context = module.getContext();
  OpBuilder inside(context);
  auto types = llvm::map_to_vector(inputs, [](Value buffer) -> Type { return tensorTypeOf(buffer); });
  auto function = func::FuncOp::create(inside, loc, "copy", FunctionType::get(context, types, {Type(tensorTypeOf(output))}));
  function->setAttr(kFamilyAttrName, StringAttr::get(context, "data"));
  Block *entry = function.addEntryBlock();
  inside.setInsertionPointToStart(entry);
  Value result = entry->getArgument(0);
  if (concat)
    result = graph::ConcatOp::create(inside, loc, entry->getArguments(), concat.getAxis()).getResult();
  func::ReturnOp::create(inside, loc, result);
  if (SmallVector<int64_t> pitches = pitchesOf(inputs, {output}); !pitches.empty())
    function->setAttr(graph::kPitchesAttrName, DenseI64ArrayAttr::get(context, pitches));

  KernelSymbols symbols(method);
  symbols.collect(function);
  symbols.renameIn(function);
  function->setAttr(graph::kSymbolsAttr, symbols.localSymbols());
  std::string text;
  llvm::raw_string_ostream(text) << function;
  SymbolRefAttr &kernel = copies[text];
  if (kernel) {
    function->erase();
  } else {
    function.setName((concat ? "concat_" : "copy_") + hashOf(text));
    kernels().push_back(function);
    kernel = SymbolRefAttr::get(context, kKernelModuleName, {FlatSymbolRefAttr::get(function.getNameAttr())});
  }
  return KernelOp::create(builder, loc, kernel, inputs, output, symbols.sizes(), builder.getStringAttr("data"),
                          builder.getStringAttr(label), builder.getStringAttr("rows that lie apart"), nullptr);
}

void PitchedKernels::eraseUnused() {
  if (variants.empty())
    return;
  llvm::StringSet<> used;
  module.walk([&](KernelOp kernel) { used.insert(kernel.getKernel().getLeafReference().getValue()); });
  for (auto &[key, variant] : variants)
    if (!used.contains(key.first))
      if (auto original = kernels().lookupSymbol<func::FuncOp>(key.first))
        original.erase();
}
