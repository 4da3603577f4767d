// `stator VERB ...` runs `stator-VERB ...`, which lies beside this program. Each verb is a program of its own, so that those that only
// need the runtime carry no compiler.
#include "tools/support/CommandLine.h"

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

struct Verb {
  const char *name;
  const char *does;
};

const Verb kVerbs[] = {
    {"compile", "turn a model (ONNX, or IR as text) into one artifact, model.stator"},
    {"run", "run a method of an artifact on given inputs"},
    {"bench", "measure a method of an artifact"},
    {"inspect", "show what is in an artifact: methods, kernels, memory, parameters"},
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

/// The folder of this program, with a slash; empty when the system does not tell.
std::string ownFolder() {
  char path[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
  if (length <= 0 || length == static_cast<ssize_t>(sizeof(path)))
    return "";
  std::string text(path, static_cast<size_t>(length));
  return text.substr(0, text.rfind('/') + 1);
}

int runVerb(const std::string &verb, std::vector<std::string> arguments) {
  std::string program = ownFolder() + "stator-" + verb;
  arguments.insert(arguments.begin(), program);
  std::vector<char *> argv;
  for (std::string &argument : arguments)
    argv.push_back(argument.data());
  argv.push_back(nullptr);
  execv(program.c_str(), argv.data());
  bool isMissing = errno == ENOENT;
  std::fprintf(stderr, "stator: error: cannot run `%s`: %s%s\n", program.c_str(), std::strerror(errno),
               isMissing ? "; this installation has no compiler, or is not complete" : "");
  return isMissing ? stator::tools::ExitUnsupported : stator::tools::ExitFailure;
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
  return runVerb(verb, std::move(arguments));
}
