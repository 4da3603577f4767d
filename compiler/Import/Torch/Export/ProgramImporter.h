//===- ProgramImporter.h - one exported program as one method --------------===//
//
// A program's inputs are weights, baked values and what the user gives; its
// outputs are what the user gets, and new values of buffers and inputs. Written
// buffers become state; inputs that the program writes are given back as
// outputs called `NAME.after`, for a caller's memory is never written.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_IMPORT_TORCH_EXPORT_PROGRAMIMPORTER_H
#define STATOR_COMPILER_IMPORT_TORCH_EXPORT_PROGRAMIMPORTER_H

#include "compiler/Import/ImportedModel.h"
#include "compiler/Import/Torch/Export/GraphImporter.h"
#include "compiler/Import/Torch/Export/ParameterTable.h"

namespace stator::torch::exported {

/// One program of an archive with everything that belongs to it.
struct ExportedMethod {
  std::string name;        ///< Of the method.
  std::string programName; ///< In the archive.
  std::unique_ptr<JsonDocument> document;
  Program program;
  std::unique_ptr<Weights> weights;
  std::vector<UserInput> inputs;
  std::vector<std::string> outputNames; ///< By user output; as many as there are.
  SizeTable sizes;
};

/// The tensors and numbers that the caller gives, with their names in the artifact.
Result<std::vector<UserInput>> userInputsOf(const Program &program);
/// What the results are called, one for each user output.
Result<std::vector<std::string>> userOutputNamesOf(const Program &program);

class ProgramImporter {
public:
  ProgramImporter(Context &context, ExportedMethod &method, const Archive &archive, ParameterTable &parameters,
                  const compiler::ImportOptions &options, Report &report, compiler::ImportedModel &model)
      : context(context), method(method), archive(archive), parameters(parameters), options(options), report(report), model(model) {}

  /// Traces the whole program. An error here is about the options or the interface; what nodes lack is in the report.
  Status run();

private:
  Status makeInputs(Values &values);
  Result<Value> makeUserInput(const UserInput &input);
  Result<Value> makeConstant(const UserInput &input, const compiler::ConstantSpec &spec);
  Status checkConstantInputs();
  Status makeOutputs(const Values &results);
  Status makeOutput(const std::string &name, const Value &value);
  std::set<std::string_view> usedNames() const;

  Context &context;
  ExportedMethod &method;
  const Archive &archive;
  ParameterTable &parameters;
  const compiler::ImportOptions &options;
  Report &report;
  compiler::ImportedModel &model;
  /// By position in Program::inputs, and the value at the entry.
  std::map<size_t, std::pair<TensorRef, trace::Tensor>> inputTensors;
};

} // namespace stator::torch::exported

#endif // STATOR_COMPILER_IMPORT_TORCH_EXPORT_PROGRAMIMPORTER_H
