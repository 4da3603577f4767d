// Whole .pt and .pt2 files through both front-ends, to a graph.
#include "compiler/Import/Torch/Archive/Archive.h"
#include "compiler/Import/Torch/Export/ExportImport.h"
#include "compiler/Import/Torch/Script/ScriptImport.h"
#include "test/fuzz/MemoryFile.h"
#include "test/fuzz/SeedOptions.h"

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
  for (const auto &[key, value] : fuzz::seedOptions(archive)) {
    if (key == "input")
      if (std::optional<compiler::InputSpec> spec = inputOf(value))
        options.inputs.push_back(*spec);
    if (size_t equals = value.find('='); key == "const" && equals != value.npos) {
      compiler::ConstantSpec spec;
      spec.name = value.substr(0, equals);
      spec.text = value.substr(equals + 1);
      options.constants.push_back(spec);
    }
    if (key == "method")
      options.methods.push_back(value);
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
