// DEPS: stator::compiler::Import::Torch::Aten
#include "test/unit/Catch.h"

#include "compiler/Import/Torch/Aten/OpCall.h"
#include "compiler/Import/Torch/Aten/ScalarTypes.h"

using namespace stator;
using namespace stator::torch;

TEST_CASE("schemas are read as PyTorch writes them") {
  Schema schema =
      parseSchema("conv.padding(Tensor input, Tensor? bias=None, SymInt[2] stride=1, str padding=\"valid\", Tensor?[] extra=[], "
                  "float[]? scales=None, *, ScalarType? dtype=None, bool flag=False, Scalar alpha=1, float eps=1e-05) -> (Tensor, Tensor)");
  CHECK(schema.fullName() == "conv.padding");
  REQUIRE(schema.parameters.size() == 10);
  CHECK(schema.parameters[1].isOptional);
  CHECK(schema.parameters[2].length == 2);
  CHECK(schema.parameters[2].defaultValue->asList().items.size() == 2);
  CHECK(schema.parameters[3].defaultValue->asString() == "valid");
  CHECK(schema.parameters[4].hasOptionalItems);
  CHECK(schema.parameters[5].isOptional);
  CHECK(schema.parameters[6].isKeywordOnly);
  CHECK(schema.parameters[9].defaultValue->asFloat().number == 1e-5);
}

TEST_CASE("arguments are bound by position and name") {
  Schema schema = parseSchema("f(int[2] size, float scale=2, *, bool flag=False, ScalarType? dtype=None) -> Tensor");
  Result<Values> bound = bindArguments(schema, {Value::integer(3)}, {{"flag", Value::boolean(true)}}, Conversions::None);
  REQUIRE(bound.ok());
  CHECK((*bound)[0].asList().items.size() == 2);
  CHECK((*bound)[1].asFloat().number == 2);
  CHECK((*bound)[2].knownBool() == true);
  CHECK((*bound)[3].isNone());

  auto message = [&](Values positional, std::vector<KeywordArgument> keywords) {
    return bindArguments(schema, positional, keywords, Conversions::None).status().message();
  };
  CHECK(message({}, {}) == "`f`: argument `size` (list of int) is missing");
  CHECK(message({Value::string("x")}, {}) == "`f`: argument `size` is str, expected list of int");
  CHECK(message({Value::integer(1), Value::integer(2)}, {}) == "`f`: argument `scale` is int, expected float");
  CHECK(message({Value::integer(1), Value::real(2), Value::boolean(true)}, {}) == "`f`: got 3 positional arguments, expected at most 2");
  CHECK(message({Value::integer(1)}, {{"size", Value::integer(1)}}) == "`f`: argument `size` is given twice");
  CHECK(message({Value::integer(1)}, {{"nothing", Value::none()}}) == "`f`: there is no argument `nothing`");
  CHECK(bindArguments(schema, {Value::integer(1), Value::integer(2)}, {}, Conversions::Allowed).ok());
}

TEST_CASE("types promote as in PyTorch") {
  trace::Builder b;
  Context context(b);
  int count = 0;
  auto tensor = [&](ElementType type, bool hasDims) {
    return context.make(b.input("x" + std::to_string(++count), type, hasDims ? trace::Dims{2} : trace::Dims{}));
  };
  auto type = [&](std::vector<TensorRef> operands) { return resultType(operands); };
  TensorRef one = context.wrapNumber(Value::integer(1)), half = context.wrapNumber(Value::real(0.5)),
            yes = context.wrapNumber(Value::boolean(true));
  using E = ElementType;
  // torch.result_type of 1.13 for the same operands.
  CHECK(type({tensor(E::I64, true), half}) == E::F32);
  CHECK(type({tensor(E::F16, true), half}) == E::F16);
  CHECK(type({tensor(E::U8, true), one}) == E::U8);
  CHECK(type({tensor(E::I1, true), one}) == E::I64);
  CHECK(type({tensor(E::I1, true), yes}) == E::I1);
  CHECK(type({tensor(E::F32, true), tensor(E::F64, false)}) == E::F32);
  CHECK(type({tensor(E::I64, true), tensor(E::F64, false)}) == E::F64);
  CHECK(type({tensor(E::I32, true), tensor(E::I64, false)}) == E::I32);
  CHECK(type({tensor(E::I32, false), one}) == E::I32);
  CHECK(type({tensor(E::F16, true), tensor(E::BF16, true)}) == E::F32);
  CHECK(type({tensor(E::U8, true), tensor(E::I8, true)}) == E::I16);
  CHECK(type({one, half}) == E::F32);
}

TEST_CASE("strides decide whether a view needs a copy") {
  using trace::Dims;
  CHECK(viewStrides({2, 3, 4}, {12, 4, 1}, {6, 4}) == Dims{4, 1});
  CHECK_FALSE(viewStrides({3, 2}, {1, 3}, {6}));
  CHECK(viewStrides({2, 3, 4}, {24, 4, 1}, {2, 12}) == Dims{24, 1});
  CHECK_FALSE(viewStrides({2, 3, 4}, {24, 4, 1}, {24}));
  CHECK(viewStrides({4, 1, 3}, {3, 99, 1}, {12}) == Dims{1});
  CHECK(isContiguous({1, 3}, {77, 1}));
  CHECK_FALSE(isContiguous({2, 3}, {1, 2}));
  trace::Dim n = trace::Dim::symbol("N");
  CHECK(viewStrides({n, 3, 4}, {24, 4, 1}, {n, 12}) == Dims{24, 1});
}

TEST_CASE("both numberings of element types") {
  CHECK(elementTypeOf(6) == ElementType::F32);
  CHECK(elementTypeOf(15) == ElementType::BF16);
  CHECK_FALSE(elementTypeOf(9));
  CHECK_FALSE(elementTypeOf(99));
  CHECK(scalarTypeOfExport(7) == 6);
  CHECK(scalarTypeOfExport(13) == 15);
  CHECK(scalarTypeOfExport("FLOAT") == 6);
  CHECK_FALSE(scalarTypeOfExport(0));
  CHECK(scalarTypeName(24) == "torch.float8_e4m3fn");
  CHECK(scalarTypeNamed("torch.int64") == 4);
  CHECK(scalarTypeOf(ElementType::I1) == 11);
}
