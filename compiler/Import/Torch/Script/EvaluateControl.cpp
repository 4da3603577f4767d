//===- EvaluateControl.cpp - control flow that depends on data ---------------===//
//
// A condition that is data makes an `if` or a `while` of the graph (Control.h).
// Values leave a branch as results: the variables that it assigns and that are
// read later, and the lists, dicts and objects from outside that it may change.
// These are found in the text beforehand, because both branches have to give the
// same results before either has been traced.
//
// Three forms need no control flow in the graph. A branch that raises an error
// is a check: the other one is taken, and if the condition is about sizes, it
// becomes a fact about them. `a or b`, which TorchScript writes as an `if`, is
// computed as a logical operation. And whatever is known is no data.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/Torch/Aten/Control.h"
#include "compiler/Import/Torch/Script/BranchEffects.h"
#include "compiler/Import/Torch/Script/Builtins.h"
#include "compiler/Import/Torch/Script/Evaluator.h"
#include "compiler/Trace/BuilderImpl.h"
#include "compiler/Trace/ControlFlow.h"

namespace stator::torch::script {

namespace fn = trace::fn;

void Evaluator::poisonAssigned(Stmt &stmt) {
  for (int32_t slot : stmt.assigned)
    frame->slots[slot] = Value::poison();
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

void Evaluator::noteFact(const BoolValue &condition, SizeFact fact, bool isNegated) {
  auto &entry = facts[condition.data.node()];
  entry.first.push_back(std::move(fact));
  entry.second = isNegated;
}

void Evaluator::noteNegation(const BoolValue &condition, const BoolValue &negated) {
  auto found = facts.find(condition.data.node());
  if (found == facts.end())
    return;
  std::pair<std::vector<SizeFact>, bool> entry = found->second;
  entry.second = !entry.second;
  facts[negated.data.node()] = std::move(entry);
}

/// `a and b` holds when all facts of both do; `a or b` fails when none of the negated ones of both does.
void Evaluator::noteCombination(const BoolValue &a, const BoolValue &b, const BoolValue &both, bool isAnd) {
  auto left = facts.find(a.data.node()), right = facts.find(b.data.node());
  if (left == facts.end() || right == facts.end() || left->second.second == isAnd || right->second.second == isAnd)
    return;
  std::pair<std::vector<SizeFact>, bool> entry = left->second;
  entry.first.insert(entry.first.end(), right->second.first.begin(), right->second.first.end());
  facts[both.data.node()] = std::move(entry);
}

/// Takes the condition to be `wanted`; false when nothing that can be checked follows from that.
bool Evaluator::assume(const BoolValue &condition, bool wanted) {
  auto found = facts.find(condition.data.node());
  // A branch that may not be taken says nothing about the sizes of those runs that do not take it.
  if (found == facts.end() || dynamicDepth)
    return false;
  auto &[list, isNegated] = found->second;
  bool holds = wanted != isNegated;
  if (!holds && list.size() != 1)
    return false;
  trace::BuilderImpl &impl = context.builder().impl();
  for (const SizeFact &fact : list) {
    if (fact.kind == SizeFact::Kind::Equal) {
      if (!holds)
        return false;
      context.builder().constrainEqual(fact.a, fact.b, "a check of the model");
      continue;
    }
    // a <= b, or b + 1 <= a.
    const trace::Dim low = holds ? fact.a : fact.b + trace::Dim(1), high = holds ? fact.b : fact.a;
    if (!impl.assumeNonNegative((high - low).expr()))
      context.builder().constrainEqual(min(low, high), low, "a check of the model");
  }
  return true;
}

bool Evaluator::resolveByRaise(Stmt &stmt, const BoolValue &condition, llvm::ArrayRef<Stmt *> &taken) {
  bool bodyRaises = alwaysRaises(stmt.body), elseRaises = alwaysRaises(stmt.orElse);
  if (bodyRaises == elseRaises)
    return false;
  taken = bodyRaises ? stmt.orElse : stmt.body;
  if (!assume(condition, !bodyRaises))
    warn("the check depends on data, and a compiled model does not make it");
  takeError();
  return true;
}

//===----------------------------------------------------------------------===//
// Logical operations
//===----------------------------------------------------------------------===//

/// True when the statement was `t = a or b` or `t = a and b` and has been run as such.
bool Evaluator::shortCircuit(Stmt &stmt, const BoolValue &condition) {
  std::vector<int32_t> slots = mergedSlots(stmt);
  if (slots.size() != 1 || !onlyComputes(stmt.body) || !onlyComputes(stmt.orElse) || stmt.body.size() > 8 || stmt.orElse.size() > 8)
    return false;
  auto constantOf = [&](llvm::ArrayRef<Stmt *> body) -> std::optional<bool> {
    if (body.size() != 1 || body[0]->kind != StmtKind::Assign || body[0]->isUnpacking || body[0]->targets[0]->slot != slots[0])
      return std::nullopt;
    ExprKind kind = body[0]->value->kind;
    return kind == ExprKind::True ? std::optional<bool>(true) : kind == ExprKind::False ? std::optional<bool>(false) : std::nullopt;
  };
  std::optional<bool> onTrue = constantOf(stmt.body), onFalse = constantOf(stmt.orElse);
  if (!onTrue == !onFalse)
    return false;
  if (run(onTrue ? stmt.orElse : stmt.body) == Flow::Stop || !frame->slots[slots[0]])
    return true;
  Value other = *frame->slots[slots[0]];
  if (!other.isBool())
    return true;
  bool literal = onTrue ? *onTrue : *onFalse;
  // c ? True : o is c or o; c ? False : o is not c and o; c ? o : False is c and o; c ? o : True is not c or o.
  Value left = Value(condition);
  if (bool(onTrue) != literal)
    left = *callBuiltin("__not__", {left});
  frame->slots[slots[0]] = *callBuiltin(literal ? "__or__" : "__and__", {left, other});
  return true;
}

std::optional<Value> Evaluator::callBuiltin(llvm::StringRef name, Values arguments) {
  std::vector<KeywordArgument> none;
  BuiltinCall call{*this, name, arguments, none};
  return script::callBuiltin(call);
}

//===----------------------------------------------------------------------===//
// What leaves a branch
//===----------------------------------------------------------------------===//

/// The variables that have a value after an `if` and are read there.
std::vector<int32_t> Evaluator::mergedSlots(Stmt &stmt) {
  std::set<int32_t> onTrue = assignedBy(stmt.body), onFalse = assignedBy(stmt.orElse);
  std::vector<int32_t> slots;
  for (int32_t slot : stmt.assigned)
    if (frame->function->lastRead[slot] > stmt.end && (frame->slots[slot] || (onTrue.count(slot) && onFalse.count(slot))))
      slots.push_back(slot);
  return slots;
}

std::vector<Value> Evaluator::containersChangedBy(Stmt &stmt) {
  BranchChanges changes = changesOf(stmt);
  std::vector<Value> found;
  std::set<const void *> seen;
  for (size_t slot = 0; slot < frame->slots.size(); ++slot)
    if (frame->slots[slot] && (changes.all || changes.roots.count(int32_t(slot))))
      reachContainers(*frame->slots[slot], found, seen);
  return found;
}

//===----------------------------------------------------------------------===//
// If and while
//===----------------------------------------------------------------------===//

Evaluator::Flow Evaluator::dynamicIf(Stmt &stmt, const BoolValue &condition) {
  llvm::ArrayRef<Stmt *> taken;
  if (resolveByRaise(stmt, condition, taken))
    return failed() ? Flow::Stop : run(taken);
  if (shortCircuit(stmt, condition))
    return failed() ? Flow::Stop : Flow::Next;
  offset = stmt.offset;
  std::vector<int32_t> slots = mergedSlots(stmt);
  std::vector<Value> containers = containersChangedBy(stmt);
  std::vector<Value> contents;
  for (const Value &container : containers)
    contents.push_back(contentsOf(container));
  std::vector<std::optional<Value>> before = frame->slots;
  size_t raising = 0;
  std::string message;
  auto branch = [&](llvm::ArrayRef<Stmt *> body) {
    Values results;
    ++dynamicDepth;
    Flow flow = run(body);
    --dynamicDepth;
    if (raised && error.ok()) {
      // What a branch gives that ends in an error is never seen.
      raised = false;
      message = raisedMessage;
      ++raising;
      results.assign(slots.size() + containers.size(), Value::uninitialized());
    } else {
      if (flow == Flow::Return)
        fail(StatusCode::Unsupported, "`return` inside of a branch that depends on data is not supported");
      for (int32_t slot : slots)
        results.push_back(frame->slots[slot].value_or(Value::uninitialized()));
      for (const Value &container : containers)
        results.push_back(contentsOf(container));
    }
    frame->slots = before;
    for (size_t i = 0; i < containers.size(); ++i)
      setContents(containers[i], contents[i]);
    return results;
  };
  setLocation();
  state.flushCells();
  Values results = torch::dynamicIf(context, condition, [&] { return branch(stmt.body); }, [&] { return branch(stmt.orElse); });
  offset = stmt.offset;
  if (!error.ok())
    return Flow::Stop;
  bool hasFailed = takeError();
  if (raising == 2)
    raise(message);
  else if (raising)
    warn("the check depends on data, and a compiled model does not make it");
  for (int32_t slot : stmt.assigned)
    frame->slots[slot].reset();
  if (hasFailed || results.size() != slots.size() + containers.size()) {
    for (int32_t slot : slots)
      frame->slots[slot] = Value::poison();
    return failed() ? Flow::Stop : Flow::Next;
  }
  for (size_t i = 0; i < slots.size(); ++i)
    frame->slots[slots[i]] = results[i];
  for (size_t i = 0; i < containers.size(); ++i)
    setContents(containers[i], results[slots.size() + i]);
  return failed() ? Flow::Stop : Flow::Next;
}

Evaluator::Flow Evaluator::dynamicWhile(Stmt &stmt, const Value *tripCount) {
  offset = stmt.offset;
  std::vector<int32_t> slots;
  for (int32_t slot : stmt.assigned)
    if (frame->slots[slot] && frame->function->lastRead[slot] >= stmt.offset && !(tripCount && slot == stmt.targets[0]->slot))
      slots.push_back(slot);
  std::vector<Value> containers = containersChangedBy(stmt);
  std::vector<std::optional<Value>> before = frame->slots;
  Values initial;
  for (int32_t slot : slots)
    initial.push_back(*frame->slots[slot]);
  for (const Value &container : containers)
    initial.push_back(contentsOf(container));
  if (tripCount)
    initial.push_back(Value::integer(0));

  auto install = [&](const Values &values) {
    frame->slots = before;
    for (size_t i = 0; i < slots.size() && i < values.size(); ++i)
      frame->slots[slots[i]] = values[i];
    for (size_t i = 0; i < containers.size() && slots.size() + i < values.size(); ++i)
      setContents(containers[i], values[slots.size() + i]);
    if (tripCount)
      frame->slots[stmt.targets[0]->slot] = values.back();
  };
  auto condition = [&](const Values &values) {
    install(values);
    offset = stmt.offset;
    ++dynamicDepth;
    Value go = tripCount ? callBuiltin("lt", {values.back(), *tripCount}).value_or(Value::poison()) : evaluate(*stmt.value);
    --dynamicDepth;
    return go;
  };
  auto body = [&](const Values &values) {
    install(values);
    ++dynamicDepth;
    Flow flow = run(stmt.body);
    --dynamicDepth;
    offset = stmt.offset;
    if (raised && error.ok()) {
      raised = false;
      fail(StatusCode::Unsupported, "every step of a loop that depends on data raises an error: " + raisedMessage);
    }
    if (flow == Flow::Return)
      fail(StatusCode::Unsupported, "`return` inside of a loop that depends on data is not supported");
    Values next;
    for (int32_t slot : slots)
      next.push_back(frame->slots[slot].value_or(Value::uninitialized()));
    for (const Value &container : containers)
      next.push_back(contentsOf(container));
    if (tripCount)
      next.push_back(callBuiltin("add", {values.back(), Value::integer(1)}).value_or(Value::poison()));
    return next;
  };

  setLocation();
  state.flushCells();
  Values results = torch::dynamicWhile(context, initial, condition, body);
  offset = stmt.offset;
  if (!error.ok())
    return Flow::Stop;
  bool hasFailed = takeError();
  frame->slots = before;
  for (int32_t slot : stmt.assigned)
    frame->slots[slot].reset();
  if (hasFailed || results.size() != initial.size()) {
    for (int32_t slot : slots)
      frame->slots[slot] = Value::poison();
    return failed() ? Flow::Stop : Flow::Next;
  }
  for (size_t i = 0; i < slots.size(); ++i)
    frame->slots[slots[i]] = results[i];
  for (size_t i = 0; i < containers.size(); ++i)
    setContents(containers[i], results[slots.size() + i]);
  return failed() ? Flow::Stop : Flow::Next;
}

} // namespace stator::torch::script
