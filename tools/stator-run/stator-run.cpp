// stator-run: runs a method of an artifact on given inputs, prints or writes its outputs, and compares them with expected ones.
#include "tools/support/Comparison.h"
#include "tools/support/ModelRunner.h"

#include <cstdio>

using namespace stator;
using namespace stator::tools;

namespace {
struct RunOptions {
  std::string path;
  ModelOptions model;
  std::vector<std::string> outputs;
  std::vector<std::string> expected;
  std::vector<std::string> expectedState;
  int64_t calls = 1;
  Tolerance tolerance;
  std::string loadState, saveState;
  int64_t printElements = 64;
  bool statistics = false;
};
} // namespace

static bool endsWith(const std::string &text, const std::string &end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// `--output=[NAME=]@FILE.npy` writes one output, in order or by name; `@FILE.npz` all of them.
static Status writeOutputs(const MethodInfo &method, const std::vector<NpyArray> &outputs, const std::vector<std::string> &arguments,
                           std::vector<bool> &written) {
  size_t next = 0;
  for (const std::string &argument : arguments) {
    size_t at = argument.find('@');
    if (at == std::string::npos || (at > 0 && argument[at - 1] != '='))
      return invalidArgument("`--output`: `" + argument + "` is not [NAME=]@FILE.npy or @FILE.npz");
    std::string wanted = at ? argument.substr(0, at - 1) : "", path = argument.substr(at + 1);
    if (wanted.empty() && endsWith(path, ".npz")) {
      std::vector<serialization::NamedNpyView> views;
      for (size_t i = 0; i < outputs.size(); ++i)
        views.push_back({method.outputs[i].name, outputs[i]});
      STATOR_RETURN_IF_ERROR(serialization::writeNpz(path, views));
      written.assign(outputs.size(), true);
      continue;
    }
    size_t index = 0;
    if (wanted.empty()) {
      index = next++;
      if (index >= outputs.size())
        return invalidArgument("`--output` is given more often than method `" + method.name + "` has outputs, " +
                               std::to_string(outputs.size()));
    } else {
      while (index < outputs.size() && method.outputs[index].name != wanted)
        ++index;
      if (index == outputs.size())
        return notFound("method `" + method.name + "` has no output `" + wanted + "`");
    }
    STATOR_RETURN_IF_ERROR(serialization::writeNpy(path, outputs[index]));
    written[index] = true;
  }
  return okStatus();
}

// Returns whether all expected outputs were met.
static Result<bool> compareOutputs(const MethodInfo &method, const std::vector<NpyArray> &outputs, const RunOptions &options) {
  STATOR_TRY(references, readInputs(options.expected));
  size_t next = 0;
  bool good = true;
  for (const NamedTensor &reference : references) {
    size_t index = 0;
    if (reference.name.empty()) {
      index = next++;
    } else {
      while (index < outputs.size() && method.outputs[index].name != reference.name)
        ++index;
      if (index == outputs.size() && reference.fromArchive)
        continue;
    }
    if (index >= outputs.size())
      return invalidArgument("method `" + method.name + "` has no output " +
                             (reference.name.empty() ? "number " + std::to_string(index) : "`" + reference.name + "`"));
    Comparison comparison = compareTensors(outputs[index], reference.array, options.tolerance);
    std::printf("%s: %s\n", method.outputs[index].name.c_str(), describeComparison(comparison, outputs[index].shape).c_str());
    good &= comparison.ok();
  }
  return good;
}

// The same for states after the last call, which are always given by name.
static Result<bool> compareState(Session &session, const RunOptions &options) {
  STATOR_TRY(references, readInputs(options.expectedState));
  bool good = true;
  for (const NamedTensor &reference : references) {
    if (reference.name.empty())
      return invalidArgument("`--expected-state` needs the name of the state: NAME=TENSOR");
    STATOR_TRY(view, session.state(reference.name));
    NpyArray array{view.type(), view.shapeVector(), {}};
    auto *bytes = static_cast<const std::byte *>(view.data());
    array.data.assign(bytes, bytes + view.sizeBytes());
    Comparison comparison = compareTensors(array, reference.array, options.tolerance);
    std::printf("%s: %s\n", reference.name.c_str(), describeComparison(comparison, array.shape).c_str());
    good &= comparison.ok();
  }
  return good;
}

static Result<int> run(const RunOptions &options) {
  uint64_t begin = nanosecondsNow();
  STATOR_TRY(module, Module::load(options.path, LoadOptions().cpuLevel(options.model.cpuLevel)));
  uint64_t loaded = nanosecondsNow();
  STATOR_TRY(method, findMethod(module, options.model.method));
  Result<std::vector<NamedTensor>> given = readInputs(options.model.inputs);
  if (!given.ok())
    return reportInputError("stator-run", given.status());
  Result<std::vector<NpyArray>> arranged = arrangeInputs(method, std::move(given).value(), options.model, /*mayMakeUp=*/false);
  if (!arranged.ok())
    return reportInputError("stator-run", arranged.status());
  std::vector<NpyArray> inputs = std::move(arranged).value();
  STATOR_TRY(session, module.session(sessionOptions(options.model)));
  if (!options.loadState.empty())
    STATOR_RETURN_IF_ERROR(session.loadState(options.loadState));
  uint64_t ready = nanosecondsNow();
  STATOR_TRY(outputs, runIntoArrays(session, method.name, inputs));
  uint64_t done = nanosecondsNow();
  for (int64_t call = 1; call < options.calls; ++call) {
    STATOR_TRY(next, runIntoArrays(session, method.name, inputs));
    outputs = std::move(next);
  }
  if (!options.saveState.empty())
    STATOR_RETURN_IF_ERROR(session.saveState(options.saveState));

  std::vector<bool> written(outputs.size(), false);
  STATOR_RETURN_IF_ERROR(writeOutputs(method, outputs, options.outputs, written));
  for (size_t i = 0; i < outputs.size(); ++i)
    if (!written[i] && options.expected.empty())
      std::printf("%s: %s\n", method.outputs[i].name.c_str(), formatTensor(outputs[i], static_cast<size_t>(options.printElements)).c_str());
  bool good = true;
  if (!options.expected.empty()) {
    STATOR_TRY(met, compareOutputs(method, outputs, options));
    good = met;
  }
  if (!options.expectedState.empty()) {
    STATOR_TRY(met, compareState(session, options));
    good &= met;
  }
  if (options.statistics)
    std::fprintf(stderr, "cpu level %s, %d threads, load %.2f ms, first run %.2f ms, arena %s, peak resident %s\n",
                 module.cpuLevel().c_str(), session.threads(), static_cast<double>(loaded - begin) / 1e6,
                 static_cast<double>(done - ready) / 1e6, formatBytes(session.arenaBytes()).c_str(),
                 formatBytes(peakResidentBytes()).c_str());
  return good ? ExitOk : ExitMismatch;
}

int main(int argc, char **argv) {
  RunOptions options;
  CommandLine commandLine("stator-run", "MODEL.stator [--input=...]... [options]", "Runs a method of a compiled model.");
  commandLine.positional("MODEL.stator", &options.path, "the artifact");
  commandLine.group("Inputs");
  declareInputOptions(commandLine, options.model, /*mayMakeUp=*/false);
  commandLine.group("Outputs");
  commandLine.list("output", "[NAME=]@FILE", &options.outputs,
                   "write an output to FILE.npy, by name or in order, or all to FILE.npz; those not written are printed");
  commandLine.list("expected_output", "[NAME=]TENSOR", &options.expected,
                   "compare an output with this (same forms as --input); exit code 1 if one differs");
  commandLine.alias("expected-output", "expected_output");
  commandLine.list("expected-state", "NAME=TENSOR", &options.expectedState, "compare a state after the run with this");
  commandLine.alias("expected_state", "expected-state");
  commandLine.real("atol", "X", &options.tolerance.absolute, 0, "close is |difference| <= atol + rtol * max|expected| (default 1e-5)");
  commandLine.real("rtol", "X", &options.tolerance.relative, 0, "(default 1e-4)");
  commandLine.integer("print-elements", "N", &options.printElements, 0, std::numeric_limits<int64_t>::max(),
                      "print at most N elements of an output (default 64)");
  commandLine.group("Execution");
  declareSessionOptions(commandLine, options.model);
  commandLine.integer("calls", "N", &options.calls, 1, 1000000000,
                      "call the method N times with the same inputs, keeping the state; outputs are those of the last call");
  commandLine.text("load-state", "FILE.npz", &options.loadState, "set the state before the run");
  commandLine.text("save-state", "FILE.npz", &options.saveState, "write the state after the run");
  commandLine.flag("print_statistics", &options.statistics, "print load time, run time and memory on stderr");
  commandLine.alias("print-statistics", "print_statistics");
  commandLine.epilogue(exitCodeHelp());
  if (std::optional<int> code = commandLine.parse(argc, argv))
    return *code;
  Result<int> result = run(options);
  return result.ok() ? finishOutput("stator-run", *result) : reportError("stator-run", result.status());
}
