// stator-inspect: says what is in an artifact. It reads the file only: no kernel is loaded, so that an artifact for any machine can be
// inspected on any other. Model files that are not compiled yet are for stator-inspect-model, which has the importers.
#include "serialization/Artifact/Dump.h"
#include "tools/support/CommandLine.h"
#include "tools/support/SiblingProgram.h"

#include <cstdio>

using namespace stator;
using namespace stator::tools;

/// Whether this tool is to read the file. Also true for what calls itself an artifact, and for what cannot be read: the error is here.
static bool isArtifact(const std::string &path) {
  Result<std::shared_ptr<MappedFile>> file = MappedFile::open(path);
  if (!file.ok() || (*file)->bytes().empty() || path.ends_with(".stator"))
    return true;
  // The name of a zip's first entry follows its 30 bytes of header.
  std::string_view start(reinterpret_cast<const char *>((*file)->bytes().data()), std::min<size_t>((*file)->bytes().size(), 64));
  return start.starts_with("PK\x03\x04") && start.substr(std::min<size_t>(30, start.size())).starts_with(serialization::kManifestEntry);
}

int main(int argc, char **argv) {
  std::string path;
  bool json = false, verify = false, steps = true, memory = true, parameters = true, entries = true;
  CommandLine commandLine(
      "stator-inspect", "FILE [options]",
      "Prints methods, steps with their kernels and reasons, memory plan, parameters and files of an artifact; or, before "
      "compiling, methods, parameters and operators of a model.");
  commandLine.positional("FILE", &path, "model.stator, or model.onnx, model.pt (TorchScript) or model.pt2 (torch.export)");
  commandLine.group("Output");
  commandLine.flag("json", &json, "print everything as JSON");
  commandLine.group("Of artifacts");
  commandLine.flag("steps", &steps, "what is executed (default true)");
  commandLine.flag("memory", &memory, "the buffers of each plan (default true)");
  commandLine.flag("parameters", &parameters, "the parameter table (default true)");
  commandLine.flag("entries", &entries, "the files inside of the artifact (default true)");
  commandLine.flag("verify", &verify, "read the whole file and check every checksum and hash");
  commandLine.epilogue(exitCodeHelp());
  if (std::optional<int> code = commandLine.parse(argc, argv))
    return *code;
  if (!isArtifact(path) && verify) {
    std::fprintf(stderr, "stator-inspect: error: --verify is for artifacts, and `%s` is none\n", path.c_str());
    return ExitUsage;
  }
  if (!isArtifact(path))
    return becomeSibling("stator-inspect", "stator-inspect-model", {std::string(json ? "--json=true" : "--json=false"), "--", path});
  Result<serialization::ArtifactReader> artifact = serialization::ArtifactReader::open(path);
  if (!artifact.ok())
    return reportError("stator-inspect", artifact.status());
  if (verify) {
    Status status = artifact->verify();
    if (!status.ok())
      return reportError("stator-inspect", status);
  }
  serialization::DumpOptions options;
  options.steps = steps;
  options.memory = memory;
  options.parameters = parameters;
  options.entries = entries;
  std::string text = json ? serialization::dumpJson(*artifact) : serialization::dumpText(*artifact, options);
  if (verify && !json)
    text += "verified: all checksums and hashes are right\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
  return finishOutput("stator-inspect", ExitOk);
}
