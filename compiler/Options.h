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
#include "dialects/Target/Optimisations.h"
#include "stator/Compiler.h"

namespace stator::compiler {

/// "[NAME=]SHAPExTYPE" or "[NAME=]@FILE.npy", which is read for its shape and type. A shape is sizes separated by `x`, then the type's
/// name. A size is a number; `?name` or an upper-case name, which names a size of which nothing is known yet; `?name[1..64]` with its
/// range; or `?` or `?[1..64]`, as the model says. "f32" alone is a scalar. Without a type (`x=1x3x?`, only with a name) the model's type
/// stays. The name is all before the last `=` (before the first `=@` for files), so that it may hold `=`, `x`, dots and brackets.
Result<InputSpec> parseInputSpec(std::string_view text);

/// "NAME=VALUE" or "NAME=MIN..MAX"; "NAME=MIN.." leaves the upper end as large as it can be.
Result<SymbolSpec> parseSymbolSpec(std::string_view text);

/// "NAME=VALUE" or "NAME=@FILE.npy", which is not read here. VALUE is kept as text, and split into elements for tensors: numbers, `true` or
/// `false` separated by commas, spaces or brackets. Where VALUE is such a list the name is all before the last `=`, else before the first.
Result<ConstantSpec> parseConstantSpec(std::string_view text);

/// The importer's part of the options; reads the files that shapes are taken from. InvalidArgument for options that contradict each other.
Result<ImportOptions> importOptionsOf(const CompileOptions &options);

/// The CPU levels that kernels are built for, from the most demanding to the least.
Result<std::vector<CpuLevel>> cpuLevelsOf(const CompileOptions &options);

/// What the optimise and plan stages may use.
Result<Optimisations> optimisationsOf(const CompileOptions &options);

/// Everything that can be said to be wrong before any file is read.
Status validate(const CompileOptions &options);

} // namespace stator::compiler

#endif // STATOR_COMPILER_OPTIONS_H
