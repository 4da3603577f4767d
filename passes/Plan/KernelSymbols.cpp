//===- KernelSymbols.cpp - numbering and renaming the symbols of a region --===//
//
// Symbols occur only inside `#graph.dims`: as a tensor's encoding or as an
// operation's attribute. Walking sub-elements finds them all.
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/KernelSymbols.h"
#include "dialects/Graph/Shapes.h"

#include "mlir/IR/AttrTypeSubElements.h"

using namespace mlir;
using namespace stator;
using namespace stator::plan;

KernelSymbols::KernelSymbols(func::FuncOp method) : context(method.getContext()) {
  if (auto symbols = method->getAttrOfType<ArrayAttr>(graph::kSymbolsAttr))
    for (auto symbol : symbols.getAsRange<graph::SymbolAttr>())
      ranges[symbol.getName().str()] = symbol;
}

void KernelSymbols::collectFrom(graph::DimsAttr dims) {
  for (const DimExpr &dim : dims.dims())
    for (const std::string &name : dim.symbols())
      if (localOf.try_emplace(name, DimExpr::symbol("s" + std::to_string(order.size()))).second)
        order.push_back(name);
}

void KernelSymbols::collect(Operation *root) {
  AttrTypeWalker walker;
  walker.addWalk([&](graph::DimsAttr dims) { collectFrom(dims); });
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          walker.walk(argument.getType());
    walker.walk(op->getAttrDictionary());
    for (Type type : op->getResultTypes())
      walker.walk(type);
  });
}

void KernelSymbols::renameIn(Operation *op) const {
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](graph::DimsAttr dims) {
    SmallVector<DimExpr> renamed;
    for (const DimExpr &dim : dims.dims())
      renamed.push_back(dim.substitute(localOf));
    return graph::DimsAttr::get(context, ArrayRef<DimExpr>(renamed));
  });
  replacer.recursivelyReplaceElementsIn(op, /*replaceAttrs=*/true, /*replaceLocs=*/false, /*replaceTypes=*/true);
}

ArrayAttr KernelSymbols::localSymbols() const {
  SmallVector<Attribute> symbols;
  for (auto [index, name] : llvm::enumerate(order)) {
    auto range = ranges.find(name);
    int64_t min = range == ranges.end() ? graph::kDefaultSymbolMin : range->second.getMin();
    int64_t max = range == ranges.end() ? graph::kDefaultSymbolMax : range->second.getMax();
    symbols.push_back(graph::SymbolAttr::get(context, StringAttr::get(context, "s" + Twine(index)), min, max));
  }
  return ArrayAttr::get(context, symbols);
}

graph::DimsAttr KernelSymbols::sizes() const {
  SmallVector<DimExpr> sizes;
  for (const std::string &name : order)
    sizes.push_back(DimExpr::symbol(name));
  return graph::DimsAttr::get(context, ArrayRef<DimExpr>(sizes));
}
