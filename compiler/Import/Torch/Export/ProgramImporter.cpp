//===- ProgramImporter.cpp - one exported program as one method ------------===//

#include "compiler/Import/Torch/Export/ProgramImporter.h"
#include "compiler/Import/Torch/Export/ProgramReader.h"
#include "compiler/Import/Torch/Export/TreeSpec.h"
#include "compiler/Trace/BuilderImpl.h"

namespace stator::torch::exported {

using OutputKind = OutputSpec::Kind;

Result<std::vector<std::string>> userOutputNamesOf(const Program &program) {
  STATOR_TRY(paths, outputPaths(program));
  size_t count = 0;
  for (const OutputSpec &output : program.outputs)
    count += output.kind == OutputKind::UserOutput;
  if (paths.size() == count)
    return paths;
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i)
    names.push_back(count == 1 ? "output" : "output." + std::to_string(i));
  return names;
}

Status ProgramImporter::run() {
  method.sizes.declare(context.builder());
  Values inputs;
  STATOR_RETURN_IF_ERROR(makeInputs(inputs));
  GraphImporter graph(context, report, method.program, method.sizes);
  Values results = graph.run(method.program.graph, inputs);
  for (const std::string &warning : context.warnings())
    model.warnings.push_back({"program `" + method.programName + "`", warning});
  // The module of a program with parts missing is thrown away.
  if (!report.empty())
    return okStatus();
  return makeOutputs(results);
}

Status ProgramImporter::makeOutput(const std::string &name, const Value &value) {
  trace::BuilderImpl &impl = trace::BuilderImpl::of(context.builder());
  impl.setLocation(name + " (output)");
  if (value.isTensor())
    impl.output(name, context.read(value.asTensor()));
  else if (value.isScalar())
    impl.output(name, context.scalarTensor(value));
  else if (value.isNone() || value.isString())
    model.info.emplace_back("constant output", method.name + ": " + name + " = " + (value.isNone() ? "None" : value.asString()));
  else
    return unsupported("output `" + name + "`: is " + value.typeName() + ", which is not supported");
  return impl.ok() ? okStatus() : impl.takeError();
}

Status ProgramImporter::makeOutputs(const Values &results) {
  const Program &program = method.program;
  size_t next = 0;
  std::set<size_t> given; // inputs whose new value is an output by the signature
  std::vector<std::pair<std::string, Value>> after;
  auto inputNamed = [&](std::string_view name) -> const UserInput * {
    for (const UserInput &input : method.inputs)
      if (program.inputs[input.position].name == name)
        return &input;
    return nullptr;
  };
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    const OutputSpec &spec = program.outputs[i];
    std::string target(spec.target);
    switch (spec.kind) {
    case OutputKind::UserOutput:
      STATOR_RETURN_IF_ERROR(makeOutput(method.outputNames[next++], results[i]));
      break;
    case OutputKind::LossOutput:
      STATOR_RETURN_IF_ERROR(makeOutput("loss", results[i]));
      break;
    case OutputKind::GradientToParameter:
      STATOR_RETURN_IF_ERROR(makeOutput("grads." + target, results[i]));
      break;
    case OutputKind::GradientToUserInput: {
      const UserInput *input = inputNamed(spec.target);
      STATOR_RETURN_IF_ERROR(makeOutput("grads." + (input ? input->name : target), results[i]));
      break;
    }
    case OutputKind::BufferMutation:
    case OutputKind::ParameterMutation:
      if (!results[i].isTensor())
        return invalidFile("the new value of `" + shown(target) + "` is " + results[i].typeName() + ", expected a tensor");
      STATOR_RETURN_IF_ERROR(parameters.set(context, spec.target, context.read(results[i].asTensor())));
      break;
    case OutputKind::UserInputMutation:
      if (const UserInput *input = inputNamed(spec.target)) {
        after.emplace_back(input->name + ".after", results[i]);
        given.insert(input->position);
      } else {
        return invalidFile("input `" + shown(target) + "` is written, but the program has no such input");
      }
      break;
    case OutputKind::Token:
      break;
    }
  }
  for (const auto &[name, value] : after)
    STATOR_RETURN_IF_ERROR(makeOutput(name, value));
  for (const UserInput &input : method.inputs) {
    auto tensor = inputTensors.find(input.position);
    if (tensor == inputTensors.end() || given.contains(input.position) || !tensor->second.first->storage()->isWritten)
      continue;
    if (!trace::BuilderImpl::same(context.read(tensor->second.first), tensor->second.second))
      STATOR_RETURN_IF_ERROR(makeOutput(input.name + ".after", Value::tensor(tensor->second.first)));
  }
  return parameters.finishMethod(context);
}

} // namespace stator::torch::exported
