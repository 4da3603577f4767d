// DEPS: stator::compiler::Import::Torch::Aten stator::dialects::Graph::Interpreter
#include "test/unit/compiler/Import/Torch/Aten/AtenCases.h"

TEST_CASE("PyTorch's operators give what PyTorch gives: View") { aten::runCases("View.cases"); }
