//===- ImportOptions.h - what users may say about a model's inputs ---------===//
//
// Every importer takes the same options: shapes and types of inputs, values or
// ranges of named sizes, inputs that become constants, and which methods are
// wanted. compiler/Options.h reads them from text; InputSpecs.h says which
// option is for which input.
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

/// One size of an input.
struct DimSpec {
  enum class Kind {
    Number,
    /// `?name`, `?name[lo..hi]` or an upper-case name. One name is one size, in all inputs and methods.
    Symbol,
    /// `?` or `?[lo..hi]`: as the model says. Where it says nothing: any size, under the name `<input>_<axis>`.
    FromModel
  } kind = Kind::FromModel;
  int64_t number = 0;
  std::string symbol;
  /// The range written in this place. For symbols it stands in ImportOptions::symbols too, which is all that importers have to read.
  std::optional<int64_t> min = std::nullopt, max = std::nullopt;
};

/// `--input=[NAME=]SHAPExTYPE` or `--input=[NAME=]@FILE.npy`, which stands for the shape and type of that file.
struct InputSpec {
  /// Empty: the next tensor input in the model's order that no other spec names.
  std::string name;
  std::vector<DimSpec> dims;
  /// Must agree with the model where the model says. Always there in a spec without a name and in one that comes from a file.
  std::optional<ElementType> type = std::nullopt;
  /// What the user wrote, for messages.
  std::string text = {};
};

/// `--dim NAME=VALUE` (then min == max) or `--dim NAME=MIN..MAX`.
struct SymbolSpec {
  std::string name;
  int64_t min = 0;
  int64_t max = 0;
};

/// `--const NAME=VALUE` or `--const NAME=@FILE.npy`: an input that is a constant of the compiled model, not an input of it.
struct ConstantSpec {
  std::string name;
  /// VALUE as elements of a tensor in row-major order, as text because the model knows their type; a single one fills the input's shape.
  std::vector<std::string> elements;
  /// Instead of both: where an array lies, and what was read from there.
  std::string file;
  struct Array {
    ElementType type = ElementType::F32;
    std::vector<int64_t> dims;
    std::vector<char> bytes;
  };
  std::optional<Array> array = std::nullopt;
  /// VALUE as it was written: for inputs that are no tensors, an importer reads it as the model's type wants.
  std::string text = {};
};

struct ImportOptions {
  std::vector<InputSpec> inputs;
  /// Every size that the user gives a value or a range, whether by --dim or inside of --input; names are unique.
  std::vector<SymbolSpec> symbols;
  std::vector<ConstantSpec> constants;
  /// `--method NAME`; empty stands for "forward".
  std::vector<std::string> methods;
};

} // namespace stator::compiler

#endif // STATOR_COMPILER_IMPORT_IMPORTOPTIONS_H
