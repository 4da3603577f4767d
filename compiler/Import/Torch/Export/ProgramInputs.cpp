//===- ProgramInputs.cpp - what a program is given -------------------------===//

#include "compiler/Import/Torch/Aten/ScalarTypes.h"
#include "compiler/Import/Torch/Export/ProgramImporter.h"
#include "compiler/Import/Torch/Export/ProgramReader.h"
#include "compiler/Import/Torch/Export/TreeSpec.h"
#include "compiler/Trace/BuilderImpl.h"

#include <algorithm>
#include <charconv>

namespace stator::torch::exported {

using SpecKind = InputSpec::Kind;

Result<std::vector<UserInput>> userInputsOf(const Program &program) {
  STATOR_TRY(paths, inputPaths(program));
  std::vector<size_t> leaves;
  for (size_t i = 0; i < program.inputs.size(); ++i)
    if (program.inputs[i].kind == SpecKind::UserInput || program.inputs[i].kind == SpecKind::ConstantInput)
      leaves.push_back(i);
  // A tree of another shape than the list is of no use; then the names of the graph's own values are as good as any.
  bool hasPaths = paths.size() == leaves.size();
  std::vector<UserInput> result;
  for (size_t leaf = 0; leaf < leaves.size(); ++leaf) {
    const InputSpec &spec = program.inputs[leaves[leaf]];
    if (spec.kind == SpecKind::ConstantInput || spec.argument.kind != ArgumentKind::Reference)
      continue;
    UserInput input{hasPaths && !paths[leaf].empty() ? paths[leaf] : std::string(spec.name), leaves[leaf], nullptr};
    if (spec.argument.tag == "as_tensor") {
      auto meta = program.graph.tensors.find(spec.name);
      if (meta == program.graph.tensors.end())
        return invalidFile("input `" + input.name + "`: the program does not say its type and shape");
      input.meta = &meta->second;
    }
    result.push_back(std::move(input));
  }
  return result;
}

std::set<std::string_view> ProgramImporter::usedNames() const {
  std::set<std::string_view> used;
  auto visit = [&](const Argument &argument, auto &self) -> void {
    if (argument.kind == ArgumentKind::Reference)
      used.insert(argument.text);
    for (const Argument &item : argument.items)
      self(item, self);
  };
  const Program &program = method.program;
  for (const Node &node : program.graph.nodes)
    for (const NamedArgument &input : node.inputs)
      visit(input.value, visit);
  for (const Argument &output : program.graph.outputs)
    visit(output, visit);
  // A buffer that is only written is used too.
  for (const OutputSpec &output : program.outputs)
    if (output.kind == OutputSpec::Kind::BufferMutation || output.kind == OutputSpec::Kind::ParameterMutation)
      for (const InputSpec &input : program.inputs)
        if (input.target == output.target && input.kind != SpecKind::UserInput)
          used.insert(input.name);
  return used;
}

static const compiler::ConstantSpec *findConstant(const compiler::ImportOptions &options, std::string_view name) {
  for (const compiler::ConstantSpec &spec : options.constants)
    if (spec.name == name)
      return &spec;
  return nullptr;
}

/// A baked value as a user would write it.
static std::string textOf(const Argument &argument) {
  switch (argument.kind) {
  case ArgumentKind::Int:
    return std::to_string(argument.integer);
  case ArgumentKind::Bool:
    return argument.integer ? "True" : "False";
  case ArgumentKind::String:
    return argument.text;
  case ArgumentKind::None:
    return "None";
  case ArgumentKind::Float: {
    char buffer[32];
    auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), argument.real);
    return std::string(buffer, end);
  }
  default:
    return "?";
  }
}

Status ProgramImporter::checkConstantInputs() {
  for (const InputSpec &input : method.program.inputs) {
    if (input.kind != SpecKind::ConstantInput)
      continue;
    const compiler::ConstantSpec *spec = findConstant(options, input.name);
    std::string text = textOf(input.argument);
    if (spec && spec->text != text && spec->text != "\"" + text + "\"")
      return invalidArgument("input `" + std::string(input.name) + "` was " + text + " when the program was exported, which fixed it; " +
                             spec->text + " was given");
    model.info.emplace_back("fixed input", method.name + ": " + std::string(input.name) + " = " + text);
  }
  return okStatus();
}

Status ProgramImporter::makeInputs(Values &values) {
  STATOR_RETURN_IF_ERROR(checkConstantInputs());
  std::set<std::string_view> used = usedNames();
  const Program &program = method.program;
  trace::BuilderImpl &impl = trace::BuilderImpl::of(context.builder());
  values.assign(program.inputs.size(), Value::poison());
  for (const UserInput &input : method.inputs) {
    impl.setLocation(input.name);
    Result<Value> value = makeUserInput(input);
    if (!value.ok())
      return value.status().withContext("input `" + shown(input.name) + "`");
    if (!impl.ok())
      return impl.takeError();
    values[input.position] = *value;
  }
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    const InputSpec &spec = program.inputs[i];
    bool isWeight = spec.kind == SpecKind::Parameter || spec.kind == SpecKind::Buffer || spec.kind == SpecKind::TensorConstant;
    if (isWeight && used.contains(spec.name)) {
      impl.setLocation(llvm::StringRef(spec.target));
      Result<TensorRef> tensor =
          parameters.load(context, archive, *method.weights, spec.target, spec.kind == SpecKind::TensorConstant, method.programName);
      if (tensor.ok())
        values[i] = Value::tensor(*tensor);
      else // The rest is still looked at: several weights may be of a kind that is not supported.
        report.add("program `" + method.programName + "`", tensor.status());
    } else if ((spec.kind == SpecKind::CustomObject || spec.kind == SpecKind::Token) && used.contains(spec.name)) {
      report.add("input `" + shown(spec.name) + "`",
                 unsupported(spec.kind == SpecKind::Token ? "effect tokens are not supported" : "custom objects are not supported"));
    }
  }
  impl.setLocation("");
  return okStatus();
}

Result<Value> ProgramImporter::makeUserInput(const UserInput &input) {
  trace::BuilderImpl &impl = trace::BuilderImpl::of(context.builder());
  const compiler::ConstantSpec *constant = findConstant(options, input.name);
  if (!input.meta) {
    const std::string &tag = std::string(method.program.inputs[input.position].argument.tag);
    bool isFloat = tag == "as_sym_float";
    if (tag != "as_sym_int" && !isFloat && tag != "as_sym_bool")
      return unsupported("is given as `" + tag + "`, which is not supported");
    if (constant) {
      double number = 0;
      const std::string &text = constant->text;
      auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      if (error != std::errc() || end != text.data() + text.size())
        return invalidArgument("is a number in the program, which `" + text + "` is not");
      return isFloat ? Value::real(number) : Value::integer(int64_t(number));
    }
    trace::Tensor data = context.builder().input(input.name,
                                                 isFloat               ? ElementType::F64
                                                 : tag == "as_sym_int" ? ElementType::I64
                                                                       : ElementType::I1,
                                                 {});
    return isFloat ? Value::dataReal(data) : tag == "as_sym_int" ? Value::dataInteger(data) : Value::dataBoolean(data);
  }
  if (constant)
    return makeConstant(input, *constant);
  std::optional<ElementType> type = elementTypeOf(input.meta->scalarType);
  if (!type)
    return unsupported("has the element type " + scalarTypeName(input.meta->scalarType) + ", which is not supported");
  llvm::SmallVector<DimExpr> dims;
  for (const DimExpr &size : input.meta->sizes) {
    STATOR_TRY(dim, method.sizes.translate(size));
    dims.push_back(dim.expr());
  }
  trace::Tensor tensor = impl.input(input.name, *type, dims);
  TensorRef ref = context.make(tensor, input.name);
  inputTensors[input.position] = {ref, tensor};
  return Value::tensor(ref);
}

Result<Value> ProgramImporter::makeConstant(const UserInput &input, const compiler::ConstantSpec &spec) {
  trace::BuilderImpl &impl = trace::BuilderImpl::of(context.builder());
  std::optional<ElementType> type = elementTypeOf(input.meta->scalarType);
  if (!type)
    return unsupported("has the element type " + scalarTypeName(input.meta->scalarType) + ", which is not supported");
  std::vector<int64_t> dims;
  int64_t count = 1;
  for (size_t axis = 0; axis < input.meta->sizes.size(); ++axis) {
    STATOR_TRY(dim, method.sizes.translate(input.meta->sizes[axis]));
    if (!dim.isConstant())
      return invalidArgument("has the open size " + dim.str() + "; give the constant as a .npy file");
    dims.push_back(dim.constant());
    count *= dim.constant();
    if (count > int64_t(1) << 28)
      return invalidArgument("has too many elements for a constant");
  }
  std::vector<char> bytes;
  if (spec.array) {
    // NumPy has no bf16: such arrays are f32 in files.
    bool isWide = *type == ElementType::BF16 && spec.array->type == ElementType::F32;
    if (spec.array->type != *type && !isWide)
      return invalidArgument("is " + std::string(stator::name(*type)) + " in the program, but the constant is " +
                             stator::name(spec.array->type));
    if (spec.array->dims != dims)
      return invalidArgument("has another shape in the program than the constant");
    bytes = spec.array->bytes;
    if (isWide) {
      trace::Contents numbers = trace::readContents(ElementType::F32, bytes.data(), count);
      bytes.clear();
      trace::writeContents(*type, numbers, bytes);
    }
  } else {
    if (int64_t(spec.elements.size()) != count && spec.elements.size() != 1)
      return invalidArgument("has " + std::to_string(count) + " elements in the program, but the constant has " +
                             std::to_string(spec.elements.size()));
    trace::Contents contents;
    for (int64_t i = 0; i < count; ++i) {
      const std::string &text = spec.elements[spec.elements.size() == 1 ? 0 : size_t(i)];
      double number = text == "true" || text == "True";
      auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      bool isWord = text == "true" || text == "false" || text == "True" || text == "False";
      if (!isWord && (error != std::errc() || end != text.data() + text.size()))
        return invalidArgument("is " + std::string(stator::name(*type)) + " in the program, which `" + text + "` is not");
      contents.push_back(trace::elementOf(*type, number));
    }
    trace::writeContents(*type, contents, bytes);
  }
  return Value::tensor(context.make(impl.ownedParameter(input.name, *type, dims, bytes, /*isMutable=*/false), input.name));
}

} // namespace stator::torch::exported
