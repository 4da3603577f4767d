// DEPS: stator::compiler::Import::Torch::Export stator::dialects::Graph::Interpreter
#include "compiler/Import/Torch/Export/Program.h"
#include "compiler/Import/Torch/Export/TreeSpec.h"
#include "test/unit/compiler/Import/Torch/Export/ExportCase.h"

using namespace stator;
using namespace stator::test;
using namespace stator::torch::exported;

namespace {

struct Parsed {
  std::optional<JsonDocument> document;
  std::optional<Program> program;
  std::string error;

  explicit Parsed(const std::string &text) {
    Result<JsonDocument> json = JsonDocument::parse(text);
    REQUIRE(json.ok());
    document = std::move(*json);
    Result<Program> result = parseProgram(*document);
    error = result.ok() ? "" : result.status().message();
    if (result.ok())
      program = std::move(*result);
  }
};

/// y = op(x, argument).
ProgramParts withArgument(const std::string &argument) {
  return {.graph = {.inputs = {asTensor("x")},
                    .outputs = {asTensor("y")},
                    .nodes = {aten("add.Tensor", {{"self", asTensor("x")}, {"other", argument}}, "y")},
                    .tensors = {{"x", floats({"2"})}}}};
}
Argument argumentOf(const std::string &text) {
  Parsed parsed(programOf(withArgument(text)));
  INFO(parsed.error);
  REQUIRE(parsed.program);
  return parsed.program->graph.nodes[0].inputs[1].value;
}
void refusesArgument(const std::string &text, const std::string &part) {
  std::string error = Parsed(programOf(withArgument(text))).error;
  INFO("wanted: " << part << "\ngot: " << error);
  CHECK(error.find(part) != std::string::npos);
  CHECK(error.find("argument `other`") != std::string::npos);
}
void refusesProgram(const std::string &text, const std::string &part) {
  std::string error = Parsed(text).error;
  INFO("wanted: " << part << "\ngot: " << error);
  CHECK(error.find(part) != std::string::npos);
}

} // namespace

TEST_CASE("arguments of every kind") {
  CHECK(argumentOf(R"({"as_none":true})").kind == ArgumentKind::None);
  CHECK(argumentOf(asInt(-3)).integer == -3);
  CHECK(argumentOf(asFloat("1.5")).real == 1.5);
  CHECK(argumentOf(asFloat("2")).real == 2);
  CHECK(std::isinf(argumentOf(asFloat("\"-Infinity\"")).real));
  CHECK(std::isnan(argumentOf(asFloat("\"NaN\"")).real));
  CHECK(argumentOf(R"({"as_bool":true})").integer == 1);
  CHECK(argumentOf(R"({"as_string":"mean"})").text == "mean");
  CHECK(argumentOf(R"({"as_ints":[1,2]})").items.size() == 2);
  CHECK(argumentOf(R"({"as_floats":[1.0,"Infinity"]})").items.size() == 2);
  CHECK(argumentOf(R"({"as_bools":[true]})").items[0].kind == ArgumentKind::Bool);
  CHECK(argumentOf(R"({"as_strings":["a"]})").items[0].text == "a");
  CHECK(argumentOf(R"({"as_int_lists":[[1],[]]})").items.size() == 2);
  CHECK(argumentOf(asTensors({})).items.empty());
  CHECK(argumentOf(R"({"as_optional_tensor":{"as_none":true}})").kind == ArgumentKind::None);
  CHECK(argumentOf(R"({"as_optional_tensors":[{"as_none":true},{"as_tensor":{"name":"x"}}]})").items[1].text == "x");
  CHECK(argumentOf(R"({"as_nested_tensors":[[{"name":"x"}]]})").items[0].items[0].text == "x");
  CHECK(argumentOf(asSymInt("n")).kind == ArgumentKind::Reference);
  CHECK(argumentOf(R"({"as_sym_int":{"as_int":4}})").integer == 4);
  CHECK(argumentOf(R"({"as_sym_ints":[{"as_int":4},{"as_name":"n"}]})").items[1].text == "n");
  CHECK(argumentOf(R"({"as_sym_float":{"as_float":0.5}})").real == 0.5);
  CHECK(argumentOf(R"({"as_sym_floats":[{"as_float":0.5}]})").items[0].real == 0.5);
  CHECK(argumentOf(R"({"as_sym_bool":{"as_bool":true}})").integer == 1);
  CHECK(argumentOf(R"({"as_sym_bools":[{"as_bool":true}]})").items.size() == 1);
  CHECK(argumentOf(R"({"as_device":{"type":"cpu","index":null}})").text == "cpu");
  CHECK(argumentOf(R"({"as_device":{"type":"cuda","index":1}})").text == "cuda:1");
  CHECK(argumentOf(R"({"as_string_to_argument":{"k":{"as_int":1}}})").keys[0] == "k");
  CHECK(argumentOf(R"({"as_custom_obj":{"name":"o","class_fqn":"c"}})").kind == ArgumentKind::Unsupported);
}

TEST_CASE("numbers of types are turned into c10's, and names count as well") {
  CHECK(argumentOf(R"({"as_scalar_type":7})").integer == 6);
  CHECK(argumentOf(R"({"as_scalar_type":"FLOAT"})").integer == 6);
  CHECK(argumentOf(R"({"as_scalar_type":12})").integer == 11);
  CHECK(argumentOf(R"({"as_memory_format":1})").integer == 0);
  CHECK(argumentOf(R"({"as_memory_format":2})").integer == 2);
  CHECK(argumentOf(R"({"as_memory_format":4})").integer == 1);
  CHECK(argumentOf(R"({"as_memory_format":"PreserveFormat"})").integer == 1);
  CHECK(argumentOf(R"({"as_layout":7})").integer == 0);
  CHECK(argumentOf(R"({"as_layout":"Strided"})").integer == 0);
}

TEST_CASE("arguments that are not what they say") {
  refusesArgument(R"({"as_int":1,"as_tensor":{"name":"x"}})", "a tagged union has 2 members (`as_int`, `as_tensor`), expected one");
  refusesArgument("{}", "a tagged union has 0 members, expected one");
  refusesArgument(R"({"as_int":"1"})", "an integer is a string, expected an integer");
  refusesArgument(R"({"as_float":"one"})", "a number is written as `one`");
  refusesArgument(R"({"as_float":null})", "a number is null, expected a number");
  refusesArgument(R"({"as_tensor":{"name":""}})", "a value has no name");
  refusesArgument(R"({"as_tensor":{}})", "has no member `name`");
  refusesArgument(R"({"as_sym_int":{"as_expr":"n"}})", "`as_sym_int` is given as `as_expr`");
  refusesArgument(R"({"as_scalar_type":99})", "unknown element type 99");
  refusesArgument(R"({"as_scalar_type":"FLOATY"})", "unknown element type FLOATY");
  refusesArgument(R"({"as_memory_format":9})", "`as_memory_format` has a value that is not known");
  refusesArgument(R"({"as_layout":"Round"})", "`as_layout` has a value that is not known");
}

TEST_CASE("programs that are not well formed") {
  ProgramParts parts = withArgument(asInt(1));
  parts.version = R"({"major":9,"minor":0})";
  refusesProgram(programOf(parts), "schema version 9.0, expected 8.x");
  parts = withArgument(asInt(1));
  parts.inputSpecs = {userInput("x"), userInput("z")};
  refusesProgram(programOf(parts), "the signature has 2 inputs, but the graph has 1");
  parts.inputSpecs = {R"({"gift":{"arg":{"name":"x"}}})"};
  refusesProgram(programOf(parts), "an input is a `gift`, which is not known");
  parts = withArgument(asInt(1));
  parts.outputSpecs = {R"({"smoke":{"arg":{"name":"y"}}})"};
  refusesProgram(programOf(parts), "an output is a `smoke`, which is not known");
  parts = withArgument(asInt(1));
  parts.graph.tensors = {{"x", meta(7, {"2", "3"}, {"1"})}};
  refusesProgram(programOf(parts), "tensor `x`: has 2 sizes, but 1 strides");
  parts.graph.tensors = {{"x", meta(7, {"-2"}, {"1"})}};
  refusesProgram(programOf(parts), "has the negative size -2");
  parts.graph.tensors = {{"x", floats({"exec('')"})}};
  refusesProgram(programOf(parts), "calls `exec`, which is not a function of sizes");
  parts.graph.tensors = {{"x", floats({"true"})}};
  refusesProgram(programOf(parts), "is not an integer");
  parts.graph.tensors = {{"x", R"({"dtype":7,"sizes":[{"as_name":"n"}],"strides":[]})"}};
  refusesProgram(programOf(parts), "a size is given as `as_name`, expected as_int or as_expr");
  parts.graph.tensors = {{"x", R"({"sizes":[],"strides":[]})"}};
  refusesProgram(programOf(parts), "has no member `dtype`");
  parts = withArgument(asInt(1));
  parts.ranges = R"("s0":{"min_val":5,"max_val":4})";
  refusesProgram(programOf(parts), "the range 5..4 is empty");
  refusesProgram("[]", "a value is a list, expected an object");
  refusesProgram("{}", "has no member `schema_version`");
}

TEST_CASE("fields of later versions are ignored, and those that older files lack may be missing") {
  Parsed parsed(R"({"schema_version":{"major":8,"minor":2,"patch":1},"novel":[1],"graph_module":{"graph":{"inputs":[],"outputs":[],"nodes":[
    {"target":"t","inputs":[{"name":"a","arg":{"as_int":1}}],"outputs":[{"as_tensor":{"name":"o"}}],"metadata":{}}]},
    "signature":{"input_specs":[],"output_specs":[]}}})");
  INFO(parsed.error);
  REQUIRE(parsed.program);
  CHECK(parsed.program->schemaMinor == 2);
  CHECK(parsed.program->graph.nodes[0].title() == "o");
}

TEST_CASE("weight directories") {
  auto entries = [](const std::string &text) {
    Result<JsonDocument> json = JsonDocument::parse(text);
    REQUIRE(json.ok());
    Result<std::vector<WeightEntry>> result = parseWeightConfig(*json);
    return result.ok() ? std::to_string(result->size()) : result.status().message();
  };
  CHECK(entries(R"({"config":{}})") == "0");
  CHECK(entries(R"({"config":{)" + weight("a", "weight_0", floats({"2"})) + "}}") == "1");
  // What is pickled has no description that counts.
  CHECK(entries(R"({"config":{"a":{"path_name":"weight_0","use_pickle":true,"tensor_meta":null}}})") == "1");
  CHECK(entries("{}").find("has no member `config`") != std::string::npos);
  CHECK(entries(R"({"config":{"a":{}}})").find("weight `a`: has no member `path_name`") != std::string::npos);
  CHECK(entries(R"({"config":{)" + weight("a", "weight_0", floats({"s0"})) + "}}").find("has the size `s0`, expected a number") !=
        std::string::npos);
  CHECK(entries(R"({"config":{)" + weight("a", "weight_0", meta(7, {"2"}, {})) + "}}").find("has 1 sizes, but 0 strides") !=
        std::string::npos);
}

TEST_CASE("paths of nested arguments") {
  const std::string leaf = R"({\"type\":null,\"context\":null,\"children_spec\":[]})";
  auto branch = [](const std::string &type, const std::string &context, const Texts &children) {
    return R"({\"type\":\")" + type + R"(\",\"context\":\")" + context + R"(\",\"children_spec\":)" + list(children) + "}";
  };
  auto paths = [&](const std::string &in, const std::string &out, const std::string &names) {
    ProgramParts parts = withArgument(asInt(1));
    parts.callGraph =
        R"({"fqn":"","signature":{"in_spec":"[1,)" + in + R"(]","out_spec":"[1,)" + out + R"(]","forward_arg_names":)" + names + "}}";
    parts.tuples = R"("m.Pair":{"field_names":["first","second"]})";
    Parsed parsed(programOf(parts));
    REQUIRE(parsed.program);
    Result<Texts> inputs = inputPaths(*parsed.program), outputs = outputPaths(*parsed.program);
    if (inputs.ok())
      for (std::string &path : *inputs)
        path = path.empty() ? "?" : path;
    return (inputs.ok() ? joined(*inputs) : inputs.status().message()) + "|" +
           (outputs.ok() ? joined(*outputs) : outputs.status().message());
  };
  std::string keys = R"([\\\"m\\\",\\\"n\\\"])";
  std::string nested = branch("builtins.dict", keys, {leaf, branch("builtins.list", "null", {leaf, leaf})});
  std::string input = branch("builtins.tuple", "null",
                             {branch("builtins.tuple", "null", {leaf, branch("builtins.tuple", "null", {leaf, leaf})}),
                              branch("builtins.dict", R"([\\\"cfg\\\"])", {nested})});
  CHECK(paths(input, leaf, R"(["a","pair","cfg"])") == "a,pair.0,pair.1,cfg.m,cfg.n.0,cfg.n.1|output");
  CHECK(paths(input, branch("builtins.list", "null", {leaf, nested}), "null") ==
        "?,?,?,cfg.m,cfg.n.0,cfg.n.1|output.0,output.1.m,output.1.n.0,output.1.n.1");
  CHECK(paths(input, nested, "[]").ends_with("|m,n.0,n.1"));
  CHECK(paths(input, branch("collections.namedtuple", "m.Pair", {leaf, leaf}), "[]").ends_with("|first,second"));
  CHECK(paths(input, branch("collections.OrderedDict", R"([1,2])", {leaf, leaf}), "[]").ends_with("|1,2"));
  // A type that only the model's author knows has positions.
  CHECK(paths(input, branch("my.Output", "null", {leaf, leaf}), "[]").ends_with("|output.0,output.1"));
  CHECK(paths(leaf, leaf, "[]").find("in_spec: is no pair of arguments and keyword arguments") != std::string::npos);
  CHECK(paths(input, "7", "[]").find("out_spec: is not a list of a version and a tree") != std::string::npos);
}
