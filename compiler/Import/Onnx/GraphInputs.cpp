//===- GraphInputs.cpp - the inputs of a model and what users say of them --===//
//
// An input of the file becomes an input of the method, with the sizes that the
// file or the user gives, or a constant. Models take shapes and axes as inputs
// that must be known at compile time; that is what constants are for.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/Onnx/GraphImporter.h"
#include "compiler/Trace/BuilderImpl.h"

#include <algorithm>
#include <charconv>

namespace stator::onnx {

const ValueInfo *GraphImporter::findInput(const std::string &name) {
  std::string names;
  for (const ValueInfo &input : model.graph.inputs) {
    if (input.name == name)
      return &input;
    names += (names.empty() ? "`" : ", `") + std::string(input.name) + "`";
  }
  traceBuilder.fail(StatusCode::InvalidArgument, "the model has no input `" + name + "`; its inputs are " + names);
  return nullptr;
}

void GraphImporter::declareInputs(const compiler::ImportOptions &options) {
  declareConstants(options);
  std::vector<const ValueInfo *> inputs;
  for (const ValueInfo &input : model.graph.inputs)
    if (!mainScope.pending.count(input.name) && !mainScope.values.count(input.name)) // An initializer of its name is a default: no input to us.
      inputs.push_back(&input);

  // Specs by name first; those without a name then go to the inputs that are left, in order.
  std::map<std::string_view, const compiler::InputSpec *> specs;
  for (const compiler::InputSpec &spec : options.inputs) {
    if (spec.name.empty())
      continue;
    if (!findInput(spec.name))
      return;
    if (std::none_of(inputs.begin(), inputs.end(), [&](const ValueInfo *input) { return input->name == spec.name; }))
      return traceBuilder.fail(StatusCode::InvalidArgument, "input `" + spec.name + "` is a constant, its shape cannot be given");
    specs[spec.name] = &spec;
  }
  auto next = inputs.begin();
  for (const compiler::InputSpec &spec : options.inputs) {
    if (!spec.name.empty())
      continue;
    while (next != inputs.end() && specs.count((*next)->name))
      ++next;
    if (next == inputs.end())
      return traceBuilder.fail(StatusCode::InvalidArgument, "more input shapes were given than the model has inputs (" +
                                                                std::to_string(inputs.size()) + ")");
    specs[(*next)->name] = &spec;
  }
  // A name that stands for another size or a number does so in every input.
  for (const ValueInfo *input : inputs)
    if (auto spec = specs.find(input->name); spec != specs.end() && traceBuilder.ok())
      renameSizes(*input, *spec->second);
  for (const ValueInfo *input : inputs)
    if (traceBuilder.ok())
      declareInput(*input, specs.count(input->name) ? specs[input->name] : nullptr);
}

std::optional<ElementType> GraphImporter::inputType(const ValueInfo &input) {
  traceBuilder.setLocation(std::string(input.name) + " (input)");
  if (input.kind != "tensor") {
    traceBuilder.fail(StatusCode::Unsupported, input.kind.empty() ? "has no type" : "is a " + std::string(input.kind) + ", expected a tensor");
    return std::nullopt;
  }
  Result<ElementType> type = elementTypeOf(input.elementType);
  if (type.ok())
    return *type;
  traceBuilder.fail(type.status().code(), type.status().message());
  return std::nullopt;
}

void GraphImporter::declareInput(const ValueInfo &input, const compiler::InputSpec *spec) {
  std::optional<ElementType> type = inputType(input);
  if (!type)
    return;
  if (spec && spec->type && *spec->type != *type)
    return traceBuilder.fail(StatusCode::InvalidArgument, "is " + std::string(name(*type)) + " in the model, but " +
                                                              std::string(name(*spec->type)) + " was given");
  trace::Dims dims = inputDims(input, spec);
  if (traceBuilder.ok())
    mainScope.values[input.name] = traceBuilder.input(input.name, *type, dims);
}

trace::Dim GraphImporter::namedSize(const std::string &name) {
  sizeNames.insert(name);
  auto fixed = fixedSizes.find(name);
  return fixed == fixedSizes.end() ? traceBuilder.symbol(name) : trace::Dim(fixed->second);
}

void GraphImporter::renameSizes(const ValueInfo &input, const compiler::InputSpec &spec) {
  for (size_t i = 0; i < input.shape.size() && i < spec.dims.size(); ++i) {
    std::string parameter(input.shape[i].parameter);
    const compiler::DimSpec &given = spec.dims[i];
    if (parameter.empty() || given.kind == compiler::DimSpec::Kind::FromModel)
      continue;
    sizeNames.insert(parameter);
    trace::Dim size = given.kind == compiler::DimSpec::Kind::Number ? trace::Dim(given.number) : namedSize(given.symbol);
    auto fail = [&](const trace::Dim &known) {
      traceBuilder.fail(StatusCode::InvalidArgument, "size `" + parameter + "` is given as " + known.str() + " and as " + size.str());
    };
    if (auto fixed = fixedSizes.find(parameter); fixed != fixedSizes.end()) {
      if (given.kind == compiler::DimSpec::Kind::Number && given.number != fixed->second)
        return fail(fixed->second);
      size = fixed->second;
    }
    auto [known, isNew] = renamedSizes.try_emplace(parameter, size);
    if (known->second != size)
      return fail(known->second);
  }
}

trace::Dims GraphImporter::inputDims(const ValueInfo &input, const compiler::InputSpec *spec) {
  trace::Dims dims;
  if (!input.hasShape && !spec) {
    traceBuilder.fail(StatusCode::InvalidArgument, "has no shape in the model; give it with --input=" + std::string(input.name) + "=SHAPExTYPE");
    return dims;
  }
  size_t rank = input.hasShape ? input.shape.size() : spec->dims.size();
  if (spec && spec->dims.size() != rank) {
    traceBuilder.fail(StatusCode::InvalidArgument,
                      "has rank " + std::to_string(rank) + " in the model, but a shape of rank " + std::to_string(spec->dims.size()) + " was given");
    return dims;
  }
  for (size_t i = 0; i < rank; ++i) {
    Dimension fromModel = input.hasShape ? input.shape[i] : Dimension();
    if (spec && spec->dims[i].kind == compiler::DimSpec::Kind::Number) {
      if (fromModel.value && *fromModel.value > 0 && *fromModel.value != spec->dims[i].number)
        traceBuilder.fail(StatusCode::InvalidArgument, "has size " + std::to_string(*fromModel.value) + " along axis " + std::to_string(i) +
                                                           " in the model, but " + std::to_string(spec->dims[i].number) + " was given");
      dims.push_back(spec->dims[i].number);
    } else if (spec && spec->dims[i].kind == compiler::DimSpec::Kind::Symbol) {
      dims.push_back(namedSize(spec->dims[i].symbol));
    } else if (fromModel.value && *fromModel.value >= 0) {
      if (spec && spec->dims[i].min)
        traceBuilder.fail(StatusCode::InvalidArgument, "has size " + std::to_string(*fromModel.value) + " along axis " + std::to_string(i) +
                                                           " in the model, but a range was given");
      dims.push_back(*fromModel.value);
    } else {
      // Some exporters write -1 or nothing for "any size".
      std::string free = std::string(input.name) + "_dim" + std::to_string(i);
      auto renamed = renamedSizes.find(std::string(fromModel.parameter));
      std::string name = fromModel.parameter.empty() ? free : std::string(fromModel.parameter);
      trace::Dim size = renamed == renamedSizes.end() ? namedSize(name) : renamed->second;
      if (spec && spec->dims[i].min && !fixedSizes.count(name) && renamed == renamedSizes.end())
        size = traceBuilder.symbol(name, *spec->dims[i].min, *spec->dims[i].max);
      dims.push_back(size);
    }
  }
  return dims;
}

/// One element of the given type as bytes, from its text.
static bool appendElement(ElementType type, const std::string &text, std::vector<char> &bytes) {
  trace::Element element;
  const char *end = text.data() + text.size();
  if (isFloat(type)) {
    double value = 0;
    auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || stop != end)
      return false;
    element = trace::elementOf(type, value);
  } else {
    int64_t value = text == "true" || text == "True";
    if (type != ElementType::I1 || (!value && text != "false" && text != "False")) {
      auto [stop, error] = std::from_chars(text.data(), end, value);
      if (error != std::errc() || stop != end || !trace::fits(type, value))
        return false;
    }
    element = trace::Element(DimExpr(value));
  }
  std::vector<char> one;
  if (!trace::writeContents(type, {element}, one))
    return false;
  bytes.insert(bytes.end(), one.begin(), one.end());
  return true;
}

void GraphImporter::declareConstants(const compiler::ImportOptions &options) {
  for (const compiler::ConstantSpec &spec : options.constants) {
    const ValueInfo *input = findInput(spec.name);
    if (!input)
      return;
    if (mainScope.values.count(input->name))
      return traceBuilder.fail(StatusCode::InvalidArgument, "input `" + spec.name + "` is given as a constant twice");
    trace::Tensor value = constantInput(*input, spec);
    if (!traceBuilder.ok())
      return;
    mainScope.pending.erase(input->name);
    mainScope.values[input->name] = value;
  }
}

trace::Tensor GraphImporter::constantInput(const ValueInfo &input, const compiler::ConstantSpec &spec) {
  std::optional<ElementType> type = inputType(input);
  if (!type)
    return {};
  auto refuse = [&](const std::string &why) {
    traceBuilder.fail(StatusCode::InvalidArgument, why);
    return trace::Tensor();
  };
  std::vector<int64_t> dims;
  std::vector<char> bytes;
  if (spec.array) {
    // NumPy has no bf16: such arrays are f32 in files.
    bool isWide = *type == ElementType::BF16 && spec.array->type == ElementType::F32;
    if (spec.array->type != *type && !isWide)
      return refuse("is " + std::string(name(*type)) + " in the model, but the constant is " + name(spec.array->type));
    dims = spec.array->dims;
    bytes = spec.array->bytes;
    if (isWide) {
      trace::Contents numbers = trace::readContents(ElementType::F32, spec.array->bytes.data(), int64_t(bytes.size() / sizeof(float)));
      bytes.clear();
      trace::writeContents(*type, numbers, bytes);
    }
  } else {
    // Sizes that the model leaves open are what the elements make them: one axis at most can be.
    int64_t known = 1, open = -1, given = int64_t(spec.elements.size());
    if (!input.hasShape && given != 1)
      dims.push_back(open);
    for (const Dimension &dim : input.shape)
      dims.push_back(dim.value && *dim.value >= 0 ? *dim.value : open);
    constexpr int64_t most = int64_t(1) << 28;
    for (int64_t dim : dims) {
      if (dim > 0 && known > most / dim)
        return refuse("has too many elements for a constant");
      known *= dim == open ? 1 : dim;
    }
    auto first = std::find(dims.begin(), dims.end(), open);
    if (std::find(first == dims.end() ? first : first + 1, dims.end(), open) != dims.end())
      return refuse("has several sizes that the model leaves open; give the constant as a .npy file");
    bool fills = given == 1 && first == dims.end();
    if (first != dims.end())
      *first = known == 0 ? 0 : given / known;
    int64_t count = first == dims.end() ? known : known * *first;
    if (!fills && count != given)
      return refuse("has " + std::to_string(count) + " elements in the model, but the constant has " + std::to_string(given));
    for (const std::string &element : spec.elements)
      if (!appendElement(*type, element, bytes))
        return refuse("is " + std::string(name(*type)) + " in the model, which `" + element + "` is not");
    if (fills) {
      std::vector<char> one = std::move(bytes);
      bytes.clear();
      for (int64_t i = 0; i < count; ++i)
        bytes.insert(bytes.end(), one.begin(), one.end());
    }
  }
  if (input.hasShape && dims.size() != input.shape.size())
    return refuse("has rank " + std::to_string(input.shape.size()) + " in the model, but the constant has rank " + std::to_string(dims.size()));
  for (size_t i = 0; input.hasShape && i < dims.size(); ++i)
    if (input.shape[i].value && *input.shape[i].value >= 0 && *input.shape[i].value != dims[i])
      return refuse("has size " + std::to_string(*input.shape[i].value) + " along axis " + std::to_string(i) + " in the model, but the constant has " +
                    std::to_string(dims[i]));
  return traceBuilder.impl().ownedParameter(std::string(input.name), *type, dims, bytes, /*isMutable=*/false);
}

} // namespace stator::onnx
