//===- Options.h - reading the texts that options are given as -------------===//
//
// `--input=`, `--dim=`, `--cpu-levels=`: the grammar of each in one place, for
// the library's callers and the command line alike.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_OPTIONS_H
#define STATOR_COMPILER_OPTIONS_H

#include "compiler/Import/ImportOptions.h"
#include "dialects/Target/CpuLevel.h"
#include "stator/Compiler.h"

namespace stator::compiler {

/// "[NAME=]SHAPExTYPE": sizes separated by `x`, then the type's name. A size is a number, `?` (as the model says) or an upper-case
/// name of a symbol. "f32" alone is a scalar. Without a type (`x=1x3x?`, only with a name) the model's type stays.
Result<InputSpec> parseInputSpec(std::string_view text);

/// "NAME=VALUE" or "NAME=MIN..MAX"; "NAME=MIN.." leaves the upper end as large as it can be.
Result<SymbolSpec> parseSymbolSpec(std::string_view text);

/// "NAME=VALUES" with numbers, `true` or `false` separated by commas, spaces or brackets, or "NAME=@FILE.npy", which is not read here.
Result<ConstantSpec> parseConstantSpec(std::string_view text);

/// The importer's part of the options.
Result<ImportOptions> importOptionsOf(const CompileOptions &options);

/// The CPU levels that kernels are built for, from the most demanding to the least.
Result<std::vector<CpuLevel>> cpuLevelsOf(const CompileOptions &options);

/// Everything that can be said to be wrong before any file is read.
Status validate(const CompileOptions &options);

} // namespace stator::compiler

#endif // STATOR_COMPILER_OPTIONS_H
