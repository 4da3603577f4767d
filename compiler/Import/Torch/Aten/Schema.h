// Signatures of operators in PyTorch's own notation, "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", and the
// matching of arguments against them. TorchScript's text carries no overload names: the first overload of the table that fits the
// arguments is meant. torch.export names the overload and passes arguments by name, leaving out what was not given.
#ifndef STATOR_COMPILER_IMPORT_TORCH_ATEN_SCHEMA_H
#define STATOR_COMPILER_IMPORT_TORCH_ATEN_SCHEMA_H

#include "compiler/Import/Torch/Aten/Value.h"
#include "stator/Result.h"

namespace stator::torch {

enum class ParameterKind { Tensor, Int, Float, Bool, String, Scalar, ScalarType, Layout, Device, MemoryFormat, Generator, Any };

struct SchemaParameter {
  std::string name;
  ParameterKind kind = ParameterKind::Tensor;
  bool isList = false;
  bool isOptional = false;       // the whole: Tensor?, int[]?
  bool hasOptionalItems = false; // Tensor?[]
  int64_t length = 0;            // int[2]: a single int stands for as many
  bool isKeywordOnly = false;
  std::optional<Value> defaultValue = {};
};

struct Schema {
  std::string name;     // "add", "quantized_decomposed::quantize_per_tensor"
  std::string overload; // "Tensor"; empty for the default one
  std::vector<SchemaParameter> parameters;
  std::string text;

  std::string fullName() const { return overload.empty() ? name : name + "." + overload; }
  std::optional<size_t> find(std::string_view parameter) const;
};

/// Dies on a malformed text: schemas are ours.
Schema parseSchema(std::string_view text);

struct KeywordArgument {
  std::string name;
  Value value;
};

/// How far arguments may be bent to fit: TorchScript first tries without, then with conversions (a rank-0 tensor for an int, ...).
enum class Conversions { None, Allowed };

/// The arguments in the order of the parameters, defaults filled in. The error says which argument does not fit.
Result<Values> bindArguments(const Schema &schema, const Values &positional, const std::vector<KeywordArgument> &keywords,
                             Conversions conversions);

} // namespace stator::torch

#endif // STATOR_COMPILER_IMPORT_TORCH_ATEN_SCHEMA_H
