//===- ImportedModel.h - what an importer hands to the pipeline ------------===//
//
// One struct for all formats. An importer goes on past what it cannot do, so
// that one run names everything; whatever it knows by then is filled in even
// when `status` is an error.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_IMPORT_IMPORTEDMODEL_H
#define STATOR_COMPILER_IMPORT_IMPORTEDMODEL_H

#include "stator/Compiler.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>
#include <utility>
#include <vector>

namespace stator::compiler {

/// Something that the user should know although the import goes on. Each distinct one is shown once.
struct ImportWarning {
  /// "model.pt: code/__torch__.py:12: `x = torch.dropout(...)`", or empty.
  std::string place;
  std::string message;
};

/// A model that has been read, as far as it could be.
struct ImportedModel {
  /// One method per entry point; null unless status is ok.
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// Unsupported with a summary when `unsupported` is not empty.
  Status status;
  /// Every part that is not supported.
  std::vector<UnsupportedPart> unsupported;
  /// Operators of the source and how often each occurs, sorted by name.
  std::vector<std::pair<std::string, unsigned>> operators;
  /// For people, kept in the artifact: "producer", "opset", ...
  std::vector<std::pair<std::string, std::string>> info;
  std::vector<ImportWarning> warnings;
};

} // namespace stator::compiler

#endif // STATOR_COMPILER_IMPORT_IMPORTEDMODEL_H
