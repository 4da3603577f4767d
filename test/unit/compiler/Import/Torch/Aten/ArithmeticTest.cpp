// DEPS: stator::compiler::Import::Torch::Aten stator::dialects::Graph::Interpreter
#include "test/unit/compiler/Import/Torch/Aten/AtenCases.h"

TEST_CASE("PyTorch's operators give what PyTorch gives: Arithmetic") { aten::runCases("Arithmetic.cases"); }

// For tables that are not kept: `STATOR_ATEN_CASES=FILE compiler_Import_tests "[.table]"`.
TEST_CASE("PyTorch's operators give what PyTorch gives: a table of one's own", "[.table]") {
  const char *path = std::getenv("STATOR_ATEN_CASES");
  REQUIRE(path);
  aten::runCases(path);
}
