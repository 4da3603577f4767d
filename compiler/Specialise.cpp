//===- Specialise.cpp - sizes given on the command line, for models in text -===//
//
// Importers build a graph for the sizes that the user gives. A model that comes
// as IR has its sizes already: here the symbols in its types are replaced by
// numbers or by other symbols, and their ranges are narrowed.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/InputSpecs.h"
#include "compiler/ModelFile.h"

#include "dialects/Graph/GraphOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AttrTypeSubElements.h"

using namespace mlir;
using namespace stator;
using namespace stator::compiler;

namespace {

using SizeRange = std::pair<int64_t, int64_t>;

/// What one method's symbols become.
struct Sizes {
  std::map<std::string, DimExpr> values;
  std::map<std::string, SizeRange> ranges;
};

} // namespace

static std::string nameOfInput(func::FuncOp method, unsigned i) { return method.getArgAttrOfType<StringAttr>(i, graph::kNameAttr).str(); }

/// One size of an input as the user gives it.
static Status bindDim(const DimSpec &given, const DimExpr &dim, const std::string &place, Sizes &sizes) {
  std::optional<std::string> symbol = dim.asSymbol();
  if (given.kind == DimSpec::Kind::FromModel) {
    if (!given.min)
      return okStatus();
    if (!symbol)
      return invalidArgument(place + ", which is no free size: --input cannot give it a range");
    auto [known, isNew] = sizes.ranges.try_emplace(*symbol, *given.min, *given.max);
    if (!isNew)
      known->second = {std::max(known->second.first, *given.min), std::min(known->second.second, *given.max)};
    return okStatus();
  }
  DimExpr wanted = given.kind == DimSpec::Kind::Number ? DimExpr(given.number) : DimExpr::symbol(given.symbol);
  if (symbol) {
    auto [known, isNew] = sizes.values.try_emplace(*symbol, wanted);
    if (!isNew && known->second != wanted)
      return invalidArgument("size `" + *symbol + "` is given as " + known->second.str() + " and as " + wanted.str());
  } else if (dim != wanted) {
    return invalidArgument(place + ", --input gives " + wanted.str());
  }
  return okStatus();
}

static Status bindInputs(func::FuncOp method, ArrayRef<const InputSpec *> specs, Sizes &sizes) {
  for (auto [i, spec] : llvm::enumerate(specs)) {
    if (!spec)
      continue;
    auto type = cast<RankedTensorType>(method.getArgument(i).getType());
    SmallVector<DimExpr> dims = graph::dimsOf(type);
    std::string place = "input `" + nameOfInput(method, i) + "`";
    if (spec->type && *spec->type != graph::elementTypeOf(type.getElementType()))
      return invalidArgument(place + " has another element type than --input gives");
    if (spec->dims.size() != dims.size())
      return invalidArgument(place + " has rank " + std::to_string(dims.size()) + ", --input gives " + std::to_string(spec->dims.size()));
    for (auto [axis, given, dim] : llvm::enumerate(spec->dims, dims))
      STATOR_RETURN_IF_ERROR(bindDim(given, dim, place + " has size " + dim.str() + " along axis " + std::to_string(axis), sizes));
  }
  return okStatus();
}

/// The ranges of all symbols of the method, after it is known what each becomes.
static Status bindRanges(func::FuncOp method, const ImportOptions &options, Sizes &sizes) {
  std::map<std::string, SizeRange> given;
  std::swap(given, sizes.ranges);
  if (auto symbols = method->getAttrOfType<ArrayAttr>(graph::kSymbolsAttr))
    for (auto symbol : symbols.getAsRange<graph::SymbolAttr>())
      sizes.ranges[symbol.getName().str()] = {symbol.getMin(), symbol.getMax()};
  for (Type type : method.getArgumentTypes())
    for (const DimExpr &dim : graph::dimsOf(cast<RankedTensorType>(type)))
      for (const std::string &name : dim.symbols())
        sizes.ranges.try_emplace(name, graph::kDefaultSymbolMin, graph::kDefaultSymbolMax);
  for (const auto &[name, range] : given) {
    SizeRange &own = sizes.ranges[name];
    own = {std::max(own.first, range.first), std::min(own.second, range.second)};
  }
  // What is renamed keeps its range under the new name.
  for (const auto &[name, value] : sizes.values)
    if (std::optional<std::string> renamed = value.asSymbol()) {
      SizeRange old = sizes.ranges[name];
      auto [known, isNew] = sizes.ranges.try_emplace(*renamed, old);
      if (!isNew)
        known->second = {std::max(known->second.first, old.first), std::min(known->second.second, old.second)};
    }
  for (const SymbolSpec &spec : options.symbols) {
    auto known = sizes.ranges.find(spec.name);
    if (known == sizes.ranges.end())
      continue; // Of another method.
    if (spec.min != spec.max) {
      known->second = {spec.min, spec.max};
      continue;
    }
    auto [value, isNew] = sizes.values.try_emplace(spec.name, DimExpr(spec.min));
    if (!isNew && value->second.constant() && value->second != DimExpr(spec.min))
      return invalidArgument("size `" + spec.name + "` is given as " + value->second.str() + " and as " + std::to_string(spec.min));
  }
  for (const auto &[name, range] : sizes.ranges)
    if (range.first > range.second)
      return outOfRange("the ranges given for size `" + name + "` leave no value");
  for (auto &[name, value] : sizes.values) {
    // A new name may be given a value in turn.
    std::optional<std::string> renamed = value.asSymbol();
    if (const SymbolSpec *spec = renamed ? findSymbol(options, *renamed) : nullptr; spec && spec->min == spec->max)
      value = DimExpr(spec->min);
    auto range = sizes.ranges.find(name);
    std::optional<int64_t> number = value.constant();
    if (range != sizes.ranges.end() && number && (*number < range->second.first || *number > range->second.second))
      return outOfRange("size `" + name + "` is given as " + std::to_string(*number) + ", its range is " +
                        std::to_string(range->second.first) + ".." + std::to_string(range->second.second));
  }
  for (const auto &[name, value] : sizes.values)
    if (value.asSymbol() != name)
      sizes.ranges.erase(name);
  return okStatus();
}

static void rewrite(func::FuncOp method, const Sizes &sizes) {
  MLIRContext *context = method.getContext();
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](RankedTensorType type) -> std::optional<Type> {
    SmallVector<DimExpr> dims = graph::dimsOf(type);
    for (DimExpr &dim : dims)
      dim = dim.substitute(sizes.values);
    RankedTensorType replaced = graph::tensorType(dims, type.getElementType());
    return replaced ? replaced : type; // A negative size: the verifier finds what depends on it.
  });
  replacer.addReplacement([&](graph::DimsAttr attr) {
    SmallVector<DimExpr> dims = attr.dims();
    for (DimExpr &dim : dims)
      dim = dim.substitute(sizes.values);
    return graph::DimsAttr::get(context, ArrayRef<DimExpr>(dims));
  });
  replacer.recursivelyReplaceElementsIn(method, /*replaceAttrs=*/true, /*replaceLocs=*/false, /*replaceTypes=*/true);
  SmallVector<Attribute> symbols;
  for (const auto &[name, range] : sizes.ranges)
    symbols.push_back(graph::SymbolAttr::get(context, StringAttr::get(context, name), range.first, range.second));
  method->setAttr(graph::kSymbolsAttr, ArrayAttr::get(context, symbols));
}

Status compiler::specialise(ModuleOp module, const ImportOptions &options) {
  if (options.inputs.empty() && options.symbols.empty())
    return okStatus();
  std::vector<MethodInputs> inputs;
  for (auto method : module.getOps<func::FuncOp>()) {
    inputs.push_back({method.getName().str(), {}});
    for (unsigned i = 0; i < method.getNumArguments(); ++i)
      inputs.back().tensors.push_back(nameOfInput(method, i));
  }
  STATOR_TRY(specs, assignInputSpecs(options, inputs));
  std::set<std::string> known;
  for (auto [i, method] : llvm::enumerate(module.getOps<func::FuncOp>())) {
    Sizes sizes;
    STATOR_RETURN_IF_ERROR(bindInputs(method, specs[i], sizes));
    STATOR_RETURN_IF_ERROR(bindRanges(method, options, sizes));
    for (const auto &entry : sizes.ranges)
      known.insert(entry.first);
    for (const auto &entry : sizes.values)
      known.insert(entry.first);
    rewrite(method, sizes);
  }
  for (const SymbolSpec &spec : options.symbols)
    if (!known.count(spec.name))
      return notFound("no size of the inputs is named `" + spec.name + "`");
  return okStatus();
}
