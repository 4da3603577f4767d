// What the option parser prints: help, errors, exit codes.
#include "tools/support/CommandLine.h"

#include <cstdio>

#ifndef STATOR_VERSION
#define STATOR_VERSION "unknown"
#endif

namespace stator::tools {

// Appends `text` wrapped to 100 columns; the first line begins at column `column`, later ones are indented by it.
static void appendWrapped(std::string &out, std::string_view text, size_t column) {
  constexpr size_t width = 100;
  size_t used = column;
  while (!text.empty()) {
    size_t space = text.find(' ');
    std::string_view word = text.substr(0, space);
    if (used > column && used + 1 + word.size() > width) {
      out += "\n" + std::string(column, ' ');
      used = column;
    }
    if (used > column) {
      out += ' ';
      ++used;
    }
    out += word;
    used += word.size();
    text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
  }
  out += '\n';
}

std::string CommandLine::shortAliasOf(const std::string &name) const {
  for (const Alias &alias : aliases)
    if (alias.name == name && alias.spelling.size() == 1)
      return "-" + alias.spelling + ", ";
  return "";
}

std::string CommandLine::helpText(bool hidden) const {
  constexpr size_t column = 34;
  std::string out = summary + "\n\nusage: " + tool + " " + usage + "\n";
  auto entry = [&](std::string left, const std::string &help) {
    left = "  " + left;
    out += left;
    if (left.size() + 2 > column)
      out += "\n" + std::string(column, ' ');
    else
      out += std::string(column - left.size(), ' ');
    appendWrapped(out, help, column);
  };
  for (const Positional &positional : positionalArguments)
    entry(positional.name, positional.help);
  for (size_t g = 0; g < groups.size(); ++g) {
    if (groups[g].hidden && !hidden)
      continue;
    out += "\n" + groups[g].title + ":\n";
    for (const Option &option : options)
      if (option.group == g)
        entry(shortAliasOf(option.name) + "--" + option.name + (option.valueName.empty() ? "" : "=" + option.valueName), option.help);
  }
  out += "\nEverywhere:\n";
  entry("--help, --help-hidden", "this text; with the options for developers");
  entry("--version", "print the version");
  entry("--flagfile=FILE", "read further arguments from a file, one per line");
  if (!epilogueText.empty())
    out += "\n" + epilogueText + (epilogueText.back() == '\n' ? "" : "\n");
  return out;
}

std::optional<int> CommandLine::parse(int argc, const char *const *argv) {
  std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  for (const std::string &argument : arguments) {
    if (argument == "--")
      break;
    if (argument == "--help" || argument == "-h" || argument == "--help-hidden") {
      std::fputs(helpText(argument == "--help-hidden").c_str(), stdout);
      return ExitOk;
    }
    if (argument == "--version") {
      std::printf("%s %s\n", tool.c_str(), STATOR_VERSION);
      return ExitOk;
    }
  }
  Status status = parseArguments(arguments);
  if (status.ok())
    return std::nullopt;
  std::fprintf(stderr, "%s: error: %s\nusage: %s %s\nSee `%s --help`.\n", tool.c_str(), status.message().c_str(), tool.c_str(),
               usage.c_str(), tool.c_str());
  return ExitUsage;
}

int exitCodeFor(const Status &status) {
  switch (status.code()) {
  case StatusCode::Ok:
    return ExitOk;
  case StatusCode::InvalidFile:
  case StatusCode::NotFound:
    return ExitInvalidFile;
  case StatusCode::Unsupported:
    return ExitUnsupported;
  case StatusCode::InvalidArgument:
  case StatusCode::OutOfRange:
  case StatusCode::ResourceExhausted:
  case StatusCode::Internal:
    return ExitFailure;
  }
  return ExitFailure;
}

int reportError(std::string_view tool, const Status &status) {
  std::fprintf(stderr, "%.*s: error: %s\n", static_cast<int>(tool.size()), tool.data(), status.message().c_str());
  return exitCodeFor(status);
}

int finishOutput(std::string_view tool, int code) {
  if (std::fflush(stdout) == 0 && !std::ferror(stdout))
    return code;
  return reportError(tool, resourceExhausted("cannot write to standard output"));
}

std::string exitCodeHelp() {
  return "Exit codes: 0 success; 1 results differ or a check failed; 2 wrong command line; 3 a missing or invalid\n"
         "file; 4 compiling, running or writing failed; 5 not supported by this build or machine.\n";
}

} // namespace stator::tools
