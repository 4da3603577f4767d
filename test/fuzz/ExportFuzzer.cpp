// The JSON of exported programs through the whole importer. The archive around it is made here, with a weight of the right type and shape
// for each that the program asks for, so that changes of the text get as far as the operators.
#include "compiler/Import/Torch/Archive/Archive.h"
#include "compiler/Import/Torch/Export/ExportImport.h"
#include "compiler/Import/Torch/Export/Program.h"
#include "compiler/Import/Torch/Export/SymbolicText.h"

#include "mlir/IR/MLIRContext.h"

#include <zlib.h>

using namespace stator;
using namespace stator::torch;
using namespace stator::torch::exported;

namespace {

/// A zip of stored entries.
class Zip {
public:
  void add(const std::string &name, std::string_view content) {
    uint32_t offset = static_cast<uint32_t>(bytes.size());
    std::string entry = fields({{20, 2}, {0, 2}, {0, 2}, {0, 2}, {0, 2}});
    entry += fields(
        {{crc32_z(0, reinterpret_cast<const Bytef *>(content.data()), content.size()), 4}, {content.size(), 4}, {content.size(), 4}});
    entry += fields({{name.size(), 2}, {0, 2}});
    bytes += "PK\3\4" + entry + name + std::string(content);
    directory += "PK\1\2" + fields({{20, 2}}) + entry + fields({{0, 2}, {0, 2}, {0, 2}, {0, 4}, {offset, 4}}) + name;
    ++count;
  }
  std::shared_ptr<const std::vector<std::byte>> finish() {
    std::string end = "PK\5\6" + fields({{0, 2}, {0, 2}, {count, 2}, {count, 2}, {directory.size(), 4}, {bytes.size(), 4}, {0, 2}});
    std::string whole = bytes + directory + end;
    const auto *data = reinterpret_cast<const std::byte *>(whole.data());
    return std::make_shared<const std::vector<std::byte>>(data, data + whole.size());
  }

private:
  /// Numbers of so many bytes, least significant first.
  static std::string fields(std::initializer_list<std::pair<uint64_t, unsigned>> numbers) {
    std::string text;
    for (auto [number, size] : numbers)
      for (unsigned i = 0; i != size; ++i)
        text += static_cast<char>(number >> (8 * i));
    return text;
  }

  std::string bytes, directory;
  unsigned count = 0;
};

/// The directory of weights that the program asks for, as far as their sizes are numbers; each is one element, repeated.
std::string weightConfig(const Program &program, Zip &zip) {
  // The number of each type in the file's own counting, by c10's.
  constexpr int numbers[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0, 0, 0, 13};
  std::string entries;
  unsigned records = 0;
  for (const InputSpec &input : program.inputs) {
    auto meta = program.graph.tensors.find(input.name);
    if (input.target.empty() || meta == program.graph.tensors.end() || meta->second.scalarType < 0 || meta->second.scalarType > 15)
      continue;
    std::string sizes, strides;
    for (const DimExpr &size : meta->second.sizes)
      sizes += (sizes.empty() ? "" : ",") + std::string("{\"as_int\":") + std::to_string(size.constant().value_or(1)) + "}";
    for (size_t i = 0; i < meta->second.sizes.size(); ++i)
      strides += std::string(i ? "," : "") + "{\"as_int\":0}";
    bool isPlain = input.target.find_first_of("\"\\") == std::string_view::npos;
    if (!isPlain || entries.find("\"" + std::string(input.target) + "\":") != std::string::npos)
      continue;
    std::string record = "weight_" + std::to_string(records++);
    zip.add("m/data/weights/" + record, std::string(16, '\1'));
    entries += (entries.empty() ? "\"" : ",\"") + std::string(input.target) + R"(":{"path_name":")" + record +
               R"(","use_pickle":false,"tensor_meta":{"dtype":)" + std::to_string(numbers[meta->second.scalarType]) + ",\"sizes\":[" +
               sizes + "],\"strides\":[" + strides + "],\"storage_offset\":{\"as_int\":0}}}";
  }
  return "{\"config\":{" + entries + "}}";
}

struct Token {
  size_t at, size;
  bool isString;
};

/// The strings and numbers of a JSON text; strings without their quotes.
std::vector<Token> tokensOf(std::string_view text) {
  std::vector<Token> tokens;
  for (size_t i = 0; i < text.size(); ++i) {
    size_t start = i;
    if (text[i] == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i)
        i += text[i] == '\\';
      tokens.push_back({start + 1, std::min(i, text.size()) - start - 1, true});
    } else if (text[i] == '-' || (text[i] >= '0' && text[i] <= '9')) {
      while (i < text.size() && (text[i] == '-' || text[i] == '.' || text[i] == 'e' || (text[i] >= '0' && text[i] <= '9')))
        ++i;
      tokens.push_back({start, i - start, false});
      --i;
    }
  }
  return tokens;
}

} // namespace

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

/// Changes of bytes hardly ever leave a JSON text whole; a token in the place of another one does.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  std::string text(reinterpret_cast<const char *>(data), size);
  std::vector<Token> tokens = tokensOf(text);
  if (seed % 8 == 0 || tokens.empty())
    return LLVMFuzzerMutate(data, size, maxSize);
  static const char *const numbers[] = {
      "0", "1", "-1", "2", "3", "64", "1000000", "2147483648", "9223372036854775807", "-9223372036854775808"};
  unsigned random = seed / 8;
  auto below = [&](size_t limit) {
    random = random * 1664525 + 1013904223;
    return size_t(random >> 8) % limit;
  };
  Token target = tokens[below(tokens.size())], source = tokens[below(tokens.size())];
  for (unsigned tries = 0; tries != 100 && source.isString != target.isString; ++tries)
    source = tokens[below(tokens.size())];
  std::string by = text.substr(source.at, source.size);
  if (!target.isString && below(2) == 0)
    by = numbers[below(std::size(numbers))];
  if (source.isString == target.isString)
    text.replace(target.at, target.size, by);
  size = std::min(text.size(), maxSize);
  std::copy_n(text.begin(), size, data);
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  // Both grammars of sizes also take the text as it is.
  (void)parseSrepr(text).ok();
  (void)parsePrinted(text).ok();
  Result<JsonDocument> document = JsonDocument::parse(text);
  if (!document.ok())
    return 0;
  Result<Program> program = parseProgram(*document);
  if (!program.ok())
    return 0;
  Zip zip;
  zip.add("m/models/model.json", text);
  zip.add("m/data/weights/model_weights_config.json", weightConfig(*program, zip));
  zip.add("m/archive_format", "pt2");
  Result<std::shared_ptr<Archive>> archive = Archive::fromBytes(zip.finish());
  if (!archive.ok())
    return 0;
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  (void)importExport(*archive, "fuzzed.pt2", {}, context);
  return 0;
}
