//===- BranchEffects.h - what a branch does, told from its text ----------------===//
//
// Both branches of an `if` in the graph give the same results, which have to be
// known before either is traced; so what a branch may change is found in its
// text, and what it may change there, among the values of the variables.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_IMPORT_TORCH_SCRIPT_BRANCHEFFECTS_H
#define STATOR_COMPILER_IMPORT_TORCH_SCRIPT_BRANCHEFFECTS_H

#include "compiler/Import/Torch/Script/Objects.h"

#include <set>

namespace stator::torch::script {

/// Whether every run through the statements ends in an error that the model raises.
bool alwaysRaises(llvm::ArrayRef<Stmt *> body);
/// Whether the statements only compute: nothing that they do can be seen but the variables that they assign.
bool onlyComputes(llvm::ArrayRef<Stmt *> body);
/// The variables that they assign.
std::set<int32_t> assignedBy(llvm::ArrayRef<Stmt *> body);

/// Variables whose list, dict or object an `if` or a loop may change; `all`: something else too.
struct BranchChanges {
  std::set<int32_t> roots;
  bool all = false;
};
BranchChanges changesOf(const Stmt &stmt);

/// Lists, dicts and objects of the method that a value leads to, each once.
void reachContainers(const Value &value, std::vector<Value> &found, std::set<const void *> &seen);
/// A copy of what one of them holds, and putting it back.
Value contentsOf(const Value &container);
void setContents(const Value &container, const Value &contents);

} // namespace stator::torch::script

#endif // STATOR_COMPILER_IMPORT_TORCH_SCRIPT_BRANCHEFFECTS_H
