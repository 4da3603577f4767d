// Declaring and reading options; the help text is in CommandLineHelp.cpp.
#include "tools/support/CommandLine.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <fstream>

namespace stator::tools {

CommandLine::CommandLine(std::string tool, std::string usage, std::string summary)
    : tool(std::move(tool)), usage(std::move(usage)), summary(std::move(summary)) {}

void CommandLine::group(std::string title) { groups.push_back({std::move(title), false}); }
void CommandLine::hiddenGroup(std::string title) { groups.push_back({std::move(title), true}); }

void CommandLine::add(std::string name, std::string valueName, std::string help, std::function<Status(std::string_view)> set) {
  if (groups.empty())
    group("Options");
  options.push_back({std::move(name), std::move(valueName), std::move(help), groups.size() - 1, std::move(set)});
}

void CommandLine::flag(std::string name, bool *value, std::string help) {
  add(std::move(name), "", std::move(help), [value](std::string_view text) -> Status {
    if (text == "true" || text == "1" || text.empty())
      *value = true;
    else if (text == "false" || text == "0")
      *value = false;
    else
      return invalidArgument("`" + std::string(text) + "` is neither true nor false");
    return okStatus();
  });
}

void CommandLine::text(std::string name, std::string valueName, std::string *value, std::string help) {
  add(std::move(name), std::move(valueName), std::move(help), [value](std::string_view text) {
    *value = text;
    return okStatus();
  });
}

void CommandLine::integer(std::string name, std::string valueName, int64_t *value, int64_t minimum, int64_t maximum, std::string help) {
  add(std::move(name), std::move(valueName), std::move(help), [=](std::string_view text) -> Status {
    STATOR_TRY(number, parseInteger(text));
    if (number < minimum || number > maximum) {
      std::string range = maximum == std::numeric_limits<int64_t>::max() ? "at least " + std::to_string(minimum)
                                                                         : std::to_string(minimum) + " to " + std::to_string(maximum);
      return invalidArgument(std::to_string(number) + " is outside of the range, " + range);
    }
    *value = number;
    return okStatus();
  });
}

void CommandLine::real(std::string name, std::string valueName, double *value, double minimum, std::string help) {
  add(std::move(name), std::move(valueName), std::move(help), [=](std::string_view text) -> Status {
    STATOR_TRY(number, parseReal(text));
    if (!(number >= minimum))
      return invalidArgument("`" + std::string(text) + "` is less than " + std::to_string(minimum));
    *value = number;
    return okStatus();
  });
}

void CommandLine::list(std::string name, std::string valueName, std::vector<std::string> *values, std::string help, char separator) {
  add(std::move(name), std::move(valueName), std::move(help), [=](std::string_view text) {
    for (;;) {
      size_t end = separator ? text.find(separator) : std::string_view::npos;
      values->emplace_back(text.substr(0, end));
      if (end == std::string_view::npos)
        return okStatus();
      text.remove_prefix(end + 1);
    }
  });
}

void CommandLine::choice(std::string name, std::vector<std::string> words, std::string *value, std::string help) {
  std::string joined;
  for (const std::string &word : words)
    joined += (joined.empty() ? "" : "|") + word;
  add(std::move(name), joined, std::move(help), [words, joined, value](std::string_view text) -> Status {
    if (std::find(words.begin(), words.end(), text) == words.end())
      return invalidArgument("`" + std::string(text) + "` is not one of " + joined);
    *value = text;
    return okStatus();
  });
}

void CommandLine::custom(std::string name, std::string valueName, std::function<Status(std::string_view)> set, std::string help) {
  add(std::move(name), std::move(valueName), std::move(help), std::move(set));
}

void CommandLine::alias(std::string spelling, std::string name) { aliases.push_back({std::move(spelling), std::move(name)}); }

void CommandLine::positional(std::string name, std::string *value, std::string help, bool required) {
  positionalArguments.push_back({std::move(name), std::move(help), value, nullptr, required ? 1u : 0u});
}
void CommandLine::positionals(std::string name, std::vector<std::string> *values, std::string help, size_t atLeast) {
  positionalArguments.push_back({std::move(name), std::move(help), nullptr, values, atLeast});
}

void CommandLine::passThrough(std::vector<std::string> prefixes, std::vector<std::string> *arguments) {
  passThroughPrefixes = std::move(prefixes);
  passThroughArguments = arguments;
}

void CommandLine::epilogue(std::string text) { epilogueText = std::move(text); }

const CommandLine::Option *CommandLine::find(std::string_view name) const {
  for (const Alias &alias : aliases)
    if (alias.spelling == name)
      name = alias.name;
  for (const Option &option : options)
    if (option.name == name)
      return &option;
  return nullptr;
}

// Edit distance, for "did you mean". Names are short, so the quadratic table is nothing.
static size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t next = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = row[j];
      row[j] = next;
    }
  }
  return row[b.size()];
}

std::string CommandLine::nearest(std::string_view name) const {
  std::string best;
  size_t bestDistance = name.size() / 3 + 2;
  for (const Option &option : options) {
    size_t d = distance(name.substr(0, 64), option.name);
    if (d < bestDistance) {
      bestDistance = d;
      best = option.name;
    }
  }
  return best;
}

Status CommandLine::expandFlagFiles(const std::vector<std::string> &arguments, std::vector<std::string> &expanded, int depth) const {
  constexpr std::string_view prefix = "--flagfile=";
  for (const std::string &argument : arguments) {
    if (argument.compare(0, prefix.size(), prefix) != 0 || find("flagfile")) {
      expanded.push_back(argument);
      continue;
    }
    std::string path = argument.substr(prefix.size());
    if (depth == 8)
      return invalidArgument("flag files nest more than 8 deep at `" + path + "`");
    std::ifstream file(path);
    if (!file)
      return invalidArgument("cannot read the flag file `" + path + "`");
    // One argument per line; empty lines and lines that begin with # are skipped.
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) {
      size_t begin = line.find_first_not_of(" \t\r");
      if (begin == std::string::npos || line[begin] == '#')
        continue;
      lines.push_back(line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin));
    }
    STATOR_RETURN_IF_ERROR(expandFlagFiles(lines, expanded, depth + 1));
  }
  return okStatus();
}

Status CommandLine::parseOption(const std::vector<std::string> &arguments, size_t &index) {
  const std::string &argument = arguments[index];
  bool isLong = argument.compare(0, 2, "--") == 0;
  std::string_view body = std::string_view(argument).substr(isLong ? 2 : 1);
  std::string_view name = isLong ? body.substr(0, body.find('=')) : body.substr(0, 1);
  bool hasValue = name.size() < body.size();
  std::string_view value = body.substr(name.size());
  if (hasValue && isLong)
    value.remove_prefix(1);
  std::string shown = (isLong ? "--" : "-") + std::string(name);

  const Option *option = find(name);
  if (!option && passThroughArguments)
    for (const std::string &prefix : passThroughPrefixes)
      if (argument.compare(0, prefix.size(), prefix) == 0) {
        passThroughArguments->push_back(argument);
        return okStatus();
      }
  if (!option) {
    std::string suggestion = isLong ? nearest(name) : "";
    return invalidArgument("unknown option `" + shown + "`" + (suggestion.empty() ? "" : ", did you mean `--" + suggestion + "`?"));
  }
  if (!hasValue && !option->valueName.empty()) {
    if (index + 1 == arguments.size())
      return invalidArgument("`" + shown + "` needs a value: " + option->valueName);
    value = arguments[++index];
  }
  return option->set(value).withContext("`" + shown + "`");
}

Status CommandLine::parseArguments(const std::vector<std::string> &given) {
  std::vector<std::string> arguments;
  STATOR_RETURN_IF_ERROR(expandFlagFiles(given, arguments, 0));
  std::vector<std::string> rest;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string &argument = arguments[i];
    if (argument == "--") {
      rest.insert(rest.end(), arguments.begin() + i + 1, arguments.end());
      break;
    }
    if (argument.size() < 2 || argument[0] != '-')
      rest.push_back(argument);
    else
      STATOR_RETURN_IF_ERROR(parseOption(arguments, i));
  }
  size_t next = 0;
  for (const Positional &positional : positionalArguments) {
    if (rest.size() - next < positional.atLeast)
      return invalidArgument("missing argument " + positional.name + ": " + positional.help);
    if (positional.values) {
      positional.values->assign(rest.begin() + next, rest.end());
      next = rest.size();
    } else if (next < rest.size()) {
      *positional.value = rest[next++];
    }
  }
  if (next < rest.size())
    return invalidArgument("unexpected argument `" + rest[next] + "`");
  return okStatus();
}

Result<int64_t> parseInteger(std::string_view text) {
  int64_t number = 0;
  std::string_view digits = !text.empty() && text[0] == '+' ? text.substr(1) : text;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error == std::errc::result_out_of_range)
    return invalidArgument("`" + std::string(text) + "` does not fit into 64 bits");
  if (error != std::errc() || end != digits.data() + digits.size())
    return invalidArgument("`" + std::string(text) + "` is not a whole number");
  return number;
}

Result<double> parseReal(std::string_view text) {
  double number = 0;
  std::string_view digits = !text.empty() && text[0] == '+' ? text.substr(1) : text;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size())
    return invalidArgument("`" + std::string(text) + "` is not a number");
  return number;
}

} // namespace stator::tools
