//===- ManifestBuilder.h - the plan as the manifest of an artifact ---------===//
//
// A translation, field by field: buffers and instructions become structs of
// serialization/Artifact/Manifest.h, size expressions become postfix code over
// the method's symbols. Where the bytes of parameters and kernels lie in the
// file is filled in by the writer.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_CODEGEN_ARTIFACT_MANIFESTBUILDER_H
#define STATOR_CODEGEN_ARTIFACT_MANIFESTBUILDER_H

#include "dialects/Plan/PlanOps.h"
#include "serialization/Artifact/Manifest.h"

#include "mlir/IR/BuiltinOps.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace stator::codegen {

/// Bytes of scratch per worker that a kernel needs, by the name of its function: expressions of the kernel's own sizes.
using KernelScratch = std::map<std::string, DimExpr>;
/// The kernels, by name, whose workers wait for each other.
using KernelsWithBarrier = std::set<std::string>;

struct PlannedManifest {
  serialization::Manifest manifest;
  /// The operations of manifest.parameters, in the same order.
  std::vector<graph::ParameterOp> parameters;
};

/// Translates all methods of `module`, which plan-verify has accepted. InvalidArgument when a size depends on a symbol that is not the
/// extent of any input's axis, so that no run could know it.
Result<PlannedManifest> buildManifest(mlir::ModuleOp module, const KernelScratch &scratch, const KernelsWithBarrier &withBarrier);

} // namespace stator::codegen

#endif // STATOR_CODEGEN_ARTIFACT_MANIFESTBUILDER_H
