// DEPS: stator::dialects::Graph
// Tensor types and their sizes; creating operations from unchecked operands.
#include "test/unit/Catch.h"

#include "dialects/Graph/GraphOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace stator;
using namespace stator::graph;

namespace {
struct Fixture {
  MLIRContext context;
  Fixture() { context.loadDialect<GraphDialect, func::FuncDialect>(); }
  Type f32() { return Float32Type::get(&context); }
};
} // namespace

TEST_CASE_METHOD(Fixture, "types without symbols are plain", "[shapes]") {
  DimExpr n = DimExpr::symbol("N");
  RankedTensorType plain = tensorType(ArrayRef<DimExpr>{2, 3}, f32());
  CHECK(plain == RankedTensorType::get({2, 3}, f32()));
  CHECK(!plain.getEncoding());
  RankedTensorType named = tensorType(ArrayRef<DimExpr>{n * 2, 3}, f32());
  CHECK(named.isDynamicDim(0));
  CHECK(named.getDimSize(1) == 3);
  CHECK(dimOf(named, 0) == n * 2);
  CHECK(dimOf(named, 1) == DimExpr(3));
  CHECK(named == tensorType(dimsOf(named), f32()));
  CHECK(isGraphTensor(named));
  CHECK(!isGraphTensor(RankedTensorType::get({ShapedType::kDynamic}, f32())));
  CHECK(!isGraphTensor(UnrankedTensorType::get(f32())));
}

TEST_CASE_METHOD(Fixture, "equal sizes make equal types", "[shapes]") {
  DimExpr n = DimExpr::symbol("N"), m = DimExpr::symbol("M");
  CHECK(tensorType(ArrayRef<DimExpr>{(n + m) * 2}, f32()) == tensorType(ArrayRef<DimExpr>{m * 2 + n * 2}, f32()));
  CHECK(tensorType(ArrayRef<DimExpr>{n}, f32()) != tensorType(ArrayRef<DimExpr>{m}, f32()));
  CHECK(tensorType(ArrayRef<DimExpr>{n - n + 4}, f32()) == RankedTensorType::get({4}, f32()));
}

TEST_CASE_METHOD(Fixture, "impossible sizes have no type", "[shapes]") {
  DimExpr big = int64_t(1) << 40;
  CHECK(!tensorType(ArrayRef<DimExpr>{DimExpr(-1)}, f32()));
  CHECK(!tensorType(ArrayRef<DimExpr>{big * big}, f32()));
  CHECK(!tensorType(ArrayRef<int64_t>{-5}, f32()));
}

TEST_CASE_METHOD(Fixture, "counts and byte sizes do not overflow", "[shapes]") {
  CHECK(staticElementCount(RankedTensorType::get({2, 3}, f32())) == 6);
  CHECK(staticByteSize(RankedTensorType::get({2, 3}, f32())) == 24);
  CHECK(staticByteSize(RankedTensorType::get({}, IntegerType::get(&context, 1))) == 1);
  int64_t big = int64_t(1) << 40;
  CHECK(!staticElementCount(RankedTensorType::get({big, big}, f32())));
  CHECK(!staticByteSize(RankedTensorType::get({big, int64_t(1) << 22}, f32())));
  CHECK(staticElementCount(RankedTensorType::get({big, big, 0}, f32())) == 0);
  CHECK(!staticElementCount(tensorType(ArrayRef<DimExpr>{DimExpr::symbol("N")}, f32())));
  CHECK(elementCount(tensorType(ArrayRef<DimExpr>{DimExpr::symbol("N"), 4}, f32())).str() == "4*N");
}

TEST_CASE_METHOD(Fixture, "element types map both ways", "[shapes]") {
  for (ElementType type : kAllElementTypes) {
    Type mlirType = toMlirType(type, &context);
    CHECK(isSupportedElement(mlirType));
    CHECK(elementTypeOf(mlirType) == type);
  }
  CHECK(!isSupportedElement(IntegerType::get(&context, 24)));
  CHECK(!isSupportedElement(IntegerType::get(&context, 32, IntegerType::Unsigned)));
}

TEST_CASE_METHOD(Fixture, "ranges of symbols have defaults", "[shapes]") {
  auto module = parseSourceString<ModuleOp>(R"(
    func.func private @f(tensor<?x?xf32, #graph.dims<["N", "M"]>>) attributes {graph.symbols = [#graph.symbol<"N", 1, 64>]})",
                                            &context);
  REQUIRE(module);
  auto method = module->lookupSymbol<func::FuncOp>("f");
  auto ranges = allSymbolRanges(method);
  REQUIRE(ranges.size() == 2);
  CHECK(ranges["N"].lo == 1);
  CHECK(ranges["N"].hi == 64);
  CHECK(ranges["M"].lo == kDefaultSymbolMin);
  CHECK(ranges["M"].hi == kDefaultSymbolMax);
  CHECK(symbolRanges(method).size() == 1);
}

TEST_CASE_METHOD(Fixture, "operations from unchecked operands", "[shapes]") {
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  OpBuilder builder(module->getBodyRegion());
  Location loc = builder.getUnknownLoc();
  std::string text;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    text += diagnostic.str() + "\n";
    return success();
  });
  Value two = ConstantOp::create(builder, loc, DenseElementsAttr::get(RankedTensorType::get({2}, f32()), 1.0f));
  Value three = ConstantOp::create(builder, loc, DenseElementsAttr::get(RankedTensorType::get({3}, f32()), 1.0f));
  size_t before = module->getBody()->getOperations().size();

  CHECK(failed(tryCreate<AddOp>(builder, loc, {two, three})));
  CHECK_THAT(text, Catch::Matchers::Contains("has operands of types 'tensor<2xf32>' and 'tensor<3xf32>', which must be equal"));
  CHECK(failed(tryCreate<NotOp>(builder, loc, {two})));
  CHECK_THAT(text, Catch::Matchers::Contains("operand #0 must be tensor of integers or i1"));
  CHECK(failed(tryCreate<ReshapeOp>(builder, loc, {two}, {}, TypeRange(RankedTensorType::get({5}, f32())))));
  CHECK(failed(tryCreateOp(builder, loc, "graph.frobnicate", {two}, {})));
  CHECK_THAT(text, Catch::Matchers::Contains("there is no operation `graph.frobnicate`"));
  CHECK(module->getBody()->getOperations().size() == before);

  FailureOr<ConcatOp> concat =
      tryCreate<ConcatOp>(builder, loc, {two, three}, {builder.getNamedAttr("axis", builder.getI64IntegerAttr(0))});
  REQUIRE(succeeded(concat));
  CHECK(concat->getType() == RankedTensorType::get({5}, f32()));
  // An optional operand that is absent is a null value.
  FailureOr<LayerNormOp> norm = tryCreate<LayerNormOp>(
      builder, loc, {two, Value(), two},
      {builder.getNamedAttr("axis", builder.getI64IntegerAttr(0)), builder.getNamedAttr("epsilon", builder.getF64FloatAttr(1e-5))});
  REQUIRE(succeeded(norm));
  CHECK(!norm->getScale());
  CHECK(norm->getBias() == two);
}
