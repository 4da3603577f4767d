// DEPS: stator::compiler stator::compiler::Import::Torch::Script stator::dialects::Graph::Interpreter
#include "test/unit/compiler/Import/Torch/Script/ScriptCase.h"

using namespace stator;
using namespace stator::test;
using namespace stator::test::script;

namespace {

/// A module with the f32 buffer `h` [2] of zeros and the int `n`, 0 at first.
ScriptParts module(const Texts &body, const std::string &more = "") {
  ScriptParts parts{script::method("x: Tensor", body, "  h : Tensor\n  n : int\n") + more};
  parts.attributes = {{"h", pickled::floats("0", {2})}, {"n", pickled::integer(0)}};
  parts.records = {{"data/0", floatBytes({0, 0})}};
  return parts;
}

/// The results of calls one after the other.
std::vector<Numbers> calls(const ScriptParts &parts, const std::vector<Numbers> &inputs) {
  Imported imported(parts, {{"x=2xf32"}});
  std::map<std::string, graph::TensorValue> state;
  std::vector<Numbers> results;
  for (const Numbers &x : inputs) {
    results.emplace_back();
    for (const graph::TensorValue &result : imported.run({floats(x)}, &state))
      for (double number : result.reals())
        results.back().push_back(number);
  }
  return results;
}

} // namespace

TEST_CASE("a buffer that a method writes is state") {
  ScriptParts parts = module({"h = self.h", "_0 = torch.add_(h, x)", "return torch.mul(h, 2)"});
  CHECK(calls(parts, {{1, 2}, {1, 2}}) == std::vector<Numbers>{{2, 4}, {4, 8}});
  Imported imported(parts, {{"x=2xf32"}});
  CHECK(llvm::is_contained(imported.model.info, std::pair<std::string, std::string>{"state", "`h`"}));
}

TEST_CASE("a tensor attribute that is replaced is state, and what it was stays what it was") {
  CHECK(calls(module({"h = self.h", "self.h = torch.add(h, x)", "h0 = self.h", "return (h, h0)"}), {{1, 2}, {1, 2}}) ==
        std::vector<Numbers>{{0, 0, 1, 2}, {1, 2, 2, 4}});
}

TEST_CASE("numbers that one call sets and the next reads are state; others are not") {
  CHECK(calls(module({"n = self.n", "self.n = torch.add(n, 2)", "n0 = self.n", "return (torch.mul(x, n0), n)"}), {{1, 2}, {1, 2}}) ==
        std::vector<Numbers>{{2, 4, 0}, {4, 8, 2}});
  Imported imported(module({"self.n = torch.size(x, 0)", "n = self.n", "return torch.mul(x, n)"}), {{"x=2xf32"}});
  CHECK(imported.run({floats({1, 2})})[0].reals() == Numbers{2, 4});
  CHECK(imported.count("graph.parameter") == 0);
}

TEST_CASE("state that a branch sets") {
  ScriptParts parts = module({"if bool(torch.gt(torch.sum(x), 0)):", "  n = self.n", "  self.n = torch.add(n, 1)", "  h = self.h",
                              "  self.h = torch.add(h, x)", "else:", "  self.n = 10", "n0 = self.n", "h0 = self.h", "return (h0, n0)"});
  CHECK(calls(parts, {{1, 2}, {-1, -2}, {1, 2}}) == std::vector<Numbers>{{1, 2, 1}, {1, 2, 10}, {2, 4, 11}});
  ScriptParts inPlace = module(
      {"if bool(torch.gt(torch.sum(x), 0)):", "  h = self.h", "  _0 = torch.add_(h, x)", "else:", "  pass", "return torch.mul(self.h, 1)"});
  CHECK(calls(inPlace, {{1, 2}, {-1, -2}, {1, 2}}) == std::vector<Numbers>{{1, 2}, {1, 2}, {2, 4}});
}

TEST_CASE("methods share state") {
  ScriptParts parts = module({"n = self.n", "self.n = torch.add(n, 1)", "return torch.mul(x, n)"},
                             "  def reset(self: __torch__.M) -> int:\n    self.n = 0\n    _0 = torch.zero_(self.h)\n    return 7\n");
  Imported imported(parts, {{"x=2xf32"}, {}, {"forward", "reset"}});
  std::map<std::string, graph::TensorValue> state;
  CHECK(imported.run({floats({1, 2})}, &state)[0].reals() == Numbers{0, 0});
  CHECK(imported.run({floats({1, 2})}, &state)[0].reals() == Numbers{1, 2});
  CHECK(imported.run({}, &state, "reset")[0].reals() == Numbers{7});
  CHECK(imported.run({floats({1, 2})}, &state)[0].reals() == Numbers{0, 0});
}

TEST_CASE("a method that only sets what is already so, until another one changes it") {
  ScriptParts parts = module({"n = self.n", "self.n = torch.add(n, 1)", "return torch.mul(x, n)"},
                             "  def reset(self: __torch__.M) -> NoneType:\n    self.n = 0\n    return None\n");
  const bool resetFirst = GENERATE(false, true);
  Imported imported(parts, {{"x=2xf32"}, {}, resetFirst ? Texts{"reset", "forward"} : Texts{"forward", "reset"}});
  std::map<std::string, graph::TensorValue> state;
  imported.run({floats({1, 2})}, &state);
  CHECK(imported.run({floats({1, 2})}, &state)[0].reals() == Numbers{1, 2});
  CHECK(imported.run({}, &state, "reset").empty());
  CHECK(imported.run({floats({1, 2})}, &state)[0].reals() == Numbers{0, 0});
}

TEST_CASE("an input that is written is an output too") {
  Imported imported({script::method("x: Tensor", {"_0 = torch.mul_(x, 2)", "return torch.sum(x)"})}, {{"x=2xf32"}});
  CHECK(imported.names(true) == Texts{"output", "x.after"});
  CHECK(imported.run({floats({1, 2})})[1].reals() == Numbers{2, 4});
}

TEST_CASE("attributes that cannot be kept from call to call are refused") {
  refuses(module({"h = self.h", "self.h = torch.cat([h, x])", "return h"}), StatusCode::Unsupported,
          "attribute `h` has another shape or element type after the call than before");
  ScriptParts optional = module({"if torch.__is__(self.m, None):", "  self.m = x", "else:", "  pass", "return x"});
  optional.attributes.push_back({"m", pickled::none()});
  refuses(optional, StatusCode::Unsupported,
          "attribute `m` is set by one call and read by the next, but only numbers and tensors of one shape can be kept");
  ScriptParts list = module({"_0 = torch.append(self.l, x)", "return x"});
  list.attributes.push_back({"l", pickled::list({pickled::integer(1)})});
  refuses(list, StatusCode::Unsupported, "attribute `l` is set by one call and read by the next");
  ScriptParts text = module({"if bool(torch.gt(torch.sum(x), 0)):", "  self.s = \"b\"", "else:", "  pass", "return x"});
  text.attributes.push_back({"s", pickled::text("a")});
  refuses(text, StatusCode::Unsupported, "attribute `s` is set in a branch that depends on data");
  refuses(module({"if bool(torch.gt(torch.sum(x), 0)):", "  self.h = torch.cat([x, x])", "else:", "  pass", "return torch.mul(self.h, 2)"}),
          StatusCode::Unsupported, "or to another shape in a branch that depends on data");
  refuses(module({"self.missing = 1", "return x"}), StatusCode::InvalidFile, "the archive has no attribute `missing`, which the code sets");
}

TEST_CASE("a tensor that is empty at first and gets its shape in a call") {
  auto stream = [](const Texts &body) {
    ScriptParts parts = module(body);
    parts.attributes[0].second = pickled::floats("0", {0});
    parts.records = {{"data/0", ""}};
    return parts;
  };
  ScriptParts parts = stream({"h = self.h", "if torch.__not__(bool(torch.len(h))):", "  self.h = torch.ones([2])", "else:", "  pass",
                              "h0 = self.h", "self.h = torch.add(torch.mul(h0, 2), x)", "return self.h"});
  CHECK(calls(parts, {{1, 2}, {1, 2}}) == std::vector<Numbers>{{3, 4}, {7, 10}});
  Imported imported(parts, {{"x=2xf32"}});
  REQUIRE(imported.model.warnings.size() == 1);
  CHECK(imported.model.warnings[0].message.find("the compiled model takes it to have been set before it is used here") !=
        std::string::npos);
  ScriptParts guarded = stream({"h = self.h", "if torch.gt(torch.size(h, 0), 0):", "  y = torch.add(h, x)",
                                "else:", "  y = torch.mul(x, 10)", "self.h = y", "return y"});
  CHECK(calls(guarded, {{1, 2}, {1, 2}}) == std::vector<Numbers>{{10, 20}, {11, 22}});
  refuses(stream({"y = torch.cat([self.h, x])", "self.h = x", "return y"}), StatusCode::Unsupported,
          "attribute `h` is an empty tensor before the first call, which uses it as it is");
  refuses(stream({"if torch.eq(torch.numel(self.h), 0):", "  self.h = x", "else:", "  self.h = torch.cat([x, x])", "return x"}),
          StatusCode::Unsupported, "attribute `h` is empty at first, and calls give it more than one shape or element type");
}

TEST_CASE("writing a copy of state in place is refused, not lost") {
  refuses(module({"if bool(torch.gt(torch.sum(x), 0)):", "  self.h = x", "else:", "  pass", "_0 = torch.add_(self.h, 1)",
                  "return torch.mul(self.h, 1)"}),
          StatusCode::Unsupported, "attribute `h` is written in place after a branch that depends on data has set it");
}

TEST_CASE("a write that another view of the record would have to see is refused") {
  ScriptParts parts{
      script::method("x: Tensor", {"_0 = torch.add_(self.h, x)", "return torch.mul(self.g, 2)"}, "  h : Tensor\n  g : Tensor\n")};
  parts.attributes = {{"h", pickled::floats("0", {2})}, {"g", pickled::floats("0", {2, 1})}};
  parts.records = {{"data/0", floatBytes({0, 0})}};
  refuses(parts, StatusCode::Unsupported, "attribute `h` is written in place, and `g` is another view of the same memory");
}
