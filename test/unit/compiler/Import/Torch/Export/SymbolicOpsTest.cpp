// DEPS: stator::compiler::Import::Torch::Export stator::dialects::Graph::Interpreter
#include "test/unit/compiler/Import/Torch/Export/ExportCase.h"

using namespace stator;
using namespace stator::test;

namespace {

const std::string s0 = "Symbol('s0', positive=True, integer=True)";

/// Nodes on n, the size of x, and i, an element; the value of `result`.
double compute(const Texts &nodes, const std::string &result, int64_t n = 3, double element = 4, const std::string &sizes = "") {
  Texts all = {node("torch.ops.aten.sym_size.int", {{"self", asTensor("x")}, {"dim", asInt(0)}}, {asSymInt("n")}),
               node("torch.ops.aten.item.default", {{"self", asTensor("e")}}, {asSymInt("i")})};
  all.insert(all.end(), nodes.begin(), nodes.end());
  ProgramParts parts{.graph = {.inputs = {asTensor("x"), asTensor("e")},
                               .outputs = {result},
                               .nodes = all,
                               .tensors = {{"x", floats({s0})}, {"e", meta(5, {}, {})}},
                               .sizes = sizes}};
  return Imported(archiveOf(parts))
      .run({tensorOf({n}, Numbers(size_t(n), 0)), tensorOf({}, {element}, ElementType::I64)})
      .front()
      .reals()[0];
}
std::string binary(const std::string &op, const std::string &a, const std::string &b, const std::string &result) {
  return node(op, {{"a", a}, {"b", b}}, {asSymInt(result)});
}
double numberOf(const std::string &op, const std::string &a, const std::string &b) {
  return compute({binary(op, a, b, "r")}, asSymInt("r"));
}
double numberOf(const std::string &op, const std::string &a) { return compute({node(op, {{"a", a}}, {asSymInt("r")})}, asSymInt("r")); }

const std::string n = asSymInt("n"), i = asSymInt("i"); // 3 and 4

} // namespace

TEST_CASE("arithmetic on sizes, numbers and data") {
  for (const std::string &three : {n, asInt(3)}) {
    CHECK(numberOf("_operator.add", three, asInt(4)) == 7);
    CHECK(numberOf("_operator.sub", three, asInt(4)) == -1);
    CHECK(numberOf("_operator.mul", three, i) == 12);
    CHECK(numberOf("_operator.floordiv", three, asInt(2)) == 1);
    CHECK(numberOf("_operator.floordiv", i, three) == 1);
    CHECK(numberOf("_operator.mod", i, three) == 1);
    CHECK(numberOf("_operator.mod", three, asInt(2)) == 1);
    CHECK(numberOf("_operator.truediv", three, asInt(2)) == 1.5);
    CHECK(numberOf("_operator.truediv", i, three) == 4.0 / 3);
    CHECK(numberOf("_operator.pow", three, asInt(2)) == 9);
    CHECK(numberOf("_operator.neg", three) == -3);
    CHECK(numberOf("_operator.pos", three) == 3);
    CHECK(numberOf("_operator.abs", three) == 3);
    CHECK(numberOf("torch.sym_max", three, i) == 4);
    CHECK(numberOf("torch.sym_min", three, i) == 3);
    CHECK(numberOf("torch.sym_max", three, asInt(2)) == 3);
    CHECK(numberOf("torch.sym_float", three) == 3);
    CHECK(numberOf("torch.sym_int", three) == 3);
    CHECK(numberOf("_operator.add", three, asFloat("0.5")) == 3.5);
    CHECK(numberOf("torch._sym_sqrt", three) == std::sqrt(3.0));
  }
  CHECK(numberOf("_operator.floordiv", asFloat("-3.5"), asInt(2)) == -2);
  CHECK(numberOf("_operator.mod", asFloat("-3.5"), asInt(2)) == 0.5);
  CHECK(numberOf("math.trunc", asFloat("-1.5")) == -1);
  CHECK(numberOf("math.floor", asFloat("-1.5")) == -2);
  CHECK(numberOf("math.ceil", asFloat("-1.5")) == -1);
  CHECK(numberOf("builtins.round", asFloat("2.5")) == 2);
  CHECK(compute({node("torch.sym_sum", {{"args", R"({"as_sym_ints":[{"as_name":"n"},{"as_int":2},{"as_name":"i"}]})"}}, {asSymInt("r")})},
                asSymInt("r")) == 9);
}

TEST_CASE("comparisons and choices") {
  for (const std::string &three : {n, asInt(3)})
    for (const std::string &four : {i, asInt(4)}) {
      CHECK(numberOf("_operator.lt", three, four) == 1);
      CHECK(numberOf("_operator.le", three, four) == 1);
      CHECK(numberOf("_operator.gt", three, four) == 0);
      CHECK(numberOf("_operator.ge", three, four) == 0);
      CHECK(numberOf("_operator.eq", three, four) == 0);
      CHECK(numberOf("_operator.ne", three, four) == 1);
    }
  CHECK(numberOf("_operator.eq", n, n) == 1);
  CHECK(numberOf("torch.sym_not", R"({"as_bool":true})") == 0);
  CHECK(numberOf("_operator.not_", i) == 0);
  CHECK(numberOf("_operator.and_", R"({"as_bool":true})", R"({"as_bool":false})") == 0);
  auto onData = [](const std::string &op, const std::string &known) {
    return compute({binary("_operator.gt", i, asInt(2), "c"), binary(op, asSymInt("c"), known, "r")}, asSymInt("r"));
  };
  CHECK(onData("_operator.and_", R"({"as_bool":true})") == 1);
  CHECK(onData("_operator.or_", R"({"as_bool":false})") == 1);
  CHECK(onData("_operator.and_", i) == 1);
  auto chosen = [](const std::string &condition) {
    return compute({binary("_operator.gt", i, asInt(2), "c"),
                    node("torch.sym_ite", {{"b", condition}, {"t", n}, {"f", asFloat("9.5")}}, {asSymInt("r")})},
                   asSymInt("r"));
  };
  CHECK(chosen(R"({"as_bool":true})") == 3);
  CHECK(chosen(R"({"as_bool":false})") == 9.5);
  CHECK(chosen(asSymInt("c")) == 3);
}

TEST_CASE("a size that went through floating point is known again where the file says what it is") {
  Texts nodes = {
      binary("_operator.truediv", n, asInt(2), "h"), node("math.ceil", {{"a", asSymInt("h")}}, {asSymInt("m")}),
      node("torch.ops.aten.full.default", {{"size", R"({"as_sym_ints":[{"as_name":"m"}]})"}, {"fill_value", asInt(1)}}, {asTensor("f")}),
      aten("sum.default", {{"self", asTensor("f")}}, "t")};
  std::string sizes = R"x("m":{"as_expr":{"expr_str":"CeilToInt(IntTrueDiv()x" + s0 + R"x(, Integer(2)))","hint":null}})x";
  CHECK(compute(nodes, asTensor("t"), 3, 4, sizes) == 2);
  CHECK(compute(nodes, asTensor("t"), 8, 4, sizes) == 4);
}

TEST_CASE("facts that an exporter relied on are no computation") {
  CHECK(compute({node("torch.ops.aten._assert_scalar.default", {{"self", n}, {"assert_msg", R"({"as_string":"m"})"}}, {}),
                 node("torch.ops.aten._assert_tensor_metadata.default", {{"a", asTensor("x")}, {"dtype", R"({"as_scalar_type":7})"}}, {}),
                 node("torch.ops.aten.sym_constrain_range_for_size.default", {{"size", i}}, {}),
                 node("torch.ops.aten.sym_numel.default", {{"self", asTensor("x")}}, {asSymInt("r")})},
                asSymInt("r")) == 3);
  CHECK(compute({node("torch.ops.aten.sym_stride.int", {{"self", asTensor("x")}, {"dim", asInt(-1)}}, {asSymInt("r")})}, asSymInt("r")) ==
        1);
  CHECK(compute({node("torch.ops.aten.sym_storage_offset.default", {{"self", asTensor("x")}}, {asSymInt("r")})}, asSymInt("r")) == 0);
}

TEST_CASE("arithmetic that is not well formed") {
  auto refusesNode = [](const std::string &text, const std::string &part) {
    refuses(archiveOf(ProgramParts{
                .graph = {.inputs = {asTensor("x")}, .outputs = {asSymInt("r")}, .nodes = {text}, .tensors = {{"x", floats({"2"})}}}}),
            StatusCode::InvalidFile, part);
  };
  for (const char *op : {"add", "lt", "and_"})
    refusesNode(node(std::string("_operator.") + op, {{"a", asInt(1)}}, {asSymInt("r")}), "has 1 arguments, expected 2");
  for (const char *op : {"torch.sym_float", "torch.sym_int", "_operator.not_"})
    refusesNode(binary(op, asInt(1), asInt(1), "r"), "has 2 arguments, expected 1");
  refusesNode(binary("torch.sym_ite", asInt(1), asInt(1), "r"), "has 2 arguments, expected 3");
  refusesNode(binary("_operator.pos", asInt(1), asInt(1), "r"), "expected one argument");
  refusesNode(node("torch.sym_sum", {{"a", asInt(1)}}, {asSymInt("r")}), "expected one list");
  refusesNode(binary("_operator.add", asTensor("x"), asInt(1), "r"), "an operand is Tensor, expected a number");
  refusesNode(binary("_operator.floordiv", asInt(1), asInt(0), "r"), "a size cannot be computed");
  refusesNode(node("math.floor", {{"a", asFloat("\"Infinity\"")}}, {asSymInt("r")}), "is no integer");
}

TEST_CASE("sizes that depend on data are refused") {
  ProgramParts parts{
      .graph = {.inputs = {asTensor("e")},
                .outputs = {asTensor("f")},
                .nodes = {node("torch.ops.aten.item.default", {{"self", asTensor("e")}}, {asSymInt("u")}),
                          node("torch.ops.aten.full.default", {{"size", R"({"as_sym_ints":[{"as_name":"u"}]})"}, {"fill_value", asInt(1)}},
                               {asTensor("f")})},
                .tensors = {{"e", meta(5, {}, {})}, {"f", floats({"Symbol('u0', integer=True)"})}},
                .sizes = R"x("u":{"as_expr":{"expr_str":"Symbol('u0', integer=True)","hint":null}})x"}};
  refuses(archiveOf(parts), StatusCode::Unsupported, "depends on the values of a tensor");
}

TEST_CASE("numbers that the caller gives are data, or constants by option") {
  ProgramParts parts{.graph = {.inputs = {asSymInt("n"), R"({"as_sym_float":{"as_name":"f"}})"},
                               .outputs = {asSymInt("r")},
                               .nodes = {binary("_operator.mul", asSymInt("n"), R"({"as_sym_float":{"as_name":"f"}})", "r")},
                               .tensors = {}},
                     .inputSpecs = {R"({"user_input":{"arg":{"as_sym_int":{"as_name":"n"}}}})",
                                    R"({"user_input":{"arg":{"as_sym_float":{"as_name":"f"}}}})"}};
  Imported imported(archiveOf(parts));
  CHECK(imported.run({tensorOf({}, {3}, ElementType::I64), tensorOf({}, {0.5}, ElementType::F64)}).front().reals() == Numbers{1.5});
  CHECK(imported.names(false) == Texts{"n", "f"});
  compiler::ImportOptions options;
  options.constants = {{.name = "n", .text = "4"}, {.name = "f", .text = "0.25"}};
  CHECK(Imported(archiveOf(parts), options).run({}).front().reals() == Numbers{1});
  options.constants[0].text = "four";
  refuses(archiveOf(parts), StatusCode::InvalidArgument, "is a number in the program, which `four` is not", options);
  parts.graph.inputs[0] = R"({"as_custom_obj":{"name":"n","class_fqn":"c"}})";
  parts.inputSpecs[0] = R"({"user_input":{"arg":{"as_custom_obj":{"name":"n","class_fqn":"c"}}}})";
  parts.graph.outputs = {asTensor("n")};
  parts.graph.nodes = {};
  CHECK(!Imported(archiveOf(parts)).model.status.ok());
}
