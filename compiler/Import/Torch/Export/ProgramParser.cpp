//===- ProgramParser.cpp - the JSON of a program as structs ----------------===//
//
// Fields of later minor versions are ignored; fields that older ones do not
// have are optional, and null means the same as absent.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/Torch/Export/ArgumentReader.h"

namespace stator::torch::exported {

std::string_view Node::title() const {
  if (!name.empty())
    return name;
  for (const Argument &output : outputs) {
    if (output.kind == ArgumentKind::Reference)
      return output.text;
    for (const Argument &item : output.items)
      if (item.kind == ArgumentKind::Reference)
        return item.text;
  }
  return target;
}

namespace {

using Kind = Json::Kind;

struct OutputKind {
  std::string_view tag;
  OutputSpec::Kind kind;
  std::string_view target; // the member that names what is written; empty when there is none
};

constexpr OutputKind outputKinds[] = {
    {"user_output", OutputSpec::Kind::UserOutput, ""},
    {"loss_output", OutputSpec::Kind::LossOutput, ""},
    {"buffer_mutation", OutputSpec::Kind::BufferMutation, "buffer_name"},
    {"parameter_mutation", OutputSpec::Kind::ParameterMutation, "parameter_name"},
    {"user_input_mutation", OutputSpec::Kind::UserInputMutation, "user_input_name"},
    {"gradient_to_parameter", OutputSpec::Kind::GradientToParameter, "parameter_name"},
    {"gradient_to_user_input", OutputSpec::Kind::GradientToUserInput, "user_input_name"},
    {"token", OutputSpec::Kind::Token, ""},
};

struct InputKind {
  std::string_view tag;
  InputSpec::Kind kind;
  std::string_view target;
};

constexpr InputKind inputKinds[] = {
    {"parameter", InputSpec::Kind::Parameter, "parameter_name"},
    {"buffer", InputSpec::Kind::Buffer, "buffer_name"},
    {"tensor_constant", InputSpec::Kind::TensorConstant, "tensor_constant_name"},
    {"custom_obj", InputSpec::Kind::CustomObject, "custom_obj_name"},
    {"token", InputSpec::Kind::Token, ""},
    {"user_input", InputSpec::Kind::UserInput, ""},
    {"constant_input", InputSpec::Kind::ConstantInput, ""},
};

class Parser : public ArgumentReader {
public:
  Program program(const Json &root) {
    Program result;
    checkVersion(root, result);
    result.torchVersion = optionalString(root, "torch_version");
    strings(optional(root, "verifiers", Kind::Array), result.verifiers);
    strings(optional(root, "guards_code", Kind::Array), result.guards);
    if (const Json *ranges = optional(root, "range_constraints", Kind::Object))
      for (const JsonMember &member : ranges->members())
        result.ranges.push_back(range(member));
    const Json &module = need(root, "graph_module", Kind::Object);
    result.graph = graph(need(module, "graph", Kind::Object));
    const Json &signature = need(module, "signature", Kind::Object);
    for (const Json &spec : need(signature, "input_specs", Kind::Array).elements())
      result.inputs.push_back(inputSpec(spec));
    for (const Json &spec : need(signature, "output_specs", Kind::Array).elements())
      result.outputs.push_back(outputSpec(spec));
    sameNumber("inputs", result.inputs.size(), result.graph.inputs.size());
    sameNumber("outputs", result.outputs.size(), result.graph.outputs.size());
    if (const Json *calls = optional(module, "module_call_graph", Kind::Array))
      callGraph(*calls, result);
    if (const Json *tuples = optional(module, "treespec_namedtuple_fields", Kind::Object))
      for (const JsonMember &member : tuples->members())
        strings(optional(member.value, "field_names", Kind::Array), result.namedTuples[member.key]);
    return result;
  }

private:
  void checkVersion(const Json &root, Program &result) {
    const Json &version = need(root, "schema_version", Kind::Object);
    result.schemaMajor = need(version, "major", Kind::Integer).integer();
    result.schemaMinor = need(version, "minor", Kind::Integer).integer();
    if (ok() && result.schemaMajor != supportedSchemaMajor)
      fail(StatusCode::Unsupported, "the program has schema version " + std::to_string(result.schemaMajor) + "." +
                                        std::to_string(result.schemaMinor) + ", expected " + std::to_string(supportedSchemaMajor) + ".x");
  }

  void sameNumber(const char *what, size_t specs, size_t values) {
    if (ok() && specs != values)
      invalid("the signature has " + std::to_string(specs) + " " + what + ", but the graph has " + std::to_string(values));
  }

  void strings(const Json *list, std::vector<std::string_view> &into) {
    if (list)
      for (const Json &item : list->elements())
        if (isA(item, Kind::String, "an element"))
          into.push_back(item.string());
  }

  RangeConstraint range(const JsonMember &member) {
    Place place(*this, "range constraint", member.key);
    RangeConstraint result;
    result.expression = member.key;
    if (!isA(member.value, Kind::Object, "its value"))
      return result;
    // A bound may be missing, and old files wrote infinite ones as text.
    auto bound = [&](std::string_view key) -> std::optional<int64_t> {
      const Json *value = member.value.find(key);
      return value && value->is(Kind::Integer) ? std::optional(value->integer()) : std::nullopt;
    };
    result.min = std::max<int64_t>(0, bound("min_val").value_or(0));
    result.max = bound("max_val");
    if (result.max && *result.max < result.min)
      invalid("the range " + std::to_string(result.min) + ".." + std::to_string(*result.max) + " is empty");
    return result;
  }

  void callGraph(const Json &calls, Program &result) {
    for (const Json &call : calls.elements()) {
      if (!ok() || needString(call, "fqn") != "")
        continue;
      const Json *signature = optional(call, "signature", Kind::Object);
      if (!signature)
        continue;
      result.inputTree = optionalString(*signature, "in_spec");
      result.outputTree = optionalString(*signature, "out_spec");
      strings(optional(*signature, "forward_arg_names", Kind::Array), result.argumentNames);
    }
  }

  Graph graph(const Json &json) override {
    Graph result;
    for (const Json &item : need(json, "inputs", Kind::Array).elements()) {
      Place place(*this, "an input of the graph");
      result.inputs.push_back(argument(item));
    }
    size_t index = 0;
    for (const Json &item : need(json, "nodes", Kind::Array).elements()) {
      if (!ok())
        return result;
      result.nodes.push_back(node(item, index++));
    }
    for (const Json &item : need(json, "outputs", Kind::Array).elements()) {
      Place place(*this, "an output of the graph");
      result.outputs.push_back(argument(item));
    }
    if (const Json *tensors = optional(json, "tensor_values", Kind::Object))
      for (const JsonMember &member : tensors->members()) {
        Place place(*this, "tensor", member.key);
        result.tensors[member.key] = tensorMeta(member.value);
        if (!ok())
          return result;
      }
    if (const Json *sizes = optional(json, "sym_int_values", Kind::Object))
      for (const JsonMember &member : sizes->members()) {
        Place place(*this, "symbolic integer", member.key);
        result.sizes[member.key] = size(member.value);
      }
    return result;
  }

  Node node(const Json &json, size_t index) {
    Node result;
    std::string number = std::to_string(index);
    Place place(*this, "node", number);
    result.target = needString(json, "target");
    Place target(*this, "target", result.target);
    result.name = optionalString(json, "name");
    if (const Json *metadata = optional(json, "metadata", Kind::Object)) {
      const Json *trace = metadata->find("stack_trace");
      if (trace && trace->is(Kind::String))
        result.stackTrace = trace->string();
    }
    for (const Json &input : need(json, "inputs", Kind::Array).elements()) {
      if (!ok() || !isA(input, Kind::Object, "an input"))
        return result;
      NamedArgument named;
      named.name = optionalString(input, "name");
      Place argumentPlace(*this, "argument", named.name);
      named.value = argument(need(input, "arg", Kind::Object));
      result.inputs.push_back(std::move(named));
    }
    for (const Json &output : need(json, "outputs", Kind::Array).elements()) {
      Place outputPlace(*this, "an output");
      result.outputs.push_back(argument(output));
    }
    return result;
  }

  InputSpec inputSpec(const Json &json) {
    InputSpec result;
    Place place(*this, "an input spec");
    const JsonMember *member = unionMember(json);
    if (!member)
      return result;
    for (const InputKind &kind : inputKinds) {
      if (kind.tag != member->key)
        continue;
      result.kind = kind.kind;
      if (kind.kind == InputSpec::Kind::ConstantInput) {
        result.name = needString(member->value, "name");
        result.argument = argument(need(member->value, "value", Kind::Object));
        return result;
      }
      const Json &value = need(member->value, "arg", Kind::Object);
      if (kind.kind == InputSpec::Kind::UserInput) {
        result.argument = argument(value);
        // A view of a text that lives in the argument would dangle once that moves: the graph's input has the name.
        const JsonMember *reference = ok() ? unionMember(value) : nullptr;
        if (const Json *name = reference ? reference->value.find("name") : nullptr)
          result.name = name->string();
        else if (const Json *symbol = reference ? reference->value.find("as_name") : nullptr)
          result.name = symbol->string();
        return result;
      }
      result.name = needString(value, "name");
      result.target = kind.target.empty() ? std::string_view() : needString(member->value, kind.target);
      return result;
    }
    invalid("an input is a `" + shown(member->key) + "`, which is not known");
    return result;
  }

  OutputSpec outputSpec(const Json &json) {
    OutputSpec result;
    Place place(*this, "an output spec");
    const JsonMember *member = unionMember(json);
    if (!member)
      return result;
    for (const OutputKind &kind : outputKinds) {
      if (kind.tag != member->key)
        continue;
      result.kind = kind.kind;
      const Json &value = need(member->value, "arg", Kind::Object);
      result.argument = kind.kind == OutputSpec::Kind::UserOutput ? argument(value) : reference("as_tensor", needString(value, "name"));
      result.target = kind.target.empty() ? std::string_view() : needString(member->value, kind.target);
      return result;
    }
    invalid("an output is a `" + shown(member->key) + "`, which is not known");
    return result;
  }
};

} // namespace

Result<Program> parseProgram(const JsonDocument &document) {
  Parser parser;
  Program program = parser.program(document.root());
  if (!parser.ok())
    return parser.status;
  return program;
}

} // namespace stator::torch::exported
