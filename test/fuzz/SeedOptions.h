// TorchScript files do not say what shapes their inputs have, so that seeds hold the options of a compilation in a record of their own,
// extra/options: lines such as `input=2x3xf32` and `const=k=3`.
#ifndef STATOR_TEST_FUZZ_SEEDOPTIONS_H
#define STATOR_TEST_FUZZ_SEEDOPTIONS_H

#include "compiler/Import/Torch/Archive/Archive.h"

namespace stator::fuzz {

/// Pairs such as ("input", "2x3xf32").
inline std::vector<std::pair<std::string, std::string>> seedOptions(const torch::Archive &archive) {
  std::vector<std::pair<std::string, std::string>> options;
  const torch::Record *record = archive.find("extra/options");
  Result<std::string_view> text = record ? archive.text(*record) : Result<std::string_view>(std::string_view());
  for (std::string_view rest = text.ok() ? *text : std::string_view(); !rest.empty();) {
    size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    // A changed text must not make a program read files.
    if (size_t equals = line.find('='); equals != line.npos && line.find('@') == line.npos)
      options.emplace_back(line.substr(0, equals), line.substr(equals + 1));
  }
  return options;
}

} // namespace stator::fuzz

#endif // STATOR_TEST_FUZZ_SEEDOPTIONS_H
