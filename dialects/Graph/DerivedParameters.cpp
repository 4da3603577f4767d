//===- DerivedParameters.cpp - adding parameters made from others ----------===//

#include "dialects/Graph/DerivedParameters.h"
#include "dialects/Graph/ParameterStore.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace stator::graph {

ParameterOp DerivedParameters::frozen(Value value) {
  auto get = value.getDefiningOp<GetParameterOp>();
  auto parameter = get ? symbols.lookup<ParameterOp>(get.getParameter()) : ParameterOp();
  return parameter && !parameter.getIsMutable() && !parameter.getLayout() ? parameter : ParameterOp();
}

ParameterOp DerivedParameters::frozenOrConstant(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  if (!constant)
    return frozen(value);
  auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
  // Attributes pack i1 into bits; nothing that wants bytes wants those.
  if (!elements || elements.getElementType().isInteger(1))
    return ParameterOp();
  ArrayRef<char> raw = elements.getRawData();
  std::vector<std::byte> bytes;
  for (int64_t copy = 0, copies = elements.isSplat() ? elements.getNumElements() : 1; copy < copies; ++copy)
    for (char byte : raw)
      bytes.push_back(std::byte(byte));
  return own("constant", cast<RankedTensorType>(elements.getType()), std::move(bytes), constant.getLoc());
}

std::string DerivedParameters::freeName(StringRef name) {
  std::string candidate = name.str();
  for (unsigned suffix = 1; symbols.lookup(candidate); ++suffix)
    candidate = (name + "." + Twine(suffix)).str();
  return candidate;
}

ParameterOp DerivedParameters::derive(ArrayRef<ParameterOp> sources, StringRef kind, ArrayRef<NamedAttribute> options,
                                      RankedTensorType type, StringRef layout) {
  ParameterOp first = sources.front();
  MLIRContext *context = module.getContext();
  SmallVector<FlatSymbolRefAttr> references;
  for (ParameterOp source : sources)
    references.push_back(FlatSymbolRefAttr::get(source.getSymNameAttr()));
  auto recipe = RecipeAttr::get(context, StringAttr::get(context, kind), references, DictionaryAttr::get(context, options));

  std::string name = (first.getSymName() + "." + kind).str();
  for (unsigned suffix = 0;; ++suffix) {
    std::string candidate = suffix ? name + "." + std::to_string(suffix) : name;
    Operation *taken = symbols.lookup(candidate);
    if (auto existing = dyn_cast_or_null<ParameterOp>(taken); existing && existing.getRecipeAttr() == recipe && existing.tensorType() == type)
      return existing;
    if (taken)
      continue;
    OpBuilder builder(context);
    builder.setInsertionPointAfter(first);
    auto derived = ParameterOp::create(builder, first.getLoc(), candidate, type, recipe);
    if (!layout.empty())
      derived.setLayout(layout);
    symbols.insert(derived, derived->getIterator());
    return derived;
  }
}

ParameterOp DerivedParameters::own(StringRef name, RankedTensorType type, std::vector<std::byte> bytes, Location loc) {
  int source = parametersOf(module.getContext()).addOwned(std::move(bytes));
  OpBuilder builder(module.getContext());
  builder.setInsertionPointToStart(module.getBody());
  auto parameter = ParameterOp::create(builder, loc, freeName(name), type, source, 0);
  symbols.insert(parameter, parameter->getIterator());
  return parameter;
}

Value DerivedParameters::read(ParameterOp parameter, Operation *user) {
  OpBuilder builder(user);
  return GetParameterOp::create(builder, user->getLoc(), parameter).getResult();
}

void DerivedParameters::removeUnused() {
  llvm::StringSet<> used;
  SmallVector<ParameterOp> pending;
  auto use = [&](StringRef name) {
    if (used.insert(name).second)
      if (auto parameter = symbols.lookup<ParameterOp>(name))
        pending.push_back(parameter);
  };
  module.walk([&](GetParameterOp get) { use(get.getParameter()); });
  while (!pending.empty())
    if (RecipeAttr recipe = pending.pop_back_val().getRecipeAttr())
      for (FlatSymbolRefAttr source : recipe.getSources())
        use(source.getValue());
  for (auto parameter : llvm::make_early_inc_range(module.getOps<ParameterOp>()))
    if (!used.contains(parameter.getSymName()) && !parameter.getIsMutable())
      symbols.erase(parameter);
}

} // namespace stator::graph
