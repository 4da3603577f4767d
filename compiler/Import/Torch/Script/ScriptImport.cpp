//===- ScriptImport.cpp - from a TorchScript file to the graph dialect -------===//
//
// Methods are traced one after the other into one module. What they change of
// the module's state is known only afterwards; if that was not planned for,
// everything is traced again with the plan extended (ModuleState.h).
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/Torch/Script/ScriptImport.h"
#include "compiler/Import/Torch/Script/ScriptFile.h"
#include "compiler/Import/Torch/Script/ScriptInputs.h"
#include "compiler/Trace/BuilderImpl.h"
#include "dialects/Graph/GraphDialect.h"

#include "mlir/IR/Builders.h"

namespace stator::torch {

using namespace script;

/// Each attempt finds at least one more thing that changes; real modules need two.
static constexpr unsigned maxAttempts = 64;
/// More parts than that are not read by anybody.
static constexpr size_t maxShownParts = 50;

namespace {

class Import {
public:
  Import(const std::string &path, const compiler::ImportOptions &options, mlir::MLIRContext &mlirContext)
      : path(path), options(options), mlirContext(mlirContext) {}

  compiler::ImportedModel run() {
    model.status = import().withContext(path);
    if (!model.status.ok())
      model.module = nullptr;
    return std::move(model);
  }

private:
  struct Traced {
    std::unique_ptr<trace::Builder> builder;
    std::unique_ptr<Context> context;
    std::unique_ptr<ModuleState> state;
  };

  Status import() {
    STATOR_TRY(opened, ScriptFile::open(path));
    file = std::move(opened);
    STATOR_RETURN_IF_ERROR(chooseMethods());
    inputs = std::make_unique<ScriptInputs>(options, file->program());
    for (const auto &[name, function] : methods)
      STATOR_RETURN_IF_ERROR(inputs->add(name, *function));
    STATOR_RETURN_IF_ERROR(inputs->assign());
    mlirContext.loadDialect<graph::GraphDialect, mlir::func::FuncDialect>();
    for (unsigned attempt = 0; attempt < maxAttempts; ++attempt) {
      report = Report();
      leftOut.clear();
      STATOR_TRY(isDone, traceAll());
      if (isDone)
        return finish();
    }
    return internalError("the state of the module is still not known after " + std::to_string(maxAttempts) + " attempts");
  }

  Status chooseMethods() {
    std::vector<std::string> names = options.methods;
    if (names.empty())
      names.push_back("forward");
    const ClassDef *type = file->rootClass();
    for (const std::string &name : names) {
      Function *method = type->methods.lookup(name);
      if (!method) {
        std::vector<std::string> known;
        for (const Function *other : type->methodOrder)
          known.push_back(other->name.str());
        return notFound("the module has no method `" + name + "`; its methods are " + compiler::quotedList(known));
      }
      if (method->parameters.empty())
        return invalidFile("method `" + name + "` has no parameter for its module");
      for (const auto &[other, function] : methods)
        if (other == name)
          return invalidArgument("method `" + name + "` is asked for twice");
      order.push_back(methods.size());
      methods.emplace_back(name, method);
    }
    return okStatus();
  }

  /// True when the module is complete, or its errors are; false when it has to be traced again.
  Result<bool> traceAll() {
    model.module = mlir::OwningOpRef<mlir::ModuleOp>(mlir::ModuleOp::create(mlir::UnknownLoc::get(&mlirContext)));
    file->source().beginModule();
    std::vector<Traced> traced;
    bool again = false;
    // A method that has to be traced again has no end, which the others would be refused for.
    for (size_t i = 0; i < methods.size() && !again; ++i) {
      traced.emplace_back();
      STATOR_TRY(isComplete, trace(order[i], traced));
      again = !isComplete;
    }
    return !again || !report.unsupported.empty();
  }

  /// Traces into the last of `all`.
  Result<bool> trace(size_t index, std::vector<Traced> &all) {
    Traced &traced = all.back();
    const auto &[name, function] = methods[index];
    traced.builder = std::make_unique<trace::Builder>(std::make_unique<trace::BuilderImpl>(*model.module, name));
    trace::Builder &builder = *traced.builder;
    traced.context = std::make_unique<Context>(builder);
    Context &context = *traced.context;
    traced.state = std::make_unique<ModuleState>(file->source(), file->program(), context);
    ModuleState &state = *traced.state;
    Evaluator evaluator(file->program(), state, context, report, file->version());
    if (!builder.ok())
      return builder.status();
    STATOR_TRY(arguments, inputs->arguments(index, evaluator, context));
    STATOR_RETURN_IF_ERROR(evaluator.status());
    std::vector<std::pair<std::string, TensorRef>> given = inputs->declared;
    STATOR_TRY(self, state.root());
    Value result = call(evaluator, self, *function, std::move(arguments));
    for (const std::string &warning : context.warnings())
      report.warnings.push_back({"", warning});
    if (state.needsRestart)
      return false;
    // What was found by then says more than what came of it.
    if (!evaluator.status().ok())
      return report.unsupported.empty() ? Result<bool>(evaluator.status()) : Result<bool>(true);
    if (!report.unsupported.empty())
      return true;
    builder.setLocation(name + " (outputs)");
    std::vector<NamedOutput> outputs;
    flattenOutputs(result, outputs, leftOut);
    for (const NamedOutput &output : outputs)
      builder.output(output.name, output.value.isTensor() ? context.read(output.value.asTensor()) : context.scalarTensor(output.value));
    for (const auto &[inputName, tensor] : given)
      if (tensor->storage()->isWritten)
        builder.output(inputName + ".after", context.read(tensor));
    if (!builder.ok())
      return builder.status();
    // What a method without outputs is good for may show in the others: it comes last.
    bool isSilent = outputs.empty() && order.back() != index && silent.insert(index).second;
    if (isSilent) {
      llvm::erase(order, index);
      order.push_back(index);
      return false;
    }
    STATOR_TRY(isExtended, state.finish());
    // Before the end: a method that only resets what nobody is known to keep has nothing to give yet.
    std::vector<const ModuleState *> states;
    for (const Traced &one : all)
      states.push_back(one.state.get());
    if (ModuleState::extendPlan(file->source().plan, states) || isExtended)
      return false;
    STATOR_RETURN_IF_ERROR(builder.finish());
    return true;
  }

  /// Runs the method; around `forward`, the module's hooks, as calling the module in Python does.
  static Value call(Evaluator &evaluator, const Value &self, Function &function, Values arguments) {
    const ClassDef *type = objectIn<Instance>(self)->definition;
    bool hasHooks = function.name == "forward";
    if (hasHooks)
      for (const std::string &hook : type->preHooks) {
        Value changed = evaluator.callMethod(self, hook, {Value::tuple(arguments)}, {});
        if (changed.isTuple())
          arguments = changed.asTuple().items;
        else if (!changed.isNone())
          arguments = {changed};
      }
    Values all = arguments;
    all.insert(all.begin(), self);
    Value result = evaluator.call(function, std::move(all), {});
    if (hasHooks)
      for (const std::string &hook : type->hooks) {
        Value changed = evaluator.callMethod(self, hook, {Value::tuple(arguments), result}, {});
        if (!changed.isNone())
          result = changed;
      }
    return result;
  }

  Status finish() {
    for (const auto &[name, count] : report.operators)
      model.operators.emplace_back(name, count);
    model.warnings = std::move(report.warnings);
    model.unsupported = std::move(report.unsupported);
    model.info.emplace_back("format", "TorchScript, version " + std::to_string(file->version()));
    for (const std::string &output : leftOut)
      model.info.emplace_back("left out", output);
    const StatePlan &plan = file->source().plan;
    std::vector<std::string> states(plan.mutableTensors.begin(), plan.mutableTensors.end());
    states.insert(states.end(), plan.cells.begin(), plan.cells.end());
    if (!states.empty())
      model.info.emplace_back("state", compiler::quotedList(states));
    if (model.unsupported.empty())
      return okStatus();
    size_t count = model.unsupported.size();
    std::string text = std::to_string(count) + (count == 1 ? " part" : " parts") + " of the program cannot be imported:";
    for (size_t i = 0; i < count && i < maxShownParts; ++i)
      text += "\n  " + model.unsupported[i].place + ": " + model.unsupported[i].reason;
    if (count > maxShownParts)
      text += "\n  and " + std::to_string(count - maxShownParts) + " more";
    return unsupported(std::move(text));
  }

  const std::string &path;
  const compiler::ImportOptions &options;
  mlir::MLIRContext &mlirContext;
  std::unique_ptr<ScriptFile> file;
  std::unique_ptr<ScriptInputs> inputs;
  std::vector<std::pair<std::string, Function *>> methods;
  /// In which they are traced.
  std::vector<size_t> order;
  std::set<size_t> silent;
  Report report;
  std::vector<std::string> leftOut;
  compiler::ImportedModel model;
};

} // namespace

compiler::ImportedModel importScript(const std::string &path, const compiler::ImportOptions &options, mlir::MLIRContext &context) {
  return Import(path, options, context).run();
}

} // namespace stator::torch
