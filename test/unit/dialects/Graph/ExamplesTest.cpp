// DEPS: stator::dialects::Graph::Interpreter
// The examples in the descriptions of operations are valid: each one-line example of a .td file is parsed and verified.
#include "test/unit/Catch.h"

#include "dialects/Graph/GraphOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

using namespace mlir;
using namespace stator::graph;

namespace {

std::string read(const std::filesystem::path &path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Pieces between commas that stand outside of brackets.
std::vector<std::string> splitTypes(const std::string &text) {
  std::vector<std::string> pieces(1);
  int depth = 0;
  for (char c : text) {
    depth += (c == '<' || c == '[' || c == '(') - (c == '>' || c == ']' || c == ')');
    if (c == ',' && depth == 0)
      pieces.emplace_back();
    else
      pieces.back() += c;
  }
  return pieces;
}

/// A method around an example, whose operands become arguments.
std::string methodAround(const std::string &example) {
  std::smatch match;
  static const std::regex withTypes(R"(^(%[^=]*=)?\s*graph\.\w+\s*([^{:]*)(\{.*\})?\s*:\s*\((.*)\)\s*->.*$)");
  std::string arguments;
  if (std::regex_match(example, match, withTypes)) {
    static const std::regex name("%\\w+");
    std::string operands = match[2];
    // "(types) -> (types)" matches up to the last ") ->", which is right: results are not followed by an arrow.
    std::vector<std::string> types = splitTypes(match[4]);
    size_t next = 0;
    for (std::sregex_iterator it(operands.begin(), operands.end(), name), end; it != end && next < types.size(); ++it, ++next)
      arguments += (next ? ", " : "") + it->str() + ": " + types[next];
  }
  return "func.func @example(" + arguments + ") {\n  " + example + "\n  return\n}";
}

/// Examples in single backticks, with line breaks inside turned into spaces.
std::vector<std::string> examplesIn(const std::string &text) {
  std::vector<std::string> examples;
  static const std::regex start("Example: `(%|graph)");
  for (std::sregex_iterator it(text.begin(), text.end(), start), end; it != end; ++it) {
    size_t from = it->position() + 10, to = text.find("`\n", from), other = text.find("` gives", from);
    to = std::min(to, other);
    examples.push_back(std::regex_replace(text.substr(from, to - from), std::regex("\\s+"), " "));
  }
  return examples;
}

} // namespace

TEST_CASE("examples in descriptions are valid", "[examples]") {
  size_t count = 0;
  for (const auto &entry : std::filesystem::directory_iterator(STATOR_SOURCE_DIR "/dialects/Graph")) {
    if (entry.path().extension() != ".td")
      continue;
    for (const std::string &example : examplesIn(read(entry.path()))) {
      // Composed for many operations at once (the mnemonic is pasted in), or not complete without its module.
      if (example.find('"') != std::string::npos && example.find("\" #") != std::string::npos)
        continue;
      if (example.find("et_parameter") != std::string::npos || example.find("graph.yield") == 0 || example.find("graph.symbols") == 0)
        continue;
      MLIRContext context;
      context.loadDialect<GraphDialect, func::FuncDialect>();
      std::string diagnostics;
      ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
        diagnostics += diagnostic.str() + "\n";
        return success();
      });
      std::string text = example.rfind("graph.parameter", 0) == 0 ? example : methodAround(example);
      INFO(text);
      OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
      INFO(diagnostics);
      CHECK(module);
      ++count;
    }
  }
  CHECK(count > 30);
}
