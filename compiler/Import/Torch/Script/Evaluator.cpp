//===- Evaluator.cpp - statements, calls of functions, errors ----------------===//

#include "compiler/Import/Torch/Script/Evaluator.h"
#include "compiler/Import/Torch/Script/Builtins.h"
#include "compiler/Trace/BuilderImpl.h"

namespace stator::torch::script {

/// Calls in calls, and expressions and blocks in them. Each level costs at most a few hundred bytes of stack for each of its parts.
static constexpr size_t maxCallDepth = 128;
static constexpr unsigned maxDepth = 1500;
/// Operations that one loop may be unrolled into: in a `while`, which may have no end, and in a `for`.
static constexpr uint64_t maxWhileOperations = 30'000, maxForOperations = 100'000;
static constexpr uint64_t maxCalls = 100'000, maxStatements = 20'000'000, maxIterations = 50'000;

std::string Evaluator::currentPlace() const {
  std::string place = frame ? frame->file->line(offset) : std::string();
  if (frame && !frame->modulePath.empty())
    place += " (in `" + frame->modulePath + "`)";
  return place;
}

Value Evaluator::fail(StatusCode code, const std::string &message) {
  if (error.ok())
    error = Status(code, frame ? currentPlace() + ": " + message : message);
  return Value::poison();
}

Value Evaluator::unsupported(const std::string &reason) {
  std::string place = currentPlace();
  if (report.seen.insert(place + "\n" + reason).second)
    report.unsupported.push_back({place, reason});
  return Value::poison();
}

void Evaluator::warn(const std::string &message) {
  std::string place = currentPlace();
  if (report.seen.insert("warning: " + place + "\n" + message).second)
    report.warnings.push_back({place, message});
}

Value Evaluator::raise(const std::string &text) {
  const std::string message = shownText(text);
  // After an operator that is not supported, what a check sees means nothing.
  if (!dynamicDepth && !report.unsupported.empty() && error.ok())
    error = ::stator::unsupported("");
  if (!dynamicDepth)
    return fail(StatusCode::InvalidArgument, "the model raises an error: " + message);
  raised = true;
  raisedMessage = message;
  return Value::poison();
}

/// The location that the graph puts in front is the place that fail() names.
std::string Evaluator::withoutLocation(const std::string &message) const {
  const std::string prefix = "`" + context.builder().location() + "`: ";
  return llvm::StringRef(message).starts_with(prefix) ? message.substr(prefix.size()) : message;
}

bool Evaluator::takeError() {
  if (context.builder().ok())
    return false;
  Status taken = context.builder().impl().takeError();
  std::string message = withoutLocation(taken.message());
  if (taken.code() == StatusCode::Unsupported)
    unsupported(message);
  else
    fail(taken.code(), message);
  return true;
}

bool Evaluator::spend(uint64_t &spent, uint64_t limit, const char *what) {
  if (++spent <= limit)
    return true;
  fail(StatusCode::ResourceExhausted, "evaluating the model takes more than " + std::to_string(limit) + " " + what);
  return false;
}

bool Evaluator::unrollsWithin(uint64_t before, uint64_t limit) {
  if (report.operations - before <= limit)
    return true;
  fail(StatusCode::ResourceExhausted, "a loop whose end is known when the model is compiled becomes more than " + std::to_string(limit) +
                                          " operations; let its condition or its length depend on a tensor, and it stays a loop");
  return false;
}

const Type *Evaluator::typeOf(Expr *expr) {
  auto found = types.find(expr);
  if (found != types.end())
    return &found->second;
  Result<Type> type = program.type(expr);
  if (!type.ok()) {
    if (error.ok())
      error = type.status();
    return &types[expr];
  }
  return &(types[expr] = std::move(*type));
}

bool Evaluator::bindArguments(Frame &called, Function &function, Values &arguments, const std::vector<KeywordArgument> &keywords) {
  auto refuse = [&](const std::string &message) {
    invalid("`" + function.name.str() + "` " + message);
    return false;
  };
  if (arguments.size() > function.parameters.size())
    return refuse("takes " + std::to_string(function.parameters.size()) + " arguments, got " + std::to_string(arguments.size()));
  called.slots.resize(function.slotNames.size());
  for (size_t i = 0; i < arguments.size(); ++i)
    called.slots[function.parameters[i].slot] = std::move(arguments[i]);
  for (const KeywordArgument &keyword : keywords) {
    const Parameter *found = nullptr;
    for (const Parameter &parameter : function.parameters)
      if (parameter.name == keyword.name)
        found = &parameter;
    if (!found || called.slots[found->slot])
      return refuse(found ? "gets `" + keyword.name + "` twice" : "has no parameter `" + keyword.name + "`");
    called.slots[found->slot] = keyword.value;
  }
  for (const Parameter &parameter : function.parameters) {
    if (called.slots[parameter.slot])
      continue;
    if (!parameter.defaultValue)
      return refuse("needs an argument for `" + parameter.name.str() + "`");
    called.slots[parameter.slot] = constant(*parameter.defaultValue, *function.file);
  }
  return !failed();
}

Value Evaluator::call(Function &function, Values arguments, const std::vector<KeywordArgument> &keywords) {
  if (failed() || !spend(report.calls, maxCalls, "calls of functions"))
    return Value::poison();
  if (active.size() >= maxCallDepth)
    return fail(StatusCode::ResourceExhausted, "functions call each other more than " + std::to_string(maxCallDepth) + " deep");
  Frame called;
  called.function = &function;
  called.file = function.file;
  if (!arguments.empty() && arguments[0].isObject())
    called.receiver = arguments[0].asObject().get();
  for (const auto &[other, receiver] : active)
    if (other == &function && receiver == called.receiver)
      return invalid("`" + function.name.str() + "` calls itself, which TorchScript does not allow");
  const auto *module = dynamic_cast<const Instance *>(called.receiver);
  called.modulePath = module && module->isPersistent() ? module->path : frame ? frame->modulePath : std::string();
  if (!bindArguments(called, function, arguments, keywords))
    return Value::poison();
  arguments.clear();
  active.emplace_back(&function, called.receiver);
  Frame *caller = std::exchange(frame, &called);
  uint32_t callOffset = offset;
  run(function.body);
  frame = caller;
  offset = callOffset;
  active.pop_back();
  return failed() ? Value::poison() : std::move(called.result);
}

Value Evaluator::constant(Expr &expr, const SourceFile &file) {
  Frame outside;
  outside.file = &file;
  outside.modulePath = frame ? frame->modulePath : std::string();
  Frame *caller = std::exchange(frame, &outside);
  uint32_t callOffset = offset;
  Value value = evaluate(expr);
  frame = caller;
  offset = callOffset;
  return value;
}

Evaluator::Flow Evaluator::run(llvm::ArrayRef<Stmt *> body) {
  if (++depth > maxDepth)
    fail(StatusCode::ResourceExhausted, "blocks and calls are nested too deeply");
  Flow flow = failed() ? Flow::Stop : Flow::Next;
  for (size_t i = 0; i < body.size() && flow == Flow::Next; ++i)
    flow = run(*body[i]);
  --depth;
  return flow;
}

Evaluator::Flow Evaluator::run(Stmt &stmt) {
  offset = stmt.offset;
  if (!spend(report.statements, maxStatements, "steps"))
    return Flow::Stop;
  Flow flow = Flow::Next;
  switch (stmt.kind) {
  case StmtKind::Pass:
    break;
  case StmtKind::Expression:
    evaluate(*stmt.value);
    break;
  case StmtKind::Assign:
    flow = assign(stmt);
    break;
  case StmtKind::Return:
    frame->result = stmt.value ? evaluate(*stmt.value) : Value::none();
    flow = Flow::Return;
    break;
  case StmtKind::If:
    flow = runIf(stmt);
    break;
  case StmtKind::While:
    flow = runWhile(stmt);
    break;
  case StmtKind::For:
    flow = runFor(stmt);
    break;
  case StmtKind::With:
    flow = runWith(stmt);
    break;
  case StmtKind::Closure:
    store(*stmt.targets[0], Value(std::shared_ptr<Object>(std::make_shared<ClosureObject>(&stmt))));
    break;
  }
  return failed() ? Flow::Stop : flow;
}

Evaluator::Flow Evaluator::assign(Stmt &stmt) {
  if (!stmt.value)
    return fail(StatusCode::InvalidFile, "a declaration without a value"), Flow::Stop;
  Value value = evaluate(*stmt.value);
  if (failed())
    return Flow::Stop;
  if (!stmt.isUnpacking) {
    store(*stmt.targets[0], std::move(value));
    return Flow::Next;
  }
  if (value.isPoison() || value.isUninitialized()) {
    for (Expr *target : stmt.targets)
      store(*target, value);
    return Flow::Next;
  }
  const Values *items = value.items();
  if (!items || items->size() != stmt.targets.size()) {
    invalid("cannot take " + value.typeName() + (items ? " of " + std::to_string(items->size()) + " elements" : "") + " apart into " +
            std::to_string(stmt.targets.size()) + " values");
    return Flow::Stop;
  }
  Values copy = *items;
  for (size_t i = 0; i < copy.size(); ++i)
    store(*stmt.targets[i], std::move(copy[i]));
  return Flow::Next;
}

void Evaluator::store(Expr &target, Value value) {
  if (target.kind == ExprKind::Name) {
    if (target.slot >= 0 && size_t(target.slot) < frame->slots.size())
      frame->slots[target.slot] = std::move(value);
    return;
  }
  if (target.kind != ExprKind::Attribute) {
    fail(StatusCode::InvalidFile, "nothing can be assigned to this expression");
    return;
  }
  Value object = evaluate(*target.items[0]);
  if (failed() || object.isPoison())
    return;
  auto *instance = objectIn<Instance>(object);
  if (!instance) {
    invalid("attribute `" + target.text.str() + "` of " + object.typeName() + " cannot be set");
    return;
  }
  Status stored = state.set(*instance, target.text.str(), std::move(value));
  if (stored.code() == StatusCode::Unsupported && !state.needsRestart)
    unsupported(stored.message());
  else if (!stored.ok())
    fail(stored.code(), stored.message());
  takeError();
}

std::optional<Evaluator::Flow> Evaluator::flowWithout(const Value &condition, Stmt &stmt, const char *keyword) {
  if (failed())
    return Flow::Stop;
  if (condition.isPoison() || condition.isUninitialized()) {
    poisonAssigned(stmt);
    return Flow::Next;
  }
  if (condition.isBool())
    return std::nullopt;
  invalid(std::string("the condition of `") + keyword + "` is " + condition.typeName() + ", expected bool");
  return Flow::Stop;
}

Evaluator::Flow Evaluator::runIf(Stmt &stmt) {
  Value condition = evaluate(*stmt.value);
  if (std::optional<Flow> flow = flowWithout(condition, stmt, "if"))
    return *flow;
  if (condition.asBool().data)
    return dynamicIf(stmt, condition.asBool());
  return run(condition.asBool().known ? stmt.body : stmt.orElse);
}

Evaluator::Flow Evaluator::runWhile(Stmt &stmt) {
  uint64_t before = report.operations;
  for (uint64_t iterations = 0; spend(iterations, maxIterations, "iterations of one loop");) {
    offset = stmt.offset;
    if (!unrollsWithin(before, maxWhileOperations))
      return Flow::Stop;
    Value condition = evaluate(*stmt.value);
    if (std::optional<Flow> flow = flowWithout(condition, stmt, "while"))
      return *flow;
    // Iterations before the first condition that depends on data have been traced one by one.
    if (condition.asBool().data)
      return dynamicWhile(stmt, nullptr);
    if (!condition.asBool().known)
      return Flow::Next;
    Flow flow = run(stmt.body);
    if (flow != Flow::Next)
      return flow;
  }
  return Flow::Stop;
}

Evaluator::Flow Evaluator::runFor(Stmt &stmt) {
  Expr &range = *stmt.value;
  bool isRange =
      range.kind == ExprKind::Call && range.items[0]->kind == ExprKind::Name && range.items[0]->text == "range" && range.items.size() == 2;
  Value over = evaluate(isRange ? *range.items[1] : range);
  if (failed())
    return Flow::Stop;
  if (over.isPoison()) {
    poisonAssigned(stmt);
    return Flow::Next;
  }
  if (!isRange && over.items()) {
    Values items = *over.items();
    for (Value &item : items) {
      store(*stmt.targets[0], std::move(item));
      Flow flow = run(stmt.body);
      if (flow != Flow::Next)
        return flow;
    }
    return Flow::Next;
  }
  if (!over.isInt()) {
    invalid("cannot iterate over " + over.typeName());
    return Flow::Stop;
  }
  std::optional<int64_t> count = over.knownInt();
  if (!count)
    return dynamicWhile(stmt, &over);
  uint64_t iterations = 0, before = report.operations;
  for (int64_t i = 0; i < *count; ++i) {
    if (!spend(iterations, maxIterations, "iterations of one loop") || !unrollsWithin(before, maxForOperations))
      return Flow::Stop;
    store(*stmt.targets[0], Value::integer(i));
    Flow flow = run(stmt.body);
    if (flow != Flow::Next)
      return flow;
  }
  return Flow::Next;
}

Evaluator::Flow Evaluator::runWith(Stmt &stmt) {
  Value object = evaluate(*stmt.value);
  if (failed())
    return Flow::Stop;
  Value entered = callMethod(object, "__enter__", {}, {});
  if (!stmt.targets.empty())
    store(*stmt.targets[0], entered);
  if (failed())
    return Flow::Stop;
  Flow flow = run(stmt.body);
  if (flow == Flow::Stop)
    return flow;
  callMethod(object, "__exit__", {Value::none(), Value::none(), Value::none()}, {});
  return failed() ? Flow::Stop : flow;
}

} // namespace stator::torch::script
