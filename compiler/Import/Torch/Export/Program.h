//===- Program.h - an exported program as its JSON describes it ------------===//
//
// The structs mirror torch/_export/serde/schema.py as far as an importer needs
// it. Texts are views into the JsonDocument. Parsing checks everything that
// can be checked without knowing an operator: the version of the schema, types
// of members, tagged unions with exactly one member, sizes by the grammar of
// SymbolicText.h, as many strides as sizes. Numbers of element types, memory
// formats and layouts are turned into c10's here and nowhere else.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_IMPORT_TORCH_EXPORT_PROGRAM_H
#define STATOR_COMPILER_IMPORT_TORCH_EXPORT_PROGRAM_H

#include "compiler/Import/Torch/Export/Json.h"
#include "serialization/Base/DimExpr.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stator::torch::exported {

/// The schema that is read; minor versions only add.
inline constexpr int64_t supportedSchemaMajor = 8;

struct Graph;

enum class ArgumentKind {
  None,
  Reference, ///< `text` names a value of the graph: tensor, symbolic number, custom object.
  Int,
  Float,
  Bool,
  String,
  ScalarType,   ///< `integer` in c10's numbers, as the three below.
  MemoryFormat, // c10: contiguous 0, preserve 1, channels last 2, channels last 3d 3
  Layout,       // c10: strided 0
  Device,       ///< `text` is "cpu", "cuda:0".
  List,         ///< `items`
  Dict,         ///< `items` with `keys`
  Graph,        ///< `graph`
  Unsupported   ///< `tag` says what: custom objects, complex numbers.
};

struct Argument {
  ArgumentKind kind = ArgumentKind::None;
  std::string_view tag; ///< The union's member: "as_tensor", "as_sym_int".
  std::string text;
  int64_t integer = 0;
  double real = 0;
  std::vector<Argument> items;
  std::vector<std::string_view> keys;
  std::shared_ptr<const Graph> graph;
};

struct NamedArgument {
  std::string_view name; ///< Empty for the arguments of higher-order operators.
  Argument value;
};

struct Node {
  std::string_view target; ///< "torch.ops.aten.add.Tensor"
  std::string_view name;   ///< Since 8.16, else empty.
  std::string_view stackTrace;
  std::vector<NamedArgument> inputs;
  std::vector<Argument> outputs;

  /// What a person calls the node: its name, else its first output, else the target.
  std::string_view title() const;
};

struct TensorMeta {
  int64_t scalarType = -1; ///< c10
  std::vector<DimExpr> sizes, strides;
  DimExpr offset;
};

struct Graph {
  std::string_view name; ///< Of a sub-graph.
  std::vector<Argument> inputs, outputs;
  std::vector<Node> nodes;
  std::map<std::string_view, TensorMeta> tensors;
  /// Symbolic integers that are expressions; invalid where they cannot be represented.
  std::map<std::string_view, DimExpr> sizes;
};

struct InputSpec {
  enum class Kind { Parameter, Buffer, TensorConstant, CustomObject, Token, UserInput, ConstantInput } kind = Kind::UserInput;
  std::string_view name;   ///< The value's name in the graph; of a constant input, the argument's name.
  std::string_view target; ///< Parameters, buffers, constants: the name in the module ("net.0.weight").
  Argument argument;       ///< Of a user or constant input.
};

struct OutputSpec {
  enum class Kind {
    UserOutput,
    LossOutput,
    BufferMutation,
    ParameterMutation,
    UserInputMutation,
    GradientToParameter,
    GradientToUserInput,
    Token
  } kind = Kind::UserOutput;
  Argument argument;
  std::string_view target; ///< The buffer, parameter or user input.
};

struct RangeConstraint {
  std::string_view expression; ///< Printed: "s44", "2*s44".
  int64_t min = 0;
  std::optional<int64_t> max;
};

struct Program {
  int64_t schemaMajor = 0, schemaMinor = 0;
  std::string_view torchVersion;
  std::vector<std::string_view> verifiers; ///< "TRAINING" (in-place ops may occur), "ATEN", "EDGE"
  std::vector<RangeConstraint> ranges;
  std::vector<std::string_view> guards; ///< Python source; shown, never run.
  Graph graph;
  std::vector<InputSpec> inputs;   // as graph.inputs
  std::vector<OutputSpec> outputs; // as graph.outputs
  /// Trees of the user's arguments and results, see TreeSpec.h; empty when the file has none.
  std::string_view inputTree, outputTree;
  std::vector<std::string_view> argumentNames;
  /// Registered name of a named tuple, and its fields.
  std::map<std::string_view, std::vector<std::string_view>> namedTuples;
};

/// Views point into `document`.
Result<Program> parseProgram(const JsonDocument &document);

struct WeightEntry {
  std::string_view name;     ///< "net.0.weight"
  std::string_view pathName; ///< The record below data/weights or data/constants.
  bool isParameter = false;
  bool isPickled = false; ///< A tensor subclass or other object, whatever the description says.
  int64_t scalarType = -1;
  std::vector<int64_t> sizes, strides;
  int64_t offset = 0;
};

/// A *_weights_config.json or *_constants_config.json.
Result<std::vector<WeightEntry>> parseWeightConfig(const JsonDocument &document);

} // namespace stator::torch::exported

#endif // STATOR_COMPILER_IMPORT_TORCH_EXPORT_PROGRAM_H
