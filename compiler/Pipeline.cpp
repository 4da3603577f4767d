//===- Pipeline.cpp - the stages in order ----------------------------------===//
//
// Read from top to bottom, this is what the compiler does. docs/architecture.md
// shows the same table; a test compares them.
//
//===----------------------------------------------------------------------===//

#include "compiler/Pipeline.h"

#include "passes/Graph/Passes.h"
#include "passes/Optimise/Passes.h"
#include "passes/Plan/Passes.h"

using namespace mlir;
using namespace stator;
using namespace stator::compiler;

// Accepts a graph as traced. Leaves one in which all that can be known at compile time is known: constants folded, batch norms merged
// into convolutions, softmax, norms and activations recognised as such.
static void buildGraph(OpPassManager &passes, const PipelineOptions &options) { graph::buildGraphPipeline(passes); }

// Not asked for in this version: a method that is to be trained gets its backward half and its optimiser here.
static void buildDifferentiate(OpPassManager &passes, const PipelineOptions &options) {}

// From here on the graph is no longer free of the machine: layouts are chosen, weights packed for the kernels that read them, and
// every operation that needs a kernel is put into a fusion region with its kernel family.
static void buildOptimise(OpPassManager &passes, const PipelineOptions &options) {
  optimise::OptimiseOptions optimiseOptions;
  optimiseOptions.library = options.library;
  optimiseOptions.level = options.level;
  optimiseOptions.optimisations = options.optimisations;
  optimiseOptions.weightsBudget = options.weightsBudget;
  optimise::buildOptimisePipeline(passes, optimiseOptions);
}

// Regions leave the graph as functions; what remains is a list of calls. From plan-build on, order is the order of the text and every
// byte is accounted for; from plan-assign-memory on, every buffer has an offset.
static void buildPlan(OpPassManager &passes, const PipelineOptions &options) {
  passes.addPass(plan::createPlanOutlineKernelsPass());
  passes.addPass(plan::createPlanBuildPass());
  plan::PlanAssignMemoryPassOptions memory;
  memory.inPlace = options.optimisations.isOn("in-place");
  passes.addNestedPass<plan::MethodOp>(plan::createPlanAssignMemoryPass(memory));
  passes.addPass(plan::createPlanVerifyPass());
}

static const Stage kStages[] = {
    {StageId::Import, "import", "file", "graph", "traces the model with input specs; resolves what is static", "graph-verify-imported",
     nullptr},
    {StageId::Graph, "graph", "graph", "graph",
     "constant folding, canonicalisation, batch-norm folding, recognition of composites", "graph-verify", buildGraph},
    {StageId::Differentiate, "differentiate", "graph", "graph", "the place of reverse mode and optimiser; nothing yet", "graph-verify",
     buildDifferentiate},
    {StageId::Optimise, "optimise", "graph", "graph with regions",
     "layout, kernel-or-library choice, weight packing, fusion regions", "optimise-verify", buildOptimise},
    {StageId::Plan, "plan", "regions", "plan", "schedule, one arena per method with offsets as expressions of symbols", "plan-verify",
     buildPlan},
    {StageId::Codegen, "codegen", "regions", "objects", "linalg → tiled, vectorised loops → LLVM → one shared object per CPU level",
     "kernel-verify", nullptr},
    {StageId::Artifact, "artifact", "plan + objects", "file", "writes the `.stator`", "the reader reads it back", nullptr},
};

llvm::ArrayRef<Stage> compiler::pipelineStages() { return kStages; }

const Stage *compiler::findStage(std::string_view name) {
  for (const Stage &stage : kStages)
    if (stage.name == name)
      return &stage;
  return nullptr;
}
