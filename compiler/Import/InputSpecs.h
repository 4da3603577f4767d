//===- InputSpecs.h - which option is for which input ----------------------===//
//
// Shapes are given by name or in order; the rules and the errors are the same
// for all formats, so they are here and not in the importers.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_IMPORT_INPUTSPECS_H
#define STATOR_COMPILER_IMPORT_INPUTSPECS_H

#include "compiler/Import/ImportOptions.h"
#include "stator/Result.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stator::compiler {

/// The tensor inputs of a method that are not constants, in order.
struct MethodInputs {
  std::string method;
  std::vector<std::string> tensors;
};

/// `[m][i]` is the spec for input i of method m, or null. A spec with a name is for every method that has an input of that name; specs
/// without one go in order to those inputs of the first method that have no spec by name. InvalidArgument for one that fits nowhere, and
/// for two with one name.
Result<std::vector<std::vector<const InputSpec *>>> assignInputSpecs(const ImportOptions &options, std::span<const MethodInputs> methods);

/// The value or range that the user gives the size `name`, or null.
const SymbolSpec *findSymbol(const ImportOptions &options, std::string_view name);

/// "`a`, `b`", for messages that list what there is; "none" for nothing.
std::string quotedList(std::span<const std::string> names);

} // namespace stator::compiler

#endif // STATOR_COMPILER_IMPORT_INPUTSPECS_H
