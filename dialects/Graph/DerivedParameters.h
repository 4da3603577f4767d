//===- DerivedParameters.h - adding parameters made from others ------------===//

#ifndef STATOR_DIALECTS_GRAPH_DERIVEDPARAMETERS_H
#define STATOR_DIALECTS_GRAPH_DERIVEDPARAMETERS_H

#include "dialects/Graph/GraphOps.h"

#include "mlir/IR/BuiltinOps.h"

namespace stator::graph {

/// Adds parameters to a module, one per distinct recipe.
class DerivedParameters {
public:
  explicit DerivedParameters(mlir::ModuleOp module) : module(module), symbols(module) {}

  /// The parameter that `value` reads when its bytes are known at compile time: not mutable, and in its plain layout. Null otherwise.
  ParameterOp frozen(mlir::Value value);

  /// As frozen(); a constant becomes a parameter first, so that small weights take part too.
  ParameterOp frozenOrConstant(mlir::Value value);

  /// The parameter `<first source>.<kind>` of this recipe, made after its first source unless it exists.
  ParameterOp derive(llvm::ArrayRef<ParameterOp> sources, llvm::StringRef kind, llvm::ArrayRef<mlir::NamedAttribute> options,
                     mlir::RankedTensorType type, llvm::StringRef layout = "");

  /// A parameter that owns `bytes`, named after `name`.
  ParameterOp own(llvm::StringRef name, mlir::RankedTensorType type, std::vector<std::byte> bytes, mlir::Location loc);

  /// Reads `parameter` just before `user`.
  static mlir::Value read(ParameterOp parameter, mlir::Operation *user);

  /// Removes parameters that neither an op nor the recipe of a used parameter needs. Mutable ones stay.
  void removeUnused();

private:
  std::string freeName(llvm::StringRef name);

  mlir::ModuleOp module;
  mlir::SymbolTable symbols;
};

} // namespace stator::graph

#endif // STATOR_DIALECTS_GRAPH_DERIVEDPARAMETERS_H
