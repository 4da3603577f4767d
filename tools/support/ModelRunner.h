// What run, bench and compare do alike: the options that say which model, method, inputs and threads, and making a session of them.
#ifndef STATOR_TOOLS_SUPPORT_MODELRUNNER_H
#define STATOR_TOOLS_SUPPORT_MODELRUNNER_H

#include "stator/Runtime.h"
#include "tools/support/CommandLine.h"
#include "tools/support/Tensors.h"

#include <string>
#include <vector>

namespace stator::tools {

struct ModelOptions {
  std::string method;
  std::vector<std::string> inputs;
  std::vector<std::string> dims; ///< "N=4": for inputs that are made up.
  int64_t seed = 0;
  int64_t threads = 0;
  std::string cpuLevel;
  std::string denormals = "keep";
};

/// Declares --function, --input and, for inputs that may be made up, --dim and --seed.
void declareInputOptions(CommandLine &commandLine, ModelOptions &options, bool mayMakeUp);
/// Declares --threads, --cpu-level and --denormals.
void declareSessionOptions(CommandLine &commandLine, ModelOptions &options);

/// Reads every --input.
Result<std::vector<NamedTensor>> readInputs(const std::vector<std::string> &arguments);

/// The method of that name; without a name "forward", or the only one.
Result<MethodInfo> findMethod(const Module &module, const std::string &name);

/// The inputs of `method` in order. Named tensors go to the input of their name, the others to what is left, in order. f32 narrows to an
/// input of bf16 or f16. What is missing is made up with pseudo-random values when `mayMakeUp`, else it is an error.
Result<std::vector<NpyArray>> arrangeInputs(const MethodInfo &method, std::vector<NamedTensor> given, const ModelOptions &options,
                                            bool mayMakeUp);

std::vector<TensorView> viewsOf(const std::vector<NpyArray> &arrays);
/// Runs a method straight into tensors of the tool: nothing is there twice.
Result<std::vector<NpyArray>> runIntoArrays(Session &session, const std::string &method, const std::vector<NpyArray> &inputs);

/// Says what is wrong with given inputs: a mistake on the command line gives ExitUsage, an unreadable file its own code.
int reportInputError(std::string_view tool, const Status &status);

/// "[N, 64] f32"
std::string describeValue(const ValueInfo &value);

SessionOptions sessionOptions(const ModelOptions &options);

/// The highest resident size of this process so far, in bytes.
uint64_t peakResidentBytes();
/// "12.3 MB"
std::string formatBytes(uint64_t bytes);
/// "12.34 ms", "812.5 us"
std::string formatMilliseconds(double milliseconds);
/// Monotonic time in nanoseconds.
uint64_t nanosecondsNow();

} // namespace stator::tools

#endif // STATOR_TOOLS_SUPPORT_MODELRUNNER_H
