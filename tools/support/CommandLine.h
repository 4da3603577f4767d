// The option parser of all tools. Each tool describes its options once, in groups, and gets parsing, `--help`, `--help-hidden`,
// `--version`, `--flagfile=` and error texts from the description. LLVM's parser would do, but the tools that need only the runtime
// must build without LLVM.
//
// Spelling: `--name=VALUE` or `--name VALUE`; flags are `--name` or `--name=true|false`; one-letter options are `-o FILE` or `-oFILE`.
// `--` ends the options, `-` is an argument. An option given twice: the last one counts, lists collect.
#ifndef STATOR_TOOLS_SUPPORT_COMMANDLINE_H
#define STATOR_TOOLS_SUPPORT_COMMANDLINE_H

#include "stator/Result.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stator::tools {

class CommandLine {
public:
  /// `tool` is the program's name; `usage` what follows it ("MODEL.stator [options]"); `summary` one sentence for the top of the help.
  CommandLine(std::string tool, std::string usage, std::string summary);

  /// Options declared from here on stand under this title in the help.
  void group(std::string title);
  /// Options declared from here on are shown by --help-hidden only.
  void hiddenGroup(std::string title);

  /// The variables that options write must outlive parse(); their value before it is the default (the help text says it where it
  /// matters).
  void flag(std::string name, bool *value, std::string help);
  void text(std::string name, std::string valueName, std::string *value, std::string help);
  void integer(std::string name, std::string valueName, int64_t *value, int64_t minimum, int64_t maximum, std::string help);
  void real(std::string name, std::string valueName, double *value, double minimum, std::string help);
  /// May be given several times; `separator` other than 0 also splits one value (`--target=cpu,cuda`).
  void list(std::string name, std::string valueName, std::vector<std::string> *values, std::string help, char separator = 0);
  /// One of a few words.
  void choice(std::string name, std::vector<std::string> words, std::string *value, std::string help);
  /// The general form: `set` is called for each occurrence and may refuse the value.
  void custom(std::string name, std::string valueName, std::function<Status(std::string_view)> set, std::string help);

  /// Another spelling of the option `name`; not shown. A one-letter alias is written with one dash: alias("o", "output").
  void alias(std::string spelling, std::string name);
  /// Arguments that are no options, in order. `values` takes all that are left.
  void positional(std::string name, std::string *value, std::string help, bool required = true);
  void positionals(std::string name, std::vector<std::string> *values, std::string help, size_t atLeast = 0);
  /// Options that nobody declared and whose text begins with one of `prefixes` ("--mlir-") are collected whole for another parser.
  void passThrough(std::vector<std::string> prefixes, std::vector<std::string> *arguments);
  /// Text below the options in the help: examples, exit codes.
  void epilogue(std::string text);

  /// Reads the command line. A number is the exit code to end with at once: help was printed (0) or the usage is wrong (2, said on
  /// stderr).
  std::optional<int> parse(int argc, const char *const *argv);
  /// The same without printing, for tests; the arguments come without the program's name.
  Status parseArguments(const std::vector<std::string> &arguments);
  std::string helpText(bool hidden) const;

private:
  struct Option {
    std::string name;
    std::string valueName; // Empty for flags.
    std::string help;
    size_t group;
    std::function<Status(std::string_view)> set;
  };
  struct Group {
    std::string title;
    bool hidden;
  };
  struct Alias {
    std::string spelling;
    std::string name;
  };
  struct Positional {
    std::string name;
    std::string help;
    std::string *value;
    std::vector<std::string> *values;
    size_t atLeast;
  };

  void add(std::string name, std::string valueName, std::string help, std::function<Status(std::string_view)> set);
  const Option *find(std::string_view name) const;
  std::string nearest(std::string_view name) const;
  std::string shortAliasOf(const std::string &name) const;
  Status expandFlagFiles(const std::vector<std::string> &arguments, std::vector<std::string> &expanded, int depth) const;
  Status parseOption(const std::vector<std::string> &arguments, size_t &index);

  std::string tool;
  std::string usage;
  std::string summary;
  std::string epilogueText;
  std::vector<Group> groups;
  std::vector<Option> options;
  std::vector<Alias> aliases;
  std::vector<Positional> positionalArguments;
  std::vector<std::string> passThroughPrefixes;
  std::vector<std::string> *passThroughArguments = nullptr;
};

/// Exit codes shared by all tools and described in their --help.
enum ExitCode : int {
  ExitOk = 0,
  ExitMismatch = 1,    ///< Results differ from what was expected; a check found unsupported parts.
  ExitUsage = 2,       ///< The command line is wrong.
  ExitInvalidFile = 3, ///< An input file is missing, unreadable, damaged or of another version.
  ExitFailure = 4,     ///< Compiling or running failed; or a result could not be written.
  ExitUnsupported = 5, ///< The model or file is valid, but needs something that this build or machine does not have.
};

/// The exit code for a failure.
int exitCodeFor(const Status &status);
/// Prints "tool: error: message" on stderr and returns the exit code.
int reportError(std::string_view tool, const Status &status);

/// What was printed may still be in a buffer, and the disk behind standard output full: `code`, or that of the failure to write.
int finishOutput(std::string_view tool, int code);

/// "exit codes: …" for the epilogue.
std::string exitCodeHelp();

/// A whole number with an optional sign; nothing else may follow.
Result<int64_t> parseInteger(std::string_view text);
/// A decimal number, "inf" or "nan".
Result<double> parseReal(std::string_view text);

} // namespace stator::tools

#endif // STATOR_TOOLS_SUPPORT_COMMANDLINE_H
