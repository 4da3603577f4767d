// DEPS: stator::compiler::Import::Torch::Export stator::dialects::Graph::Interpreter
#include "test/unit/compiler/Import/Torch/Export/ExportCase.h"

using namespace stator;
using namespace stator::test;

namespace {

const std::string s0 = "Symbol('s0', positive=True, integer=True)";

std::string higherOrder(const std::string &op, const Texts &arguments, const Texts &outputs) {
  std::vector<std::pair<std::string, std::string>> unnamed;
  for (const std::string &argument : arguments)
    unnamed.emplace_back("", argument);
  return node("torch.ops.higher_order." + op, unnamed, outputs);
}
/// r = op(v, number); a graph of one input.
GraphParts simple(const std::string &op, int64_t number) {
  return {.inputs = {asTensor("v")},
          .outputs = {asTensor("r")},
          .nodes = {aten(op, {{"self", asTensor("v")}, {"other", asInt(number)}}, "r")},
          .tensors = {}};
}
ProgramParts program(const Texts &nodes, const Texts &outputs, const std::vector<std::pair<std::string, std::string>> &inputs) {
  ProgramParts parts{.graph = {.outputs = outputs, .nodes = nodes, .tensors = inputs}};
  for (const auto &[name, text] : inputs)
    parts.graph.inputs.push_back(asTensor(name));
  return parts;
}

} // namespace

TEST_CASE("cond picks a branch by data; names of the branches are their own") {
  GraphParts onTrue = simple("add.Tensor", 1), onFalse = simple("mul.Tensor", 2);
  for (const std::string &output : {asTensor("r"), asTensors({"r"})}) { // torch 2.6 writes a single result as a list
    ArchiveParts archive = archiveOf(program(
        {aten("sum.default", {{"self", asTensor("x")}}, "v"), aten("gt.Scalar", {{"self", asTensor("v")}, {"other", asInt(0)}}, "p"),
         higherOrder("cond", {asTensor("p"), asGraph("t", onTrue), asGraph("f", onFalse), asTensors({"x"})}, {output})},
        {asTensor("r")}, {{"x", floats({"2"})}}));
    Imported imported(archive);
    CHECK(imported.run({tensorOf({2}, {1, 2})}).front().reals() == Numbers{2, 3});
    CHECK(imported.run({tensorOf({2}, {-1, -2})}).front().reals() == Numbers{-2, -4});
  }
  ProgramParts known = program(
      {higherOrder("cond", {R"({"as_bool":false})", asGraph("t", onTrue), asGraph("f", onFalse), asTensors({"x"})}, {asTensor("r")})},
      {asTensor("r")}, {{"x", floats({"2"})}});
  CHECK(Imported(archiveOf(known)).run({tensorOf({2}, {1, 2})}).front().reals() == Numbers{2, 4});
}

TEST_CASE("parts that are not supported are found in both branches") {
  GraphParts broken = simple("no_such.Tensor", 1);
  Imported imported(archiveOf(
      program({aten("any.default", {{"self", asTensor("x")}}, "p"),
               higherOrder("cond", {asTensor("p"), asGraph("t", broken), asGraph("f", simple("nor_this.Tensor", 1)), asTensors({"x"})},
                           {asTensor("r")})},
              {asTensor("r")}, {{"x", floats({"2"})}})));
  CHECK(imported.model.unsupported.size() == 2);
  // And where the condition itself is not.
  Imported unknown(
      archiveOf(program({aten("no_such.default", {{"self", asTensor("x")}}, "p"),
                         higherOrder("cond", {asTensor("p"), asGraph("t", broken), asGraph("f", simple("add.Tensor", 1)), asTensors({"x"})},
                                     {asTensor("r")})},
                        {asTensor("r")}, {{"x", floats({"2"})}})));
  CHECK(unknown.model.unsupported.size() == 2);
}

TEST_CASE("while_loop goes on as long as data says") {
  GraphParts condition{.inputs = {asTensor("i"), asTensor("v"), asTensor("step")},
                       .outputs = {asTensor("c")},
                       .nodes = {aten("gt.Scalar", {{"self", asTensor("i")}, {"other", asInt(0)}}, "c")},
                       .tensors = {}};
  GraphParts body{.inputs = {asTensor("i"), asTensor("v"), asTensor("step")},
                  .outputs = {asTensor("j"), asTensor("w")},
                  .nodes = {aten("sub.Tensor", {{"self", asTensor("i")}, {"other", asInt(1)}}, "j"),
                            aten("add.Tensor", {{"self", asTensor("v")}, {"other", asTensor("step")}}, "w")},
                  .tensors = {}};
  ProgramParts parts =
      program({higherOrder("while_loop", {asGraph("c", condition), asGraph("b", body), asTensors({"n", "x"}), asTensors({"s"})},
                           {asTensor("a"), asTensor("b")})},
              {asTensor("b")}, {{"n", meta(5, {}, {})}, {"x", floats({"2"})}, {"s", floats({"2"})}});
  Imported imported(archiveOf(parts));
  auto run = [&](double times) {
    return imported.run({tensorOf({}, {times}, ElementType::I64), tensorOf({2}, {1, 2}), tensorOf({2}, {10, 20})}).front().reals();
  };
  CHECK(run(0) == Numbers{1, 2});
  CHECK(run(3) == Numbers{31, 62});
}

TEST_CASE("scan over short known, long and symbolic lengths") {
  // carry + x, and the sum so far times a factor.
  GraphParts combine{.inputs = {asTensor("c"), asTensor("x"), asTensor("f")},
                     .outputs = {asTensor("s"), asTensor("y")},
                     .nodes = {aten("add.Tensor", {{"self", asTensor("c")}, {"other", asTensor("x")}}, "s"),
                               aten("mul.Tensor", {{"self", asTensor("s")}, {"other", asTensor("f")}}, "y")},
                     .tensors = {{"y", floats({"1"})}}};
  for (const std::string &length : {std::string("3"), std::string("70"), s0}) {
    ProgramParts parts =
        program({higherOrder("scan", {asGraph("g", combine), asTensors({"c"}), asTensors({"x"}), asTensors({"f"})},
                             {asTensor("last"), asTensor("all")})},
                {asTensor("last"), asTensor("all")}, {{"c", floats({"1"})}, {"x", floats({length, "1"})}, {"f", floats({"1"})}});
    Imported imported(archiveOf(parts));
    int64_t count = length == s0 ? 3 : std::stoll(length);
    Numbers xs, sums;
    for (int64_t i = 1; i <= count; ++i) {
      xs.push_back(double(i));
      sums.push_back(2 * (100 + double(i * (i + 1)) / 2));
    }
    auto results = imported.run({tensorOf({1}, {100}), tensorOf({count, 1}, xs), tensorOf({1}, {2})});
    CHECK(results[0].reals() == Numbers{100 + double(count * (count + 1)) / 2});
    CHECK(results[1].reals() == sums);
  }
}

TEST_CASE("map_impl stacks the results of every row") {
  GraphParts body = simple("add.Tensor", 1);
  ProgramParts parts = program({higherOrder("map_impl", {asGraph("g", body), asTensors({"x"}), asTensors({})}, {asTensor("y")})},
                               {asTensor("y")}, {{"x", floats({"2", "2"})}});
  CHECK(Imported(archiveOf(parts)).run({tensorOf({2, 2}, {1, 2, 3, 4})}).front().reals() == Numbers{2, 3, 4, 5});
}

TEST_CASE("wrappers are inlined") {
  GraphParts body = simple("add.Tensor", 1);
  auto run = [&](const std::string &op, const Texts &arguments) {
    return Imported(archiveOf(program({higherOrder(op, arguments, {asTensor("y")})}, {asTensor("y")}, {{"x", floats({"1"})}})))
        .run({tensorOf({1}, {1})})
        .front()
        .reals();
  };
  CHECK(run("wrap_with_set_grad_enabled", {R"({"as_bool":false})", asGraph("g", body), asTensor("x")}) == Numbers{2});
  CHECK(run("invoke_subgraph", {asGraph("g", body), R"({"as_string":"g_0"})", asTensor("x")}) == Numbers{2});
  CHECK(run("wrap_with_autocast", {R"({"as_string":"cpu"})", R"({"as_scalar_type":13})", R"({"as_bool":true})", R"({"as_none":true})",
                                   asGraph("g", body), asTensor("x")}) == Numbers{2});
}

TEST_CASE("higher-order operators that are not well formed") {
  GraphParts body = simple("add.Tensor", 1);
  auto refusesNode = [&](const std::string &op, const Texts &arguments, StatusCode code, const std::string &part) {
    refuses(archiveOf(program({higherOrder(op, arguments, {asTensor("y")})}, {asTensor("y")}, {{"x", floats({"2"})}, {"z", floats({})}})),
            code, part);
  };
  refusesNode("cond", {}, StatusCode::InvalidFile, "has no condition");
  refusesNode("cond", {asTensor("x"), asTensor("x")}, StatusCode::InvalidFile, "argument 1 is no graph");
  refusesNode("cond", {asTensor("z"), asGraph("t", body), asGraph("f", body), asTensor("x")}, StatusCode::InvalidFile,
              "argument 3 is Tensor, expected a list");
  refusesNode("cond", {R"({"as_string":"a"})", asGraph("t", body), asGraph("f", body), asTensors({"x"})}, StatusCode::InvalidFile,
              "the condition is str, expected a boolean");
  refusesNode("cond", {asTensor("x"), asGraph("t", body), asGraph("f", body), asTensors({"x"})}, StatusCode::InvalidFile,
              "has no single value");
  refusesNode("wrap", {asGraph("g", body)}, StatusCode::InvalidFile, "gives 0 values to a graph with 1 inputs");
  refusesNode("wrap_with_autocast", {asGraph("g", body)}, StatusCode::InvalidFile, "has 1 arguments, expected at least 5");
  refusesNode("wrap_with_autocast",
              {R"({"as_string":"cpu"})", R"({"as_scalar_type":10})", R"({"as_bool":true})", R"({"as_none":true})", asGraph("g", body),
               asTensor("x")},
              StatusCode::Unsupported, "autocast to torch.complex64 is not supported");
  refusesNode("map_impl", {asGraph("g", body), asTensors({}), asTensors({})}, StatusCode::Unsupported,
              "a scan over nothing is not supported");
  refusesNode("scan", {asGraph("g", body), asTensors({"z", "z"}), asTensors({"x"}), asTensors({})}, StatusCode::InvalidFile,
              "its graph has 1 outputs for 2 carried values");
}

TEST_CASE("inside of autocast products compute in its type, and only there") {
  GraphParts body{.inputs = {asTensor("v")},
                  .outputs = {asTensor("r")},
                  .nodes = {aten("linear.default", {{"input", asTensor("v")}, {"weight", asTensor("v")}}, "r")}};
  auto types = [&](bool isEnabled) {
    std::string enabled = isEnabled ? R"({"as_bool":true})" : R"({"as_bool":false})";
    Imported imported(archiveOf(program(
        {higherOrder("wrap_with_autocast",
                     {R"({"as_string":"cpu"})", R"({"as_none":true})", enabled, R"({"as_none":true})", asGraph("g", body), asTensor("x")},
                     {asTensor("y")}),
         aten("linear.default", {{"input", asTensor("x")}, {"weight", asTensor("x")}}, "z")},
        {asTensor("y"), asTensor("z")}, {{"x", floats({"2", "2"})}})));
    INFO(imported.model.status.message());
    REQUIRE(imported.model.status.ok());
    std::string text;
    for (mlir::Type type : imported.method().getResultTypes())
      llvm::raw_string_ostream(text) << type << " ";
    return text;
  };
  CHECK(types(true) == "tensor<2x2xbf16> tensor<2x2xf32> ");
  CHECK(types(false) == "tensor<2x2xf32> tensor<2x2xf32> ");
}
