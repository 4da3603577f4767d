//===- ImportOptions.h - what users may say about a model's inputs ---------===//
//
// Every importer takes the same options: overrides of input shapes and types,
// values or ranges of named sizes, and inputs that become constants.
// compiler/Options.h reads them from text.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_IMPORT_IMPORTOPTIONS_H
#define STATOR_COMPILER_IMPORT_IMPORTOPTIONS_H

#include "stator/ElementType.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stator::compiler {

/// One size of an input: a number, a symbol, or as the model says (`?`).
struct DimSpec {
  enum class Kind { Number, Symbol, FromModel } kind = Kind::FromModel;
  int64_t number = 0;
  std::string symbol;
};

/// `--input=[NAME=]SHAPExTYPE`.
struct InputSpec {
  /// Empty: the next input in the model's order that no other spec names.
  std::string name;
  std::vector<DimSpec> dims;
  /// Must agree with the model where the model says.
  std::optional<ElementType> type;
};

/// `--dim NAME=VALUE` (then min == max) or `--dim NAME=MIN..MAX`.
struct SymbolSpec {
  std::string name;
  int64_t min = 0;
  int64_t max = 0;
};

/// `--const NAME=VALUES` or `--const NAME=@FILE.npy`: an input that is a constant of the compiled model, not an input of it.
struct ConstantSpec {
  std::string name;
  /// The elements in row-major order, as text because the model knows their type; a single one fills the input's shape.
  std::vector<std::string> elements;
  /// Instead of `elements`: where an array lies, and what was read from there.
  std::string file;
  struct Array {
    ElementType type = ElementType::F32;
    std::vector<int64_t> dims;
    std::vector<char> bytes;
  };
  std::optional<Array> array;
};

struct ImportOptions {
  std::vector<InputSpec> inputs;
  std::vector<SymbolSpec> symbols;
  std::vector<ConstantSpec> constants;
};

} // namespace stator::compiler

#endif // STATOR_COMPILER_IMPORT_IMPORTOPTIONS_H
