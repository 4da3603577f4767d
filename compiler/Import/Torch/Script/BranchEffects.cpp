//===- BranchEffects.cpp - what a branch does, told from its text ---------------===//

#include "compiler/Import/Torch/Script/BranchEffects.h"
#include "compiler/Import/Torch/Script/Builtins.h"

namespace stator::torch::script {

bool alwaysRaises(llvm::ArrayRef<Stmt *> body) {
  for (const Stmt *stmt : body) {
    if (stmt->kind == StmtKind::Expression && stmt->value->kind == ExprKind::Call &&
        stmt->value->items[0]->dotted == "ops.prim.RaiseException")
      return true;
    if (stmt->kind == StmtKind::If && alwaysRaises(stmt->body) && alwaysRaises(stmt->orElse))
      return true;
  }
  return false;
}

static bool isPure(const Expr &expr) {
  if (expr.kind == ExprKind::Call) {
    llvm::StringRef name = expr.items[0]->dotted;
    bool isOperator = name.starts_with("torch.") || name.starts_with("ops.prim.") || name == "unchecked_cast" || name == "int" ||
                      name == "bool" || name == "float";
    if (!isOperator || name.ends_with("_") != name.ends_with("__") || isContainerMutation(name.rsplit('.').second) ||
        name == "ops.prim.RaiseException")
      return false;
  }
  for (const Keyword &keyword : expr.keywords)
    if (!isPure(*keyword.value))
      return false;
  return llvm::all_of(expr.items, [](const Expr *item) { return !item || isPure(*item); });
}

bool onlyComputes(llvm::ArrayRef<Stmt *> body) {
  return llvm::all_of(body, [](const Stmt *stmt) {
    return stmt->kind == StmtKind::Pass || (stmt->kind == StmtKind::Assign && isPure(*stmt->value) &&
                                            llvm::all_of(stmt->targets, [](Expr *target) { return target->kind == ExprKind::Name; }));
  });
}

std::set<int32_t> assignedBy(llvm::ArrayRef<Stmt *> body) {
  std::set<int32_t> slots;
  for (const Stmt *stmt : body) {
    if (stmt->kind == StmtKind::Assign)
      for (const Expr *target : stmt->targets)
        if (target->kind == ExprKind::Name)
          slots.insert(target->slot);
    slots.insert(stmt->assigned.begin(), stmt->assigned.end());
  }
  return slots;
}

namespace {

class ChangeFinder {
public:
  BranchChanges changes;

  void visit(llvm::ArrayRef<Stmt *> body) {
    for (const Stmt *stmt : body) {
      if (stmt->kind == StmtKind::Assign) {
        for (const Expr *target : stmt->targets) {
          if (target->kind == ExprKind::Attribute)
            addRoot(*target->items[0]);
          else if (target->kind == ExprKind::Name && !isFresh(*stmt))
            aliases.insert(target->slot);
        }
      }
      if (stmt->value)
        visit(*stmt->value);
      visit(stmt->body);
      visit(stmt->orElse);
    }
  }
  /// A variable that the branch itself gives another name to.
  void finish() {
    for (int32_t slot : changes.roots)
      changes.all |= aliases.count(slot) != 0;
  }

private:
  static bool isFresh(const Stmt &stmt) {
    const Expr *value = stmt.value;
    if (value && value->kind == ExprKind::Call && value->items[0]->dotted == "annotate" && value->items.size() == 3)
      value = value->items[2];
    return value && (value->kind == ExprKind::List || value->kind == ExprKind::Dict || value->kind == ExprKind::Call);
  }
  void addRoot(const Expr &expr) {
    if (expr.kind == ExprKind::Name)
      changes.roots.insert(expr.slot);
    else if (expr.kind != ExprKind::List && expr.kind != ExprKind::Call)
      changes.all = true;
  }
  void visit(const Expr &expr) {
    if (expr.kind == ExprKind::Call) {
      llvm::StringRef name = expr.items[0]->dotted;
      if (name.starts_with("torch.") || name.starts_with("ops.")) {
        if (isContainerMutation(name.rsplit('.').second) && expr.items.size() > 1)
          addRoot(*expr.items[1]);
      } else {
        // A function of the model: it may change what it is given.
        for (const Expr *argument : expr.items.drop_front())
          if (argument->kind == ExprKind::Name)
            changes.roots.insert(argument->slot);
        if (expr.items[0]->kind == ExprKind::Attribute && expr.items[0]->items[0]->kind == ExprKind::Name)
          changes.roots.insert(expr.items[0]->items[0]->slot);
      }
    }
    for (const Expr *item : expr.items)
      if (item)
        visit(*item);
    for (const Keyword &keyword : expr.keywords)
      visit(*keyword.value);
  }

  std::set<int32_t> aliases;
};

} // namespace

BranchChanges changesOf(const Stmt &stmt) {
  ChangeFinder finder;
  finder.visit(stmt.body);
  finder.visit(stmt.orElse);
  finder.finish();
  return finder.changes;
}

void reachContainers(const Value &value, std::vector<Value> &found, std::set<const void *> &seen) {
  if (value.isList() && seen.insert(&value.asList()).second) {
    found.push_back(value);
    for (const Value &item : value.asList().items)
      reachContainers(item, found, seen);
  } else if (value.isTuple() && seen.insert(&value.asTuple()).second) {
    for (const Value &item : value.asTuple().items)
      reachContainers(item, found, seen);
  } else if (value.isDict() && seen.insert(&value.asDict()).second) {
    found.push_back(value);
    for (const auto &[key, item] : value.asDict().items)
      reachContainers(item, found, seen);
  } else if (auto *instance = objectIn<Instance>(value); instance && !instance->isPersistent() && seen.insert(instance).second) {
    found.push_back(value);
    for (auto &entry : instance->attributes)
      if (entry.second.value)
        reachContainers(*entry.second.value, found, seen);
  }
}

Value contentsOf(const Value &container) {
  if (container.isList())
    return Value::list(container.asList().items);
  if (container.isDict())
    return Value::dict(container.asDict().items);
  std::map<std::string, Value> sorted;
  for (auto &entry : objectIn<Instance>(container)->attributes)
    if (entry.second.value)
      sorted[entry.first().str()] = *entry.second.value;
  std::vector<std::pair<Value, Value>> items;
  for (auto &[name, value] : sorted)
    items.emplace_back(Value::string(name), value);
  return Value::dict(std::move(items));
}

void setContents(const Value &container, const Value &contents) {
  if (contents.isPoison() || contents.isUninitialized())
    return;
  if (container.isList()) {
    container.asList().items = contents.asList().items;
  } else if (container.isDict()) {
    container.asDict().items = contents.asDict().items;
  } else {
    auto *instance = objectIn<Instance>(container);
    for (auto &entry : instance->attributes)
      entry.second.value.reset();
    for (const auto &[name, value] : contents.asDict().items)
      instance->attributes[name.asString()].value = value;
  }
}

} // namespace stator::torch::script
