// DEPS: stator::codegen::Artifact
#include "unit/Catch.h"

#include "codegen/Artifact/ManifestBuilder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

using namespace stator;
using namespace stator::codegen;

namespace {

struct Parsed {
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;

  explicit Parsed(const char *text) {
    context.loadDialect<graph::GraphDialect, plan::PlanDialect, mlir::func::FuncDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    REQUIRE(module);
  }
};

const char kPlan[] = R"(
graph.parameter @w : tensor<64xf32> {source = 0 : i32, offset = 0 : i64}
plan.method @forward attributes {arena_size = "256*N", live_peak = 100 : i64, symbols = [#graph.symbol<"N", 1, 64>], guards = [["N", "2*M"]]} {
  %x = plan.buffer input[0] "x" : tensor<?x?x64xf32, #graph.dims<["N", "M", "64"]>>
  %y = plan.buffer output[0] "y" : tensor<?x64xf32, #graph.dims<["N", "64"]>>
  %w = plan.buffer parameter @w : tensor<64xf32>
  %a = plan.buffer arena : tensor<?x64xf32, #graph.dims<["N", "64"]>> {offset = "0"}
  %v = plan.view %a at "128" : tensor<32xf32>
  %n = plan.buffer arena : tensor<i1> {offset = "0"}
  plan.kernel @kernels::@k_0(%x, %w) -> (%a) {family = "map", label = "mul", reason = "why", sizes = #graph.dims<["N", "M"]>}
  plan.library "onednn" "matmul"(%a, %w) -> (%y) {family = "matmul", label = "fc", options = {bias = 1 : i64, strides = array<i64: 1, 2>}, sizes = #graph.dims<["1", "N", "64", "8"]>}
  plan.if %n {
    plan.copy %a to %y {label = "then"}
  } else {
  }
}
module @kernels {
  func.func private @k_0(%x: tensor<?x?x64xf32, #graph.dims<["s0", "s1", "64"]>>, %w: tensor<64xf32>) -> tensor<?x64xf32, #graph.dims<["s0", "64"]>>
    attributes {graph.symbols = [#graph.symbol<"s0", 1, 64>, #graph.symbol<"s1", 0, 2147483647>]} {
    %0 = graph.reduce %x {kind = #graph.reduce_kind<sum>, axes = array<i64: 1>} : (tensor<?x?x64xf32, #graph.dims<["s0", "s1", "64"]>>) -> tensor<?x64xf32, #graph.dims<["s0", "64"]>>
    return %0 : tensor<?x64xf32, #graph.dims<["s0", "64"]>>
  }
}
)";

} // namespace

TEST_CASE("a plan becomes a manifest field by field") {
  Parsed parsed(kPlan);
  PlannedManifest planned = buildManifest(*parsed.module, {{"k_0", DimExpr::parse("64*s1 + s0").value()}}, {"k_0"}).value();
  const serialization::Manifest &manifest = planned.manifest;

  REQUIRE(manifest.methods.size() == 1);
  const serialization::Method &method = manifest.methods[0];
  auto text = [&](uint32_t index) { return method.expressions.at(index).text; };
  CHECK(method.name == "forward");
  REQUIRE(method.symbols.size() == 2);
  CHECK((method.symbols[0].name == "N" && method.symbols[0].max == 64 && method.symbols[0].input == 0 && method.symbols[0].axis == 0));
  CHECK((method.symbols[1].name == "M" && method.symbols[1].axis == 1));
  REQUIRE(method.inputs.size() == 1);
  CHECK(method.inputs[0].name == "x");
  CHECK(text(method.inputs[0].dims[1]) == "M");
  REQUIRE(method.guards.size() == 1);
  CHECK(text(method.guards[0].right) == "2*M");

  REQUIRE(manifest.plans.size() == 1);
  const serialization::Plan &plan = manifest.plans[0];
  CHECK(text(plan.arenaSize) == "256*N");
  CHECK(text(plan.scratchSize) == "64*M + N");
  CHECK(plan.livePeak == 100);
  REQUIRE(plan.buffers.size() == 6);
  CHECK(plan.buffers[2].kind == serialization::BufferKind::Parameter);
  CHECK(text(plan.buffers[4].offset) == "128");
  CHECK(plan.buffers[4].viewOf == 3u);
  CHECK(text(plan.buffers[4].size) == "128");

  REQUIRE(plan.instructions.size() == 3);
  const serialization::Instruction &kernel = plan.instructions[0];
  CHECK(kernel.kind == serialization::InstructionKind::Kernel);
  CHECK((kernel.name == "mul" && kernel.family == "map" && kernel.reason == "why"));
  CHECK(kernel.buffers == std::vector<uint32_t>{0, 2, 3});
  CHECK(kernel.numInputs == 2);
  CHECK((text(kernel.sizes[0]) == "N" && text(kernel.sizes[1]) == "M"));
  const serialization::Instruction &library = plan.instructions[1];
  CHECK((library.library == "onednn" && library.routine == "matmul"));
  REQUIRE(library.attributes.size() == 2);
  CHECK((library.attributes[1].name == "strides" && library.attributes[1].integers == std::vector<int64_t>{1, 2}));
  CHECK(text(kernel.operations.value()) == "64*M*N");
  CHECK(text(kernel.bytes.value()) == "256*M*N + 256*N + 256");
  CHECK(text(library.operations.value()) == "1024*N");
  CHECK(text(library.bytes.value()) == "512*N + 256");
  const serialization::Instruction &branch = plan.instructions[2];
  CHECK(branch.kind == serialization::InstructionKind::If);
  REQUIRE(branch.first.size() == 1);
  CHECK(branch.first[0].name == "then");
  CHECK((text(branch.first[0].bytes.value()) == "512*N" && !branch.first[0].operations));
  CHECK(branch.second.empty());

  REQUIRE(manifest.kernels.size() == 1);
  CHECK((manifest.kernels[0].name == "k_0" && manifest.kernels[0].numBuffers == 3 && manifest.kernels[0].numSizes == 2));
  CHECK(manifest.requirements == std::vector<std::string>{"onednn"});
  REQUIRE(manifest.parameters.size() == 1);
  CHECK(manifest.parameters[0].name == "w");
}

TEST_CASE("a size that no input shows is refused by name") {
  Parsed parsed(R"(
    plan.method @forward {
      %x = plan.buffer input[0] "x" : tensor<?xf32, #graph.dims<["2*N"]>>
      %y = plan.buffer output[0] "y" : tensor<?xf32, #graph.dims<["2*N"]>>
      plan.copy %x to %y
    })");
  Result<PlannedManifest> planned = buildManifest(*parsed.module, {}, {});
  REQUIRE(!planned.ok());
  CHECK(planned.status().code() == StatusCode::InvalidArgument);
  CHECK(planned.status().message().find("method `forward`") == 0);
  CHECK(planned.status().message().find("N") != std::string::npos);
}

TEST_CASE("buffer kinds have the numbers of the format") {
  using Plan = plan::BufferKind;
  using File = serialization::BufferKind;
  for (auto [ours, theirs] : {std::pair{Plan::arena, File::Arena}, {Plan::input, File::Input}, {Plan::output, File::Output},
                              {Plan::parameter, File::Parameter}, {Plan::state, File::State}})
    CHECK(static_cast<int>(ours) == static_cast<int>(theirs));
}
