// The table of recipes: for each kind, the type that it gives and the reader that computes its elements. All readers but three only move
// elements: such a reader says, for each row (run along its last axis), where in its source the row starts, how far apart its elements
// lie there and how many there are; what is missing is zero. Rows are read from the source with one call each, and sources may be
// recipes again, so that a chain streams without intermediate copies.
#include "dialects/Graph/ParameterRecipes.h"

#include "dialects/Graph/ParameterReaders.h"
#include "dialects/Graph/ParameterStore.h"
#include "dialects/Target/PackedLayouts.h"
#include "dialects/Target/Winograd.h"

using namespace mlir;

namespace stator::graph {

using Sizes = SmallVector<int64_t>;
using Readers = SmallVector<std::unique_ptr<ParameterReader>>;

namespace {

/// What the functions of a kind see: the recipe and the types of its sources, whose number was checked.
struct Recipe {
  RecipeAttr attr;
  ArrayRef<RankedTensorType> sources;
  Location loc;

  RankedTensorType first() const { return sources.front(); }
  ArrayRef<int64_t> shape() const { return first().getShape(); }
  InFlightDiagnostic error() const { return emitError(loc) << "recipe \"" << attr.getKind().getValue() << "\" "; }

  FailureOr<ArrayRef<int64_t>> list(StringRef option, size_t length) const {
    auto value = attr.getOptions().getAs<DenseI64ArrayAttr>(option);
    if (!value || value.size() != int64_t(length))
      return error() << "expects the option `" << option << "` with " << length << " integers";
    return value.asArrayRef();
  }
  FailureOr<int64_t> number(StringRef option, int64_t low, int64_t high) const {
    auto value = attr.getOptions().getAs<IntegerAttr>(option);
    if (!value || value.getInt() < low || value.getInt() > high)
      return error() << "expects the option `" << option << "` with an integer from " << low << " to " << high;
    return value.getInt();
  }
  RankedTensorType result(ArrayRef<int64_t> sizes) const { return RankedTensorType::get(sizes, first().getElementType()); }
  int64_t option(StringRef name) const { return attr.getOptions().getAs<IntegerAttr>(name).getInt(); }
  ArrayRef<int64_t> options(StringRef name) const { return attr.getOptions().getAs<DenseI64ArrayAttr>(name).asArrayRef(); }
};

using TypeFunction = FailureOr<RankedTensorType> (*)(const Recipe &);
using OpenFunction = std::unique_ptr<ParameterReader> (*)(const Recipe &, RankedTensorType, Readers);

struct RecipeKind {
  StringLiteral name;
  size_t sources;
  TypeFunction type;
  OpenFunction open;
};

int64_t product(ArrayRef<int64_t> sizes) {
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  return count;
}

Sizes rowMajorStrides(ArrayRef<int64_t> shape) {
  Sizes strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * shape[i];
  return strides;
}

//===- Moves ------------------------------------------------------------------------------------------------------------------===//

FailureOr<RankedTensorType> transposeType(const Recipe &recipe) {
  FailureOr<ArrayRef<int64_t>> perm = recipe.list("perm", recipe.shape().size());
  if (failed(perm))
    return failure();
  Sizes sizes;
  for (int64_t axis = 0, rank = perm->size(); axis < rank; ++axis) {
    if (!llvm::is_contained(*perm, axis))
      return recipe.error() << "has a `perm` without axis " << axis;
    sizes.push_back(recipe.shape()[(*perm)[axis]]);
  }
  return recipe.result(sizes);
}

std::unique_ptr<ParameterReader> openTranspose(const Recipe &recipe, RankedTensorType type, Readers sources) {
  Sizes from = rowMajorStrides(recipe.shape()), strides;
  for (int64_t axis : recipe.options("perm"))
    strides.push_back(from[axis]);
  return openStrided(type, std::move(sources[0]), 0, strides);
}

FailureOr<RankedTensorType> reshapeType(const Recipe &recipe) {
  auto shape = recipe.attr.getOptions().getAs<DenseI64ArrayAttr>("shape");
  if (!shape || llvm::any_of(shape.asArrayRef(), [](int64_t size) { return size < 0; }))
    return recipe.error() << "expects the option `shape` with sizes";
  RankedTensorType type = recipe.result(shape.asArrayRef());
  if (staticElementCount(type) != staticElementCount(recipe.first()))
    return recipe.error() << "makes " << type << " of " << recipe.first() << ", which has another number of elements";
  return type;
}

std::unique_ptr<ParameterReader> openReshape(const Recipe &, RankedTensorType type, Readers sources) {
  return openReshaped(type, std::move(sources[0]));
}

FailureOr<RankedTensorType> sliceType(const Recipe &recipe) {
  size_t rank = recipe.shape().size();
  FailureOr<ArrayRef<int64_t>> starts = recipe.list("starts", rank), sizes = recipe.list("sizes", rank),
                               strides = recipe.list("strides", rank);
  if (failed(starts) || failed(sizes) || failed(strides))
    return failure();
  for (size_t axis = 0; axis < rank; ++axis) {
    int64_t start = (*starts)[axis], size = (*sizes)[axis], stride = (*strides)[axis], bound = recipe.shape()[axis];
    // Divided, so that no product can overflow. A negative stride goes from `start` down.
    bool isStep = stride != 0 && stride > -bound - 1;
    int64_t room = stride > 0 ? bound - 1 - start : start, step = stride > 0 ? stride : -stride;
    bool inside = start >= 0 && size >= 0 && isStep && (size == 0 || (start < bound && room / step >= size - 1));
    if (!inside)
      return recipe.error() << "reads outside of axis " << axis << " of size " << bound << ": start " << start << ", size " << size
                            << ", stride " << stride;
  }
  return recipe.result(*sizes);
}

std::unique_ptr<ParameterReader> openSlice(const Recipe &recipe, RankedTensorType type, Readers sources) {
  Sizes strides = rowMajorStrides(recipe.shape());
  int64_t offset = 0;
  for (auto [axis, stride] : llvm::enumerate(strides)) {
    offset += recipe.options("starts")[axis] * stride;
    stride *= recipe.options("strides")[axis];
  }
  return openStrided(type, std::move(sources[0]), offset, strides);
}

FailureOr<RankedTensorType> concatType(const Recipe &recipe) {
  FailureOr<int64_t> axis = recipe.number("axis", 0, int64_t(recipe.shape().size()) - 1);
  if (failed(axis))
    return failure();
  Sizes first(recipe.shape()), second(recipe.sources[1].getShape()), result = first;
  if (second.size() == first.size()) {
    result[*axis] += second[*axis];
    first[*axis] = second[*axis];
  }
  if (first != second || recipe.sources[1].getElementType() != recipe.first().getElementType())
    return recipe.error() << "has sources of types " << recipe.first() << " and " << recipe.sources[1]
                          << ", expected the same but for the size of axis " << *axis;
  return recipe.result(result);
}

std::unique_ptr<ParameterReader> openConcat(const Recipe &recipe, RankedTensorType type, Readers sources) {
  auto rowOf = [&](RankedTensorType source) { return product(source.getShape().drop_front(recipe.option("axis"))); };
  return openJoined(type, std::move(sources[0]), std::move(sources[1]), rowOf(recipe.sources[0]), rowOf(recipe.sources[1]));
}

//===- Arithmetic -------------------------------------------------------------------------------------------------------------===//

FailureOr<RankedTensorType> convertType(const Recipe &recipe) {
  auto type = recipe.attr.getOptions().getAs<TypeAttr>("type");
  if (!type || !isSupportedElement(type.getValue()))
    return recipe.error() << "expects the option `type` with an element type";
  return RankedTensorType::get(recipe.shape(), type.getValue());
}

std::unique_ptr<ParameterReader> openConvert(const Recipe &, RankedTensorType type, Readers sources) {
  return openConverted(type, std::move(sources[0]));
}

FailureOr<RankedTensorType> mulChannelType(const Recipe &recipe) {
  FailureOr<int64_t> axis = recipe.number("axis", 0, int64_t(recipe.shape().size()) - 1);
  if (failed(axis))
    return failure();
  RankedTensorType scale = recipe.sources[1], expected = recipe.result(recipe.shape()[*axis]);
  if (scale != expected || !isFloatElement(scale.getElementType()))
    return recipe.error() << "has a scale of type " << scale << ", expected " << expected << " of floating-point elements";
  return recipe.first();
}

std::unique_ptr<ParameterReader> openMulChannel(const Recipe &recipe, RankedTensorType type, Readers sources) {
  return openScaled(type, std::move(sources[0]), *sources[1], rowMajorStrides(recipe.shape())[recipe.option("axis")]);
}

//===- Packing ----------------------------------------------------------------------------------------------------------------===//

FailureOr<RankedTensorType> packMatmulType(const Recipe &recipe) {
  size_t rank = recipe.shape().size();
  if (rank < 2)
    return recipe.error() << "has a source of type " << recipe.first() << ", expected rank 2 or more";
  Sizes sizes(recipe.shape());
  if (recipe.attr.getOptions().contains("transposed"))
    std::swap(sizes[rank - 1], sizes[rank - 2]);
  int64_t columns = sizes.back();
  sizes.back() = panelColumns;
  sizes.insert(sizes.end() - 2, panelsOf(columns));
  return recipe.result(sizes);
}

std::unique_ptr<ParameterReader> openPackMatmul(const Recipe &recipe, RankedTensorType type, Readers sources) {
  bool transposed = recipe.attr.getOptions().contains("transposed");
  ArrayRef<int64_t> matrix = recipe.shape().take_back(2);
  int64_t depth = transposed ? matrix[1] : matrix[0], columns = transposed ? matrix[0] : matrix[1], panels = panelsOf(columns);
  return openRows(type, std::move(sources[0]), [=](int64_t row) -> SourceRow {
    int64_t k = row % depth, panel = row / depth % panels, batch = row / depth / panels, first = panel * panelColumns;
    int64_t count = std::min(panelColumns, columns - first), base = batch * depth * columns;
    return transposed ? SourceRow{base + first * depth + k, depth, count} : SourceRow{base + k * columns + first, 1, count};
  });
}

FailureOr<RankedTensorType> packStrassenType(const Recipe &recipe) {
  Sizes sizes(recipe.shape());
  if (recipe.attr.getOptions().contains("transposed") && sizes.size() == 2)
    std::swap(sizes[0], sizes[1]);
  if (sizes.size() != 2 || sizes[0] % 2 || sizes[1] % (2 * panelColumns) || !isFloatElement(recipe.first().getElementType()))
    return recipe.error() << "has a source of type " << recipe.first()
                          << ", expected a matrix of floating-point elements with an even depth and columns in multiples of 32";
  return recipe.result(ArrayRef<int64_t>(strassenPanelsShape(sizes[0], sizes[1])));
}

std::unique_ptr<ParameterReader> openPackStrassen(const Recipe &recipe, RankedTensorType type, Readers sources) {
  return openStrassen(type, std::move(sources[0]), recipe.attr.getOptions().contains("transposed"));
}

FailureOr<RankedTensorType> packConvType(const Recipe &recipe) {
  if (recipe.shape().size() < 3)
    return recipe.error() << "has a source of type " << recipe.first() << ", expected rank 3 or more";
  FailureOr<int64_t> groups = recipe.number("groups", 1, std::max<int64_t>(recipe.shape()[0], 1));
  if (failed(groups))
    return failure();
  if (recipe.shape()[0] % *groups)
    return recipe.error() << "has " << recipe.shape()[0] << " output channels, which " << *groups << " groups do not divide";
  return recipe.result({*groups, panelsOf(recipe.shape()[0] / *groups), product(recipe.shape().drop_front()), panelColumns});
}

std::unique_ptr<ParameterReader> openPackConv(const Recipe &recipe, RankedTensorType type, Readers sources) {
  int64_t groups = recipe.option("groups"), outputs = recipe.shape()[0] / groups, channels = recipe.shape()[1];
  int64_t taps = product(recipe.shape().drop_front(2)), depth = taps * channels, panels = panelsOf(outputs);
  return openRows(type, std::move(sources[0]), [=](int64_t row) -> SourceRow {
    int64_t channel = row % channels, tap = row / channels % taps, panel = row / depth % panels, group = row / depth / panels;
    int64_t first = panel * panelColumns;
    return {(group * outputs + first) * depth + channel * taps + tap, depth, std::min(panelColumns, outputs - first)};
  });
}

FailureOr<RankedTensorType> packWinogradType(const Recipe &recipe) {
  ArrayRef<int64_t> shape = recipe.shape();
  if (shape.size() != 4 || shape[2] != 3 || shape[3] != 3 || !isFloatElement(recipe.first().getElementType()))
    return recipe.error() << "has a source of type " << recipe.first() << ", expected [O, I, 3, 3] of floating-point elements";
  FailureOr<int64_t> tile = recipe.number("tile", 2, 4);
  if (failed(tile))
    return failure();
  if (!isWinogradTile(*tile))
    return recipe.error() << "has tiles of " << *tile << ", expected 2 or 4";
  return recipe.result({panelsOf(shape[0]), (*tile + 2) * (*tile + 2), shape[1], panelColumns});
}

std::unique_ptr<ParameterReader> openPackWinograd(const Recipe &recipe, RankedTensorType type, Readers sources) {
  return openWinograd(type, std::move(sources[0]), recipe.option("tile"));
}

FailureOr<RankedTensorType> packDepthwiseType(const Recipe &recipe) {
  if (recipe.shape().size() < 3 || recipe.shape()[1] != 1)
    return recipe.error() << "has a source of type " << recipe.first() << ", expected [C, 1, taps..]";
  return recipe.result({product(recipe.shape().drop_front(2)), recipe.shape()[0]});
}

std::unique_ptr<ParameterReader> openPackDepthwise(const Recipe &recipe, RankedTensorType type, Readers sources) {
  int64_t taps = type.getShape()[0], channels = type.getShape()[1];
  return openRows(type, std::move(sources[0]), [=](int64_t tap) -> SourceRow { return {tap, taps, channels}; });
}

FailureOr<RankedTensorType> packRecurrentType(const Recipe &recipe) {
  if (recipe.shape().size() != 3)
    return recipe.error() << "has a source of type " << recipe.first() << ", expected rank 3";
  FailureOr<int64_t> gates = recipe.number("gates", 1, 16);
  if (failed(gates))
    return failure();
  int64_t rows = recipe.shape()[1];
  if (rows % *gates)
    return recipe.error() << "has " << rows << " rows, which " << *gates << " gates do not divide";
  return recipe.result({recipe.shape()[0], panelsOf(rows / *gates), recipe.shape()[2], *gates, panelColumns});
}

std::unique_ptr<ParameterReader> openPackRecurrent(const Recipe &recipe, RankedTensorType type, Readers sources) {
  int64_t gates = recipe.option("gates"), hidden = recipe.shape()[1] / gates, columns = recipe.shape()[2], panels = panelsOf(hidden);
  return openRows(type, std::move(sources[0]), [=](int64_t row) -> SourceRow {
    int64_t gate = row % gates, column = row / gates % columns, panel = row / gates / columns % panels;
    int64_t direction = row / gates / columns / panels, first = panel * panelColumns;
    return {((direction * gates + gate) * hidden + first) * columns + column, columns, std::min(panelColumns, hidden - first)};
  });
}

constexpr RecipeKind kRecipes[] = {
    {"transpose", 1, transposeType, openTranspose},
    {"reshape", 1, reshapeType, openReshape},
    {"slice", 1, sliceType, openSlice},
    {"concat", 2, concatType, openConcat},
    {"convert", 1, convertType, openConvert},
    {"mul_channel", 2, mulChannelType, openMulChannel},
    {"pack_matmul", 1, packMatmulType, openPackMatmul},
    {"pack_strassen", 1, packStrassenType, openPackStrassen},
    {"pack_conv", 1, packConvType, openPackConv},
    {"pack_winograd", 1, packWinogradType, openPackWinograd},
    {"pack_depthwise", 1, packDepthwiseType, openPackDepthwise},
    {"pack_recurrent", 1, packRecurrentType, openPackRecurrent},
};

const RecipeKind *findRecipe(StringRef name) {
  const RecipeKind *found = llvm::find_if(kRecipes, [&](const RecipeKind &kind) { return kind.name == name; });
  return found == std::end(kRecipes) ? nullptr : found;
}

} // namespace

FailureOr<RankedTensorType> inferRecipeType(RecipeAttr attr, ArrayRef<RankedTensorType> sources, Location loc) {
  Recipe recipe{attr, sources, loc};
  const RecipeKind *kind = findRecipe(attr.getKind().getValue());
  if (!kind)
    return recipe.error() << "is not known";
  if (sources.size() != kind->sources)
    return recipe.error() << "has " << sources.size() << " sources, expected " << kind->sources;
  if (llvm::any_of(sources, [](RankedTensorType type) { return !staticByteSize(type); }))
    return recipe.error() << "has a source of unknown size";
  FailureOr<RankedTensorType> type = kind->type(recipe);
  if (succeeded(type) && !staticByteSize(*type))
    return recipe.error() << "gives " << *type << ", which is too large";
  return type;
}

//===- Opening ----------------------------------------------------------------------------------------------------------------===//

/// Chains are a handful long; a longer one is a cycle.
static constexpr unsigned kMaxRecipeDepth = 64;

static FailureOr<std::unique_ptr<ParameterReader>> open(ParameterOp parameter, SymbolTableCollection &symbols, unsigned depth) {
  if (!parameter.getRecipe())
    return openStored(parameter);
  if (depth == 0)
    return parameter.emitOpError() << "is made by a chain of more than " << kMaxRecipeDepth << " recipes";
  Readers readers;
  SmallVector<RankedTensorType> types;
  for (FlatSymbolRefAttr name : parameter.getRecipe()->getSources()) {
    auto source = symbols.lookupNearestSymbolFrom<ParameterOp>(parameter, name);
    if (!source)
      return parameter.emitOpError() << "is made from " << name << ", which is not a `graph.parameter`";
    FailureOr<std::unique_ptr<ParameterReader>> reader = open(source, symbols, depth - 1);
    if (failed(reader))
      return failure();
    types.push_back((*reader)->type());
    readers.push_back(std::move(*reader));
  }
  FailureOr<RankedTensorType> type = inferRecipeType(*parameter.getRecipe(), types, parameter.getLoc());
  if (failed(type))
    return failure();
  if (*type != parameter.tensorType())
    return parameter.emitOpError() << "has the type " << parameter.getType() << ", its recipe gives " << *type;
  const RecipeKind *kind = findRecipe(parameter.getRecipe()->getKind().getValue());
  return kind->open(Recipe{*parameter.getRecipe(), types, parameter.getLoc()}, *type, std::move(readers));
}

FailureOr<std::unique_ptr<ParameterReader>> openParameter(ParameterOp parameter, SymbolTableCollection &symbols) {
  return open(parameter, symbols, kMaxRecipeDepth);
}

LogicalResult materialize(ParameterOp parameter, SymbolTableCollection &symbols, MutableArrayRef<char> out) {
  FailureOr<std::unique_ptr<ParameterReader>> reader = openParameter(parameter, symbols);
  if (failed(reader))
    return failure();
  int64_t count = (*reader)->elementCount();
  if (int64_t(out.size()) != count * (*reader)->elementBytes())
    return parameter.emitOpError() << "has " << count * (*reader)->elementBytes() << " bytes, wanted are " << out.size();
  if (count)
    (*reader)->read(0, 1, count, out.data());
  return success();
}

LogicalResult stream(ParameterOp parameter, SymbolTableCollection &symbols, function_ref<LogicalResult(ArrayRef<char>)> sink,
                     int64_t chunkBytes) {
  FailureOr<std::unique_ptr<ParameterReader>> reader = openParameter(parameter, symbols);
  if (failed(reader))
    return failure();
  int64_t count = (*reader)->elementCount(), bytes = (*reader)->elementBytes();
  int64_t step = std::max<int64_t>(chunkBytes / bytes, 1);
  std::vector<char> chunk(std::min(step, count) * bytes);
  for (int64_t first = 0; first < count; first += step) {
    int64_t n = std::min(step, count - first);
    (*reader)->read(first, 1, n, chunk.data());
    if (failed(sink(ArrayRef<char>(chunk).take_front(n * bytes))))
      return failure();
  }
  return success();
}

} // namespace stator::graph
