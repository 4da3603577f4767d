// `stator VERB ...` runs `stator-VERB ...`, which lies beside this program.
#include "tools/support/CommandLine.h"
#include "tools/support/SiblingProgram.h"

#include <cstdio>
#include <string>
#include <vector>

namespace {

struct Verb {
  const char *name;
  const char *does;
};

const Verb kVerbs[] = {
    {"compile", "turn a model (ONNX, TorchScript, torch.export, or IR as text) into one artifact, model.stator"},
    {"run", "run a method of an artifact on given inputs"},
    {"bench", "measure a method of an artifact"},
    {"inspect", "show what is in an artifact (methods, kernels, memory, parameters) or in a model before it is compiled"},
    {"check", "say whether a model can be compiled, and what stands in the way"},
    {"compare", "compare the outputs of two artifacts, or of one with reference files"},
    {"opt", "run compiler passes on IR as text"},
};

void printHelp(FILE *out) {
  std::fprintf(out, "Stator turns a model into one file and runs that file.\n\nusage: stator VERB [arguments]\n\n");
  for (const Verb &verb : kVerbs)
    std::fprintf(out, "  %-9s %s\n", verb.name, verb.does);
  std::fprintf(out, "  %-9s %s\n", "help", "show this text; `stator help VERB` the options of a verb");
  std::fprintf(out, "  %-9s %s\n\n%s", "version", "print the version", stator::tools::exitCodeHelp().c_str());
}

bool isKnown(const std::string &name) {
  for (const Verb &verb : kVerbs)
    if (name == verb.name)
      return true;
  return false;
}

} // namespace

int main(int argc, char **argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.empty()) {
    printHelp(stderr);
    return stator::tools::ExitUsage;
  }
  std::string verb = arguments.front();
  arguments.erase(arguments.begin());
  if (verb == "help" || verb == "--help" || verb == "-h") {
    if (arguments.empty()) {
      printHelp(stdout);
      return stator::tools::ExitOk;
    }
    verb = arguments.front();
    arguments = {"--help"};
  }
  if (verb == "version" || verb == "--version") {
    std::printf("stator %s\n", STATOR_VERSION);
    return stator::tools::ExitOk;
  }
  if (!isKnown(verb)) {
    std::fprintf(stderr, "stator: error: there is no verb `%s`; `stator help` lists them\n", verb.c_str());
    return stator::tools::ExitUsage;
  }
  return stator::tools::becomeSibling("stator", "stator-" + verb, std::move(arguments));
}
