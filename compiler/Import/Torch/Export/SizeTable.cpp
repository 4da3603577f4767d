//===- SizeTable.cpp - the symbols of a program and what they are here -----===//

#include "compiler/Import/Torch/Export/SizeTable.h"
#include "compiler/Import/InputSpecs.h"
#include "compiler/Import/Torch/Export/ProgramReader.h"
#include "compiler/Import/Torch/Export/SymbolicText.h"

#include <algorithm>

namespace stator::torch::exported {

/// Whether an export keeps batch sizes of 0 and 1 apart from all others, it says so by a range that starts at 2, and yet runs them: its own
/// check of ranges begins at 3.
static int64_t leastAtRun(int64_t min) { return min == 2 ? 1 : min; }

Result<SizeTable> SizeTable::make(const Program &program, const std::vector<UserInput> &inputs,
                                  const std::vector<const compiler::InputSpec *> &specs,
                                  const std::vector<std::vector<int64_t>> &constantDims, const compiler::ImportOptions &options) {
  SizeTable table;
  table.options = &options;
  for (const RangeConstraint &range : program.ranges) {
    // Ranges of expressions follow from those of their symbols.
    Result<DimExpr> expression = parsePrinted(range.expression);
    std::optional<std::string> symbol = expression.ok() ? expression->asSymbol() : std::nullopt;
    if (!symbol)
      continue;
    Range &known = table.fileRanges[*symbol];
    known.min = leastAtRun(range.min);
    known.max = std::min(known.max, range.max.value_or(known.max));
    if (known.min > known.max)
      return unsupported("the size `" + *symbol + "` is at least " + std::to_string(known.min) + ", which is too large");
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].meta)
      continue;
    for (const DimExpr &size : inputs[i].meta->sizes) {
      STATOR_RETURN_IF_ERROR(size.status().withContext("input `" + inputs[i].name + "`"));
      for (const std::string &symbol : size.symbols())
        table.fileRanges.try_emplace(symbol);
    }
    if (i < specs.size() && specs[i])
      STATOR_RETURN_IF_ERROR(table.bindInput(inputs[i], *specs[i]));
    if (i >= constantDims.size() || constantDims[i].empty())
      continue;
    for (size_t axis = 0; axis < constantDims[i].size() && axis < inputs[i].meta->sizes.size(); ++axis)
      if (std::optional<std::string> symbol = inputs[i].meta->sizes[axis].asSymbol())
        STATOR_RETURN_IF_ERROR(table.bind(*symbol, DimExpr(constantDims[i][axis]), "constant `" + inputs[i].name + "`"));
  }
  // Symbols that only the inside of the program has stay out: they depend on data. First those that are an axis by themselves.
  for (const UserInput &input : inputs)
    for (const DimExpr &size : input.meta ? input.meta->sizes : std::vector<DimExpr>())
      if (std::optional<std::string> symbol = size.asSymbol(); symbol && !table.values.contains(*symbol))
        STATOR_RETURN_IF_ERROR(table.bind(*symbol, DimExpr::symbol(*symbol), "input `" + input.name + "`"));
  for (const UserInput &input : inputs)
    for (size_t axis = 0; input.meta && axis < input.meta->sizes.size(); ++axis)
      STATOR_RETURN_IF_ERROR(table.derive(input, axis));
  return table;
}

/// Binds the symbol of `factor * symbol + summand`, if it is still open, by a symbol for the whole.
Status SizeTable::derive(const UserInput &input, size_t axis) {
  const DimExpr &size = input.meta->sizes[axis];
  std::string place = "input `" + input.name + "`";
  std::vector<std::string> open;
  for (const std::string &symbol : size.symbols())
    if (!values.contains(symbol))
      open.push_back(symbol);
  auto wish = wishes.find(size);
  const compiler::DimSpec *wanted = wish == wishes.end() ? nullptr : wish->second;
  if (open.empty()) {
    bool isDerived = std::any_of(derived.begin(), derived.end(), [&](const Derived &known) { return known.file == size; });
    if (wanted && !isDerived && wanted->kind == compiler::DimSpec::Kind::Symbol)
      return invalidArgument(place + ": has size " + size.str() + " along axis " + std::to_string(axis) +
                             " in the program, which follows from other sizes and cannot become the size `" + wanted->symbol + "`");
    if (wanted && !isDerived)
      numbers.emplace(size, wanted->number);
    return okStatus();
  }
  std::string symbol = open[0];
  std::optional<int64_t> summand = size.substitute({{symbol, DimExpr(0)}}).constant();
  std::optional<int64_t> factor = (size.substitute({{symbol, DimExpr(1)}}) - DimExpr(summand.value_or(0))).constant();
  if (open.size() > 1 || !summand || !factor || *factor < 1 || size != DimExpr(*factor) * DimExpr::symbol(symbol) + DimExpr(*summand))
    return unsupported(place + ": the size " + size.str() + " along axis " + std::to_string(axis) + " does not tell what `" + symbol +
                       "` is");
  const Range &file = fileRanges[symbol];
  // The largest size that can be: the symbol's own limit may be beyond it.
  constexpr int64_t most = 2147483647;
  Range range{*factor * file.min + *summand, file.max > (most - *summand) / *factor ? most : *factor * file.max + *summand};
  range.min = std::max<int64_t>(range.min, 0);
  if (wanted && wanted->kind == compiler::DimSpec::Kind::Number) {
    int64_t number = wanted->number - *summand;
    if (number % *factor != 0)
      return outOfRange(place + ": has size " + size.str() + " along axis " + std::to_string(axis) + " in the program, which " +
                        std::to_string(wanted->number) + " is for no `" + symbol + "`");
    return bind(symbol, DimExpr(number / *factor), place);
  }
  std::string name = wanted && wanted->kind == compiler::DimSpec::Kind::Symbol ? wanted->symbol : input.name + "_" + std::to_string(axis);
  used.insert(name);
  DimExpr here = DimExpr::symbol(name);
  if (const compiler::SymbolSpec *spec = compiler::findSymbol(*options, name)) {
    if (spec->min < range.min || spec->max > range.max)
      return outOfRange(place + ": size `" + name + "` is given the range " + std::to_string(spec->min) + ".." + std::to_string(spec->max) +
                        ", but the program is made for " + std::to_string(range.min) + ".." + std::to_string(range.max));
    range = {spec->min, spec->max};
    if (spec->min == spec->max)
      here = DimExpr(spec->min);
  }
  if (!here.isConstant())
    ranges.try_emplace(name, range);
  values.try_emplace(symbol, (here - DimExpr(*summand)).floorDiv(DimExpr(*factor)));
  derived.push_back({size, here, *factor, *summand});
  return okStatus();
}

Status SizeTable::bind(const std::string &symbol, const DimExpr &wanted, const std::string &place) {
  DimExpr value = wanted;
  const Range &file = fileRanges[symbol];
  std::optional<std::string> name = value.asSymbol();
  Range range = file;
  if (name) {
    used.insert(*name);
    if (const compiler::SymbolSpec *spec = compiler::findSymbol(*options, *name)) {
      if (spec->min < file.min || spec->max > file.max)
        return outOfRange(place + ": size `" + *name + "` is given the range " + std::to_string(spec->min) + ".." +
                          std::to_string(spec->max) + ", but the program is made for " + std::to_string(file.min) + ".." +
                          std::to_string(file.max));
      range = {spec->min, spec->max};
      if (spec->min == spec->max)
        value = DimExpr(spec->min);
    }
  }
  if (std::optional<int64_t> number = value.constant(); number && (*number < file.min || *number > file.max))
    return outOfRange(place + ": size `" + symbol + "` is given as " + std::to_string(*number) + ", but the program is made for " +
                      std::to_string(file.min) + ".." + std::to_string(file.max));
  auto [known, isNew] = values.try_emplace(symbol, value);
  if (!isNew && known->second != value)
    return invalidArgument(place + ": size `" + symbol + "` is given as " + known->second.str() + " and as " + value.str());
  if (name && value.asSymbol()) {
    // One name may be given to several symbols, which then are one size.
    auto [entry, isFirst] = ranges.try_emplace(*name, range);
    entry->second.min = std::max(entry->second.min, range.min);
    entry->second.max = std::min(entry->second.max, range.max);
    if (entry->second.min > entry->second.max)
      return outOfRange(place + ": no size can be `" + *name + "`, whose ranges do not meet");
  }
  return okStatus();
}

Status SizeTable::bindInput(const UserInput &input, const compiler::InputSpec &spec) {
  using DimKind = compiler::DimSpec::Kind;
  std::string place = "input `" + input.name + "`";
  const std::vector<DimExpr> &sizes = input.meta->sizes;
  if (spec.dims.size() != sizes.size())
    return invalidArgument(place + ": has rank " + std::to_string(sizes.size()) + " in the program, but a shape of rank " +
                           std::to_string(spec.dims.size()) + " was given");
  for (size_t axis = 0; axis < sizes.size(); ++axis) {
    const compiler::DimSpec &dim = spec.dims[axis];
    std::optional<std::string> symbol = sizes[axis].asSymbol();
    if (!symbol && !sizes[axis].isConstant() && dim.kind != DimKind::FromModel) {
      wishes.try_emplace(sizes[axis], &dim);
      continue;
    }
    std::string where = " along axis " + std::to_string(axis);
    if (dim.kind == DimKind::Symbol && symbol)
      STATOR_RETURN_IF_ERROR(bind(*symbol, DimExpr::symbol(dim.symbol), place));
    else if (dim.kind == DimKind::Symbol)
      return invalidArgument(place + ": has size " + sizes[axis].str() + where + " in the program, which cannot become the size `" +
                             dim.symbol + "`; export it with dynamic_shapes");
    else if (dim.kind == DimKind::Number && symbol)
      STATOR_RETURN_IF_ERROR(bind(*symbol, DimExpr(dim.number), place));
    else if (dim.kind == DimKind::Number && sizes[axis].isConstant() && !sizes[axis].isConstant(dim.number))
      return invalidArgument(place + ": has size " + sizes[axis].str() + where + " in the program, but " + std::to_string(dim.number) +
                             " was given");
    else if (dim.kind == DimKind::FromModel && symbol && (dim.min || dim.max)) {
      Range &range = fileRanges[*symbol];
      range.min = std::max(range.min, dim.min.value_or(range.min));
      range.max = std::min(range.max, dim.max.value_or(range.max));
      if (range.min > range.max)
        return outOfRange(place + ": no size" + where + " is in both the given range and that of the program");
    }
  }
  return okStatus();
}

void SizeTable::declare(trace::Builder &builder) const {
  for (const auto &[name, range] : ranges)
    builder.symbol(name, range.min, range.max);
  for (const auto &[size, number] : numbers)
    if (Result<trace::Dim> dim = translate(size); dim.ok())
      builder.constrainEqual(*dim, number, "a size that is given");
  for (const Derived &size : derived)
    builder.constrainEqual(trace::Dim((size.here - DimExpr(size.summand)).mod(DimExpr(size.factor))), 0,
                           "a size that the program takes to be " + size.file.str());
}

Result<trace::Dim> SizeTable::translate(const DimExpr &size) const {
  if (!size.isValid())
    return unsupported(size.status().message());
  for (const std::string &symbol : size.symbols())
    if (!values.contains(symbol))
      return unsupported("the size `" + size.str() + "` depends on data: `" + symbol + "` is no size of an input");
  for (const Derived &known : derived)
    if (known.file == size)
      return trace::Dim(known.here);
  DimExpr value = size.substitute(values);
  if (!value.isValid())
    return unsupported(value.status().message());
  return trace::Dim(value);
}

} // namespace stator::torch::exported
