// Whole .pt and .pt2 files through both front-ends, to a graph. TorchScript files do not say what shapes their inputs have, so that seeds
// hold the options of a compilation in a record of their own, extra/options: lines such as `input=2x3xf32` and `const=k=3`.
#include "compiler/Import/Torch/Archive/Archive.h"
#include "compiler/Import/Torch/Export/ExportImport.h"
#include "compiler/Import/Torch/Script/ScriptImport.h"
#include "test/fuzz/MemoryFile.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

#include <charconv>
#include <cstdio>

using namespace stator;

/// "2x?b[1..4]xf32" in its simplest form: numbers, or `?` for any size.
static std::optional<compiler::InputSpec> inputOf(std::string_view text) {
  compiler::InputSpec spec;
  spec.text = text;
  for (;;) {
    size_t end = std::min(text.find('x'), text.size());
    std::string_view part = text.substr(0, end);
    if (end == text.size()) {
      spec.type = parseElementType(part);
      return spec.type ? std::optional(spec) : std::nullopt;
    }
    compiler::DimSpec dim;
    auto [parsed, error] = std::from_chars(part.data(), part.data() + part.size(), dim.number);
    if (error == std::errc() && dim.number >= 0)
      dim.kind = compiler::DimSpec::Kind::Number;
    spec.dims.push_back(dim);
    text.remove_prefix(end + 1);
  }
}

static compiler::ImportOptions optionsOf(const torch::Archive &archive) {
  compiler::ImportOptions options;
  const torch::Record *record = archive.find("extra/options");
  Result<std::string_view> text = record ? archive.text(*record) : Result<std::string_view>(std::string_view());
  for (std::string_view rest = text.ok() ? *text : std::string_view(); !rest.empty();) {
    size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.starts_with("input="))
      if (std::optional<compiler::InputSpec> spec = inputOf(line.substr(6)))
        options.inputs.push_back(*spec);
    // name=value; files are not read.
    if (size_t equals = line.find('=', 6); line.starts_with("const=") && equals != line.npos) {
      compiler::ConstantSpec spec;
      spec.name = line.substr(6, equals - 6);
      spec.text = line.substr(equals + 1);
      options.constants.push_back(spec);
    }
    if (line.starts_with("method="))
      options.methods.emplace_back(line.substr(7));
  }
  return options;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz::MemoryFile file(data, size);
  Result<std::shared_ptr<torch::Archive>> archive = torch::Archive::open(file.path());
  if (!archive.ok())
    return 0;
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mlir::ScopedDiagnosticHandler quiet(&context, [](mlir::Diagnostic &) { return mlir::success(); });
  compiler::ImportOptions options = optionsOf(**archive);
  Status status;
  if ((*archive)->kind() == torch::ArchiveKind::TorchScript) {
    status = torch::importScript(file.path(), options, context).status;
    (void)torch::summariseScript(file.path()).ok();
  } else {
    status = torch::importExport(file.path(), options, context).status;
    (void)torch::summariseExport(file.path()).ok();
  }
  if (std::getenv("STATOR_FUZZ_SHOW"))
    std::fprintf(stderr, "  %s\n", status.ok() ? "ok" : status.message().c_str());
  // Importers say what a file does wrong; an internal error is a mistake of ours.
  if (status.code() == StatusCode::Internal)
    std::abort();
  return 0;
}
