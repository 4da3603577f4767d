// DEPS: stator::dialects::Graph::Interpreter
// Every operation of the dialect has what an operation needs, or is listed here with the reason why not. A new operation fails this test
// until it has its parts. `dialects_Graph_tests "[.table]" -s` prints the table.
#include "test/unit/Catch.h"

#include "dialects/Graph/Interpreter/Interpreter.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

using namespace mlir;
using namespace stator::graph;

namespace {

using Exemptions = std::map<std::string, std::string>;

const Exemptions kNoInterpreter = {
    {"graph.parameter", "a declaration; get_parameter reads it"},
    {"graph.yield", "runs as part of the op whose region it ends"},
};

const Exemptions kNoInference = {
    {"graph.broadcast", "the sizes are the request"},
    {"graph.convert", "the element type is the request"},
    {"graph.fusion", "its region says"},
    {"graph.get_parameter", "the parameter says, which is found by name"},
    {"graph.if", "its regions say"},
    {"graph.iota", "the sizes are the request"},
    {"graph.parameter", "has no results"},
    {"graph.reshape", "the sizes are the request"},
    {"graph.resize", "the sizes are the request"},
    {"graph.set_parameter", "has no results"},
    {"graph.slice", "the sizes are the request"},
    {"graph.while", "its regions say"},
    {"graph.yield", "has no results"},
};

std::vector<std::string> allOperations() {
  MLIRContext context;
  context.loadDialect<GraphDialect>();
  std::vector<std::string> names;
  for (RegisteredOperationName name : context.getRegisteredOperations())
    if (name.getDialectNamespace() == "graph")
      names.push_back(name.getStringRef().str());
  std::sort(names.begin(), names.end());
  return names;
}

/// graph.batch_norm is BatchNormOp.
std::string className(const std::string &operation) {
  std::string name;
  bool upper = true;
  for (char c : operation.substr(6)) {
    if (c == '_') {
      upper = true;
      continue;
    }
    name += upper ? char(std::toupper(c)) : c;
    upper = false;
  }
  return name + "Op";
}

std::string read(const std::filesystem::path &path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// All words of the sources in some folders.
std::set<std::string> wordsOf(const std::vector<std::string> &folders, const std::string &extension) {
  std::set<std::string> words;
  static const std::regex word("[A-Za-z_.]*[A-Za-z0-9_]+");
  for (const std::string &folder : folders)
    for (const auto &entry : std::filesystem::directory_iterator(STATOR_SOURCE_DIR "/" + folder))
      if (entry.path().extension() == extension) {
        std::string text = read(entry.path());
        for (std::sregex_iterator it(text.begin(), text.end(), word), end; it != end; ++it)
          words.insert(it->str());
      }
  return words;
}

struct Parts {
  bool interpreter, inference, lowering, composite, sample;
};

std::map<std::string, Parts> tableOfOperations() {
  MLIRContext context;
  context.loadDialect<GraphDialect>();
  std::set<std::string> lowered = wordsOf({"passes/Kernel", "passes/Plan", "dialects/Plan"}, ".cpp");
  std::set<std::string> samples = wordsOf({"test/ir/dialects/Graph"}, ".mlir");
  std::map<std::string, Parts> table;
  for (const std::string &name : allOperations()) {
    OperationName op(name, &context);
    Parts parts;
    parts.interpreter = lookupInterpreter(op) != nullptr;
    parts.inference = op.hasInterface<InferTypeOpInterface>();
    parts.composite = op.hasInterface<GraphComposite>();
    parts.lowering = parts.composite || lowered.count(className(name));
    parts.sample = samples.count(name);
    table[name] = parts;
  }
  return table;
}

/// Has it, or is exempt; and is not exempt from what it has.
void checkPart(const std::string &name, bool has, const Exemptions &exemptions, const std::string &what) {
  INFO(name << ": " << what);
  CHECK(has != (exemptions.count(name) != 0));
}

} // namespace

TEST_CASE("every operation has its parts", "[registry]") {
  std::map<std::string, Parts> table = tableOfOperations();
  CHECK(table.size() > 80);
  for (const auto &[name, parts] : table) {
    checkPart(name, parts.interpreter, kNoInterpreter, "a function of the interpreter");
    checkPart(name, parts.inference, kNoInference, "type inference");
    checkPart(name, parts.lowering, {}, "a decomposition, or a lowering in passes/Kernel or passes/Plan");
    checkPart(name, parts.sample, {}, "a round trip in test/ir/dialects/Graph");
  }
  for (const Exemptions &exemptions : {kNoInterpreter, kNoInference})
    for (const auto &[name, reason] : exemptions) {
      INFO(name);
      CHECK(table.count(name));
    }
}

TEST_CASE("the table of operations", "[.table]") {
  // No operation has a gradient rule: the differentiate stage has no rules yet.
  std::stringstream text;
  for (const auto &[name, parts] : tableOfOperations())
    text << name << (parts.interpreter ? " interpreter" : "") << (parts.inference ? " inference" : "")
         << (parts.composite  ? " decomposition"
             : parts.lowering ? " lowering"
                              : "")
         << "\n";
  INFO(text.str());
  SUCCEED();
}
