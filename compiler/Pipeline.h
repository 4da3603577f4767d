//===- Pipeline.h - the table of contents of the compiler ------------------===//
//
// A model passes through a named list of stages. Each accepts what the one
// before left, and ends in a verifier that holds it to its contract. The driver
// can start and stop at any of them.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_PIPELINE_H
#define STATOR_COMPILER_PIPELINE_H

#include "dialects/Target/Optimisations.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/ArrayRef.h"

#include <string>
#include <string_view>

namespace stator::compiler {

/// In order.
enum class StageId { Import, Graph, Differentiate, Optimise, Plan, Codegen, Artifact };

struct PipelineOptions {
  int optimisationLevel = 2;
  std::string library = "auto";
  /// As OptimiseOptions::level.
  std::string level = "x86-64-v4";
  Optimisations optimisations;
  /// Bytes that weights may have in all; -1: any number.
  int64_t weightsBudget = -1;
};

struct Stage {
  StageId id;
  std::string_view name;
  /// The IR that goes in and comes out.
  std::string_view from, to;
  /// One sentence.
  std::string_view does;
  /// The pass (or the other means) that checks what comes out.
  std::string_view verifiedBy;
  /// Adds the stage to a pass manager on the module, verifier included. Null for the stages that are no passes: import and artifact,
  /// and codegen, which runs its passes once for each CPU level.
  void (*build)(mlir::OpPassManager &passes, const PipelineOptions &options);
};

llvm::ArrayRef<Stage> pipelineStages();
/// Null for an unknown name.
const Stage *findStage(std::string_view name);

} // namespace stator::compiler

#endif // STATOR_COMPILER_PIPELINE_H
