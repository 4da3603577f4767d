// Options, inputs and figures shared by run, bench and compare.
#include "tools/support/ModelRunner.h"

#include <cstdio>
#include <ctime>
#include <map>
#include <sys/resource.h>

namespace stator::tools {

void declareInputOptions(CommandLine &commandLine, ModelOptions &options, bool mayMakeUp) {
  commandLine.text("function", "NAME", &options.method, "the method to run (default: forward, or the only one)");
  commandLine.alias("method", "function");
  commandLine.list("input", "[NAME=]TENSOR", &options.inputs,
                   std::string("an input: SHAPExTYPE[=VALUES] such as 1x3xf32=0, @FILE.npy, or @FILE.npz for all; by name, or in order") +
                       (mayMakeUp ? "; those not given get pseudo-random values" : ""));
  if (!mayMakeUp)
    return;
  commandLine.list("dim", "NAME=SIZE", &options.dims,
                   "the size of a named dimension of inputs that are not given (default: its minimum, at least 1)", ',');
  commandLine.integer("seed", "N", &options.seed, 0, std::numeric_limits<int64_t>::max(), "seed of the pseudo-random inputs (default 0)");
}

void declareSessionOptions(CommandLine &commandLine, ModelOptions &options) {
  commandLine.integer("threads", "N", &options.threads, 1, 4096,
                      "the most threads to use (default: STATOR_NUM_THREADS, OMP_NUM_THREADS, or the CPUs that affinity and cgroup allow)");
  commandLine.text("cpu-level", "LEVEL", &options.cpuLevel,
                   "use the kernels of this level, such as x86-64-v3 (default: STATOR_CPU_LEVEL, or the best)");
  commandLine.choice("denormals", {"keep", "flush"}, &options.denormals, "whether denormal floats count as zero (default keep)");
}

Result<std::vector<NamedTensor>> readInputs(const std::vector<std::string> &arguments) {
  std::vector<NamedTensor> tensors;
  for (const std::string &argument : arguments) {
    STATOR_TRY(some, parseTensorArgument(argument));
    for (NamedTensor &tensor : some)
      tensors.push_back(std::move(tensor));
  }
  return tensors;
}

Result<MethodInfo> findMethod(const Module &module, const std::string &name) {
  std::vector<MethodInfo> methods = module.methods();
  std::string wanted = name.empty() && methods.size() != 1 ? "forward" : name;
  std::string known;
  for (MethodInfo &method : methods) {
    if (method.name == wanted || wanted.empty())
      return std::move(method);
    known += (known.empty() ? "`" : ", `") + method.name + "`";
  }
  return notFound("the model has no method `" + wanted + "`, it has " + (known.empty() ? "none" : known));
}

std::string describeValue(const ValueInfo &value) {
  std::string text = "[";
  for (size_t i = 0; i < value.dims.size(); ++i)
    text += (i ? ", " : "") + value.dims[i].text;
  return text + "] " + name(value.type);
}

// Sizes of named dimensions: from --dim, else from inputs that are given, else the minimum.
using NamedSizes = std::map<std::string, int64_t>;

static Result<NamedSizes> parseDims(const std::vector<std::string> &dims) {
  NamedSizes sizes;
  for (const std::string &dim : dims) {
    size_t equals = dim.find('=');
    if (equals == std::string::npos || equals == 0)
      return invalidArgument("`--dim`: `" + dim + "` is not NAME=SIZE");
    STATOR_TRY(size, parseInteger(std::string_view(dim).substr(equals + 1)));
    sizes[dim.substr(0, equals)] = size;
  }
  return sizes;
}

static Result<NpyArray> makeUp(const ValueInfo &value, const NamedSizes &sizes, uint64_t seed) {
  std::vector<int64_t> shape;
  for (const DimInfo &dim : value.dims) {
    auto known = sizes.find(dim.text);
    if (dim.size >= 0)
      shape.push_back(dim.size);
    else if (known != sizes.end())
      shape.push_back(known->second);
    else if (dim.minimum >= 0)
      shape.push_back(std::max<int64_t>(1, dim.minimum));
    else
      return invalidArgument("input `" + value.name + "`: the size `" + dim.text +
                             "` depends on others: give the input by --input, or --dim=" + dim.text + "=SIZE");
  }
  STATOR_TRY(array, makeTensor(value.type, std::move(shape)));
  fillRandom(array, seed);
  return array;
}

static NpyArray narrow(NpyArray array, ElementType type) {
  NpyArray result;
  result.type = type;
  result.shape = std::move(array.shape);
  size_t count = array.data.size() / byteSize(array.type);
  result.data.resize(count * byteSize(type));
  for (size_t i = 0; i < count; ++i)
    storeElement(type, result.data.data(), i, elementAt(array.type, array.data.data(), i));
  return result;
}

Result<std::vector<NpyArray>> arrangeInputs(const MethodInfo &method, std::vector<NamedTensor> given, const ModelOptions &options,
                                            bool mayMakeUp) {
  std::vector<NamedTensor *> places(method.inputs.size());
  auto indexOf = [&](const std::string &inputName) {
    size_t i = 0;
    while (i < method.inputs.size() && method.inputs[i].name != inputName)
      ++i;
    return i;
  };
  for (NamedTensor &tensor : given) {
    if (tensor.name.empty())
      continue;
    size_t place = indexOf(tensor.name);
    if (place == method.inputs.size()) {
      if (tensor.fromArchive)
        continue;
      return invalidArgument("method `" + method.name + "` has no input `" + tensor.name + "`");
    }
    if (places[place])
      return invalidArgument("input `" + tensor.name + "` is given twice");
    places[place] = &tensor;
  }
  size_t next = 0;
  for (NamedTensor &tensor : given) {
    if (!tensor.name.empty())
      continue;
    while (next < places.size() && places[next])
      ++next;
    if (next == places.size())
      return invalidArgument("more inputs are given than the " + std::to_string(places.size()) + " that method `" + method.name +
                             "` takes");
    places[next] = &tensor;
  }
  STATOR_TRY(sizes, parseDims(options.dims));
  for (size_t i = 0; i < places.size(); ++i)
    for (size_t axis = 0; places[i] && axis < method.inputs[i].dims.size() && axis < places[i]->array.shape.size(); ++axis)
      if (method.inputs[i].dims[axis].minimum >= 0)
        sizes.emplace(method.inputs[i].dims[axis].text, places[i]->array.shape[axis]);
  std::vector<NpyArray> arrays;
  for (size_t i = 0; i < places.size(); ++i) {
    const ValueInfo &value = method.inputs[i];
    if (places[i]) {
      NpyArray array = std::move(places[i]->array);
      if (array.type == ElementType::F32 && (value.type == ElementType::BF16 || value.type == ElementType::F16))
        array = narrow(std::move(array), value.type);
      arrays.push_back(std::move(array));
      continue;
    }
    if (!mayMakeUp)
      return invalidArgument("input `" + value.name + "` (" + describeValue(value) + ") is missing: give it by --input");
    STATOR_TRY(array, makeUp(value, sizes, static_cast<uint64_t>(options.seed) + i));
    arrays.push_back(std::move(array));
  }
  return arrays;
}

std::vector<TensorView> viewsOf(const std::vector<NpyArray> &arrays) {
  std::vector<TensorView> views;
  for (const NpyArray &array : arrays)
    views.push_back(viewOf(array));
  return views;
}

Result<std::vector<NpyArray>> runIntoArrays(Session &session, const std::string &method, const std::vector<NpyArray> &inputs) {
  std::vector<TensorView> inputViews = viewsOf(inputs);
  STATOR_TRY(shapes, session.outputShapes(method.c_str(), inputViews));
  std::vector<NpyArray> outputs;
  for (const TensorView &shape : shapes) {
    STATOR_TRY(array, makeTensor(shape.type(), shape.shapeVector()));
    outputs.push_back(std::move(array));
  }
  std::vector<TensorView> outputViews = viewsOf(outputs);
  Result<Outputs> results = session.run(method.c_str(), inputViews, outputViews);
  if (!results.ok())
    return results.status();
  return outputs;
}

SessionOptions sessionOptions(const ModelOptions &options) {
  return SessionOptions().threads(static_cast<int>(options.threads)).flushDenormals(options.denormals == "flush");
}

uint64_t peakResidentBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

std::string formatBytes(uint64_t bytes) {
  char text[32];
  if (bytes < 1000)
    std::snprintf(text, sizeof(text), "%llu B", static_cast<unsigned long long>(bytes));
  else if (bytes < 1000000)
    std::snprintf(text, sizeof(text), "%.1f kB", static_cast<double>(bytes) / 1e3);
  else if (bytes < 1000000000)
    std::snprintf(text, sizeof(text), "%.1f MB", static_cast<double>(bytes) / 1e6);
  else
    std::snprintf(text, sizeof(text), "%.2f GB", static_cast<double>(bytes) / 1e9);
  return text;
}

std::string formatMilliseconds(double milliseconds) {
  char text[32];
  if (milliseconds < 1)
    std::snprintf(text, sizeof(text), "%.2f us", milliseconds * 1e3);
  else if (milliseconds < 1000)
    std::snprintf(text, sizeof(text), "%.3f ms", milliseconds);
  else
    std::snprintf(text, sizeof(text), "%.3f s", milliseconds / 1e3);
  return text;
}

int reportInputError(std::string_view tool, const Status &status) {
  int code = reportError(tool, status);
  return status.code() == StatusCode::InvalidArgument ? ExitUsage : code;
}

uint64_t nanosecondsNow() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

} // namespace stator::tools
