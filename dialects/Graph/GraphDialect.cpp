// The dialect's registration, its attributes, and the checks of what methods carry.
#include "dialects/Graph/GraphDialect.h"

#include "dialects/Graph/GraphOps.h"
#include "dialects/Graph/ParameterStore.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace stator;
using namespace stator::graph;

#include "dialects/Graph/GraphDialect.cpp.inc"
#include "dialects/Graph/GraphEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Graph/GraphAttrs.cpp.inc"

#include "dialects/Graph/GraphInterfaces.cpp.inc"

void GraphDialect::initialize() {
  parameterStore = std::make_shared<ParameterStore>();
  registerAttributes();
  registerOperations();
}

void GraphDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Graph/GraphAttrs.cpp.inc"
      >();
}

ParameterStore &graph::parametersOf(MLIRContext *context) {
  auto *dialect = context->getLoadedDialect<GraphDialect>();
  assert(dialect && "whoever asks for parameters has loaded the graph dialect");
  return dialect->parameters();
}

Operation *GraphDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  if (!elements.isSplat() && elements.getNumElements() > kMaxConstantElements)
    return nullptr;
  return ConstantOp::create(builder, loc, elements);
}

//===- What methods carry -----------------------------------------------------------------------------------------------------===//

static LogicalResult verifySymbols(Operation *op, Attribute value) {
  auto list = dyn_cast<ArrayAttr>(value);
  if (!list || !llvm::all_of(list, llvm::IsaPred<SymbolAttr>))
    return op->emitOpError() << "has `" << kSymbolsAttr << "` " << value << ", expected a list of `#graph.symbol`";
  llvm::StringSet<> seen;
  for (auto symbol : list.getAsRange<SymbolAttr>())
    if (!seen.insert(symbol.getName()).second)
      return op->emitOpError() << "lists the symbol " << symbol.getName() << " twice in `" << kSymbolsAttr << "`";
  return success();
}

static LogicalResult verifyGuards(Operation *op, Attribute value) {
  auto fail = [&] {
    return op->emitOpError() << "has `" << kGuardsAttr << "` " << value << ", expected a list of pairs of size expressions";
  };
  auto list = dyn_cast<ArrayAttr>(value);
  if (!list)
    return fail();
  for (Attribute element : list) {
    auto pair = dyn_cast<ArrayAttr>(element);
    if (!pair || pair.size() != 2)
      return fail();
    for (Attribute side : pair) {
      auto text = dyn_cast<StringAttr>(side);
      if (!text || !DimExpr::parse(text.getValue()).ok())
        return fail();
    }
  }
  return success();
}

LogicalResult GraphDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() == kSymbolsAttr)
    return verifySymbols(op, attribute.getValue());
  if (attribute.getName() == kGuardsAttr)
    return verifyGuards(op, attribute.getValue());
  return success();
}

static LogicalResult verifyName(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() == kNameAttr && !isa<StringAttr>(attribute.getValue()))
    return op->emitOpError() << "has `" << kNameAttr << "` " << attribute.getValue() << ", expected a string";
  return success();
}

LogicalResult GraphDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned, NamedAttribute attribute) {
  return verifyName(op, attribute);
}

LogicalResult GraphDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned, NamedAttribute attribute) {
  return verifyName(op, attribute);
}

//===- Attributes -------------------------------------------------------------------------------------------------------------===//

/// Most sizes are small numbers or single names; only the others need the parser.
static DimExpr parseDim(StringRef text) {
  int64_t value = 0;
  if (!text.getAsInteger(10, value))
    return value;
  Result<DimExpr> parsed = DimExpr::parse(text);
  return parsed.ok() ? *parsed : DimExpr::invalid(parsed.status().message());
}

DimExpr DimsAttr::dim(size_t i) const { return parseDim(getTexts()[i].getValue()); }

SmallVector<DimExpr> DimsAttr::dims() const {
  SmallVector<DimExpr> dims;
  for (size_t i = 0; i < size(); ++i)
    dims.push_back(dim(i));
  return dims;
}

std::optional<SmallVector<int64_t>> DimsAttr::constants() const {
  SmallVector<int64_t> values;
  for (size_t i = 0; i < size(); ++i) {
    std::optional<int64_t> value = dim(i).constant();
    if (!value)
      return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

DimsAttr DimsAttr::get(MLIRContext *context, ArrayRef<DimExpr> dims) {
  SmallVector<StringAttr> texts;
  for (const DimExpr &dim : dims)
    texts.push_back(StringAttr::get(context, dim.str()));
  return get(context, ArrayRef<StringAttr>(texts));
}

DimsAttr DimsAttr::get(MLIRContext *context, ArrayRef<int64_t> sizes) {
  return get(context, ArrayRef<DimExpr>(SmallVector<DimExpr>(sizes.begin(), sizes.end())));
}

LogicalResult DimsAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<StringAttr> texts) {
  for (StringAttr text : texts) {
    Result<DimExpr> parsed = DimExpr::parse(text.getValue());
    if (!parsed.ok())
      return emitError() << "size " << text << " is not an expression: " << parsed.status().message();
    if (parsed->str() != text.getValue())
      return emitError() << "size " << text << " is not in canonical form, expected \"" << parsed->str() << "\"";
  }
  return success();
}

LogicalResult DimsAttr::verifyEncoding(ArrayRef<int64_t> shape, Type elementType, function_ref<InFlightDiagnostic()> emitError) const {
  if (shape.size() != size())
    return emitError() << "`#graph.dims` names " << size() << " sizes of a tensor of rank " << shape.size();
  if (!llvm::is_contained(shape, ShapedType::kDynamic))
    return emitError() << "`#graph.dims` on a tensor whose sizes are all constants, expected none";
  for (auto [axis, size] : llvm::enumerate(shape)) {
    std::optional<int64_t> named = dim(axis).constant();
    if (ShapedType::isDynamic(size) ? named.has_value() : named != size)
      return emitError() << "`#graph.dims` names size " << axis << " " << getTexts()[axis] << ", the tensor has "
                         << (ShapedType::isDynamic(size) ? std::string("`?`") : std::to_string(size));
  }
  return success();
}

LogicalResult SymbolAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringAttr name, int64_t min, int64_t max) {
  if (!name || name.getValue().empty())
    return emitError() << "a symbol has no name";
  if (min < 0 || min > max)
    return emitError() << "symbol " << name << " has the range " << min << ".." << max << ", expected 0 <= min <= max";
  return success();
}

//===- Operations -------------------------------------------------------------------------------------------------------------===//

void GraphDialect::registerOperations() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Graph/GraphContraction.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Graph/GraphControlFlow.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Graph/GraphElementwise.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Graph/GraphElementwiseBinary.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Graph/GraphIndexing.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Graph/GraphNormalisation.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Graph/GraphRecurrent.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Graph/GraphReduction.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Graph/GraphShape.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Graph/GraphState.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Graph/GraphWindow.cpp.inc"
      >();
}
