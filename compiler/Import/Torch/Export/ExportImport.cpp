//===- ExportImport.cpp - from a torch.export archive to the graph dialect -===//

#include "compiler/Import/Torch/Export/ExportImport.h"
#include "compiler/Import/InputSpecs.h"
#include "compiler/Import/Torch/Aten/ScalarTypes.h"
#include "compiler/Import/Torch/Export/Programs.h"
#include "compiler/Trace/BuilderImpl.h"
#include "dialects/Graph/GraphDialect.h"

#include <algorithm>

namespace stator::torch {

using namespace exported;

namespace {

class Import {
public:
  Import(const std::string &path, const compiler::ImportOptions &options, mlir::MLIRContext &context)
      : path(path), options(options), context(context), parameters(path) {}

  compiler::ImportedModel run(std::shared_ptr<Archive> opened = nullptr) {
    archive = std::move(opened);
    Status status = read();
    if (status.ok())
      status = trace();
    model.status = status.withContext(path);
    if (!model.status.ok())
      model.module = nullptr;
    return std::move(model);
  }

private:
  Status read() {
    if (!archive) {
      STATOR_TRY(opened, Archive::open(path));
      archive = std::move(opened);
    }
    STATOR_TRY(programs, readPrograms(*archive, options.methods));
    methods = std::move(programs);
    const Program &first = methods.front().program;
    fileInfo.emplace_back("producer", "PyTorch " + std::string(first.torchVersion));
    fileInfo.emplace_back("schema", std::to_string(first.schemaMajor) + "." + std::to_string(first.schemaMinor));
    std::map<std::string, unsigned> counts;
    for (const ExportedMethod &method : methods)
      countOperators(method.program.graph, counts);
    for (const auto &[name, count] : counts)
      model.operators.emplace_back(name, count);
    return applyOptions();
  }

  const compiler::ConstantSpec *constantFor(const std::string &name) const {
    for (const compiler::ConstantSpec &spec : options.constants)
      if (spec.name == name)
        return &spec;
    return nullptr;
  }

  Status checkConstantNames() const {
    std::vector<std::string> names;
    for (const ExportedMethod &method : methods) {
      for (const UserInput &input : method.inputs)
        names.push_back(input.name);
      for (const InputSpec &input : method.program.inputs)
        if (input.kind == InputSpec::Kind::ConstantInput)
          names.emplace_back(input.name);
    }
    for (const compiler::ConstantSpec &spec : options.constants)
      if (std::find(names.begin(), names.end(), spec.name) == names.end())
        return invalidArgument("there is no input `" + spec.name + "`; the inputs are " + compiler::quotedList(names));
    return okStatus();
  }

  Status applyOptions() {
    STATOR_RETURN_IF_ERROR(checkConstantNames());
    std::vector<compiler::MethodInputs> tensors;
    for (const ExportedMethod &method : methods) {
      compiler::MethodInputs inputs{method.name, {}};
      for (const UserInput &input : method.inputs)
        if (input.meta && !constantFor(input.name))
          inputs.tensors.push_back(input.name);
      tensors.push_back(std::move(inputs));
    }
    STATOR_TRY(assigned, compiler::assignInputSpecs(options, tensors));
    std::set<std::string> sizeNames;
    for (size_t m = 0; m < methods.size(); ++m) {
      std::vector<const compiler::InputSpec *> specs;
      std::vector<std::vector<int64_t>> constantDims;
      size_t next = 0;
      for (const UserInput &input : methods[m].inputs) {
        const compiler::ConstantSpec *constant = constantFor(input.name);
        bool isTensor = input.meta && !constant;
        specs.push_back(isTensor ? assigned[m][next++] : nullptr);
        constantDims.push_back(constant && constant->array ? constant->array->dims : std::vector<int64_t>());
        STATOR_RETURN_IF_ERROR(checkType(input, specs.back()));
      }
      Result<SizeTable> sizes = SizeTable::make(methods[m].program, methods[m].inputs, specs, constantDims, options);
      if (!sizes.ok())
        return sizes.status();
      methods[m].sizes = std::move(*sizes);
      sizeNames.insert(methods[m].sizes.names().begin(), methods[m].sizes.names().end());
    }
    for (const compiler::SymbolSpec &symbol : options.symbols)
      if (!sizeNames.contains(symbol.name))
        return notFound("no size of the inputs is named `" + symbol.name + "`; the sizes are " +
                        compiler::quotedList(std::vector<std::string>(sizeNames.begin(), sizeNames.end())));
    return okStatus();
  }

  static Status checkType(const UserInput &input, const compiler::InputSpec *spec) {
    std::optional<ElementType> type = input.meta ? elementTypeOf(input.meta->scalarType) : std::nullopt;
    if (spec && spec->type && type && *spec->type != *type)
      return invalidArgument("input `" + input.name + "`: is " + std::string(stator::name(*type)) + " in the program, but " +
                             std::string(stator::name(*spec->type)) + " was given");
    return okStatus();
  }

  /// Traces all methods until it is known which parameters are state. Each round learns of at least one more, so that it ends; real
  /// programs need two.
  Status trace() {
    for (ExportedMethod &method : methods)
      for (const OutputSpec &output : method.program.outputs)
        if (output.kind == OutputSpec::Kind::BufferMutation || output.kind == OutputSpec::Kind::ParameterMutation)
          STATOR_RETURN_IF_ERROR(parameters.declareMutable(*method.weights, output.target));
    do {
      parameters.needsRetrace = false;
      STATOR_RETURN_IF_ERROR(traceOnce());
    } while (parameters.needsRetrace);
    if (!parameters.states.empty())
      model.info.emplace_back("state", compiler::quotedList(std::vector<std::string>(parameters.states.begin(), parameters.states.end())));
    return okStatus();
  }

  Status traceOnce() {
    context.loadDialect<graph::GraphDialect, mlir::func::FuncDialect>();
    model.module = mlir::OwningOpRef<mlir::ModuleOp>(mlir::ModuleOp::create(mlir::UnknownLoc::get(&context)));
    model.info = fileInfo;
    model.warnings.clear();
    parameters.startModule();
    Report report;
    for (ExportedMethod &method : methods) {
      parameters.startMethod();
      trace::Builder builder(std::make_unique<trace::BuilderImpl>(*model.module, method.name));
      Context tensors(builder);
      ProgramImporter importer(tensors, method, *archive, parameters, options, report, model);
      STATOR_RETURN_IF_ERROR(importer.run());
      if (report.empty() && !parameters.needsRetrace)
        STATOR_RETURN_IF_ERROR(builder.finish());
    }
    Status summary = report.summary();
    // A damaged file is no matter of what is supported; its summary names all parts in any case.
    model.unsupported = summary.code() == StatusCode::Unsupported ? report.parts : std::vector<compiler::UnsupportedPart>();
    return summary;
  }

  const std::string &path;
  const compiler::ImportOptions &options;
  mlir::MLIRContext &context;
  std::shared_ptr<Archive> archive;
  std::vector<ExportedMethod> methods;
  ParameterTable parameters;
  compiler::ImportedModel model;
  std::vector<std::pair<std::string, std::string>> fileInfo;
};

} // namespace

compiler::ImportedModel importExport(const std::string &path, const compiler::ImportOptions &options, mlir::MLIRContext &context) {
  return Import(path, options, context).run();
}

compiler::ImportedModel importExport(std::shared_ptr<Archive> archive, const std::string &path, const compiler::ImportOptions &options,
                                     mlir::MLIRContext &context) {
  return Import(path, options, context).run(std::move(archive));
}

} // namespace stator::torch
