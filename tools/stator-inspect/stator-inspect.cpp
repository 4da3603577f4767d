// stator-inspect: says what is in an artifact. It reads the file only: no kernel is loaded, so that an artifact for any machine can be
// inspected on any other.
#include "serialization/Artifact/Dump.h"
#include "tools/support/CommandLine.h"

#include <cstdio>

using namespace stator;
using namespace stator::tools;

int main(int argc, char **argv) {
  std::string path;
  bool json = false, verify = false, steps = true, memory = true, parameters = true, entries = true;
  CommandLine commandLine("stator-inspect", "MODEL.stator [options]",
                          "Prints methods, steps with their kernels and reasons, memory plan, parameters and files of an artifact.");
  commandLine.positional("MODEL.stator", &path, "the artifact");
  commandLine.group("Output");
  commandLine.flag("json", &json, "print everything as JSON");
  commandLine.flag("steps", &steps, "what is executed (default true)");
  commandLine.flag("memory", &memory, "the buffers of each plan (default true)");
  commandLine.flag("parameters", &parameters, "the parameter table (default true)");
  commandLine.flag("entries", &entries, "the files inside of the artifact (default true)");
  commandLine.group("Checks");
  commandLine.flag("verify", &verify, "read the whole file and check every checksum and hash");
  commandLine.epilogue(exitCodeHelp());
  if (std::optional<int> code = commandLine.parse(argc, argv))
    return *code;
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
