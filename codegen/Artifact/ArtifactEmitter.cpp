//===- ArtifactEmitter.cpp - streaming parameters into the writer ----------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "codegen/Artifact/ArtifactEmitter.h"

#include "dialects/Graph/ParameterRecipes.h"
#include "serialization/ArtifactWriter/ArtifactWriter.h"

using namespace mlir;
using namespace stator;
using namespace stator::codegen;
namespace ser = stator::serialization;

/// All bytes of `parameter`, in pieces, to `sink`.
static Status produce(graph::ParameterOp parameter, SymbolTableCollection &symbols, const ser::ByteSink &sink) {
  Status failure;
  LogicalResult streamed = graph::stream(parameter, symbols, [&](ArrayRef<char> piece) -> LogicalResult {
    failure = sink(std::as_bytes(std::span(piece.data(), piece.size())));
    return success(failure.ok());
  });
  if (!failure.ok())
    return failure;
  if (failed(streamed))
    return invalidFile("parameter `" + parameter.getSymName().str() + "` cannot be read");
  return okStatus();
}

Result<ArtifactStatistics> codegen::writeArtifact(const ArtifactContents &contents, const std::string &path) {
  STATOR_TRY(planned, buildManifest(contents.module, contents.scratch, contents.withBarrier));
  ser::Manifest &manifest = planned.manifest;
  ser::ArtifactWriter writer;
  SymbolTableCollection symbols;
  ArtifactStatistics statistics;
  for (auto [i, parameter] : llvm::enumerate(planned.parameters)) {
    if (contents.onParameter)
      contents.onParameter(i, planned.parameters.size());
    ser::Parameter entry = manifest.parameters[i];
    Result<uint32_t> index =
        writer.addParameter(std::move(entry), [&symbols, parameter = parameter](const ser::ByteSink &sink) { return produce(parameter, symbols, sink); });
    STATOR_RETURN_IF_ERROR(index.status());
  }
  manifest.parameters.clear(); // The writer completes and adds them.
  for (const ser::Parameter &parameter : writer.parameters())
    statistics.weightBytes += parameter.size;
  for (const KernelLibrary &library : contents.libraries) {
    auto bytes = std::as_bytes(std::span(library.sharedObject));
    writer.addVariant(library.level, library.requiredFeatures, std::vector<std::byte>(bytes.begin(), bytes.end()));
  }
  if (!contents.irText.empty()) {
    auto bytes = std::as_bytes(std::span(contents.irText));
    writer.addFile("ir/graph.mlir", std::vector<std::byte>(bytes.begin(), bytes.end()));
  }
  manifest.producer = contents.producer;
  for (const auto &[key, value] : contents.info)
    manifest.info.push_back({key, value});

  statistics.methods = manifest.methods.size();
  statistics.kernels = manifest.kernels.size();
  ModuleOp(contents.module).walk([&](Operation *op) {
    statistics.kernelCalls += isa<plan::KernelOp>(op);
    statistics.libraryCalls += isa<plan::LibraryOp>(op);
  });
  STATOR_RETURN_IF_ERROR(writer.write(path, std::move(manifest)));
  return statistics;
}
