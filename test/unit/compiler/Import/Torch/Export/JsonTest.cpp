// DEPS: stator::compiler::Import::Torch::Export
#include "compiler/Import/Torch/Export/Json.h"
#include "test/unit/Catch.h"

#include <string>

using namespace stator;
using namespace stator::torch::exported;

namespace {

std::string errorOf(const std::string &text, const JsonLimits &limits = {}) {
  Result<JsonDocument> document = JsonDocument::parse(text, limits);
  return document.ok() ? "" : document.status().message();
}
bool has(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

} // namespace

TEST_CASE("JSON values keep their kinds and order") {
  auto document = JsonDocument::parse(R"({"b":[1,-2.5,true,null,"t\u00e4"],"a":{}})");
  REQUIRE(document.ok());
  const Json &root = document->root();
  REQUIRE(root.members().size() == 2);
  CHECK(root.members()[0].key == "b");
  auto items = root.find("b")->elements();
  REQUIRE(items.size() == 5);
  CHECK(items[0].integer() == 1);
  CHECK(items[1].floating() == -2.5);
  CHECK(items[2].boolean());
  CHECK(items[3].isNull());
  CHECK(items[4].string() == "t\xc3\xa4");
  CHECK(root.find("a")->is(Json::Kind::Object));
  CHECK(root.find("c") == nullptr);
}

TEST_CASE("JSON that is damaged or dangerous is refused") {
  CHECK(has(errorOf("{"), "not a well-formed JSON text"));
  CHECK(has(errorOf(""), "not a well-formed JSON text"));
  CHECK(has(errorOf("[1] 2"), "not a well-formed JSON text"));
  CHECK(has(errorOf("[\"\xff\"]"), "not a well-formed JSON text"));
  CHECK(has(errorOf(R"({"a":1,"a":2})"), "the key `a` occurs twice"));
  std::string many = "{";
  for (int i = 0; i < 20; ++i)
    many += "\"k" + std::to_string(i % 19) + "\":0,";
  CHECK(has(errorOf(many + "\"z\":0}"), "the key `k0` occurs twice"));
  CHECK(has(errorOf("[9223372036854775808]"), "does not fit into 64 bits"));
  CHECK(has(errorOf("[123456789012345678901234567890]"), "does not fit into 64 bits"));
  CHECK(errorOf("[9223372036854775807,-9223372036854775808]").empty());
  CHECK(has(errorOf(std::string(200, '[')), "nested more than 128 deep"));
  CHECK(has(errorOf("[1,2,3]", {.bytes = 4, .depth = 128}), "at most 4 are read"));
}

TEST_CASE("metadata of nodes is dropped but for the stack trace, and a tensor may be called metadata") {
  auto document = JsonDocument::parse(R"({"nodes":[{"metadata":{"stack_trace":"s","other":{"deep":[1,{"x":2}]},"last":1},"inputs":[]}],
                                          "tensor_values":{"metadata":{"dtype":7}}})");
  REQUIRE(document.ok());
  const Json &node = document->root().find("nodes")->elements()[0];
  REQUIRE(node.find("metadata")->members().size() == 1);
  CHECK(node.find("metadata")->find("stack_trace")->string() == "s");
  CHECK(node.find("inputs") != nullptr);
  CHECK(document->root().find("tensor_values")->find("metadata")->find("dtype")->integer() == 7);
}

TEST_CASE("numbers that are not finite may stand without quotes") {
  auto document = JsonDocument::parse(R"(["NaN -I \"N", NaN, -Infinity, Infinity, {"Infinity": 1}])");
  REQUIRE(document.ok());
  auto items = document->root().elements();
  REQUIRE(items.size() == 5);
  CHECK(items[0].string() == "NaN -I \"N");
  CHECK(items[1].string() == "NaN");
  CHECK(items[2].string() == "-Infinity");
  CHECK(items[3].string() == "Infinity");
  CHECK(has(errorOf("[Inf]"), "not a well-formed JSON text"));
  CHECK(has(errorOf("[-Infinit]"), "not a well-formed JSON text"));
  CHECK(has(errorOf("[\"a\\"), "not a well-formed JSON text"));
}
