// What both routines share: reading the description, arguments, post-ops, packed weights.
#include "runtime/Kernels/OneDnn/Step.h"

#include <bit>
#include <cstring>
#include <dlfcn.h>

using dnnl::memory;

namespace stator::runtime::onednn {

std::shared_ptr<memory> Context::packed(const memory &plain, const memory::desc &wanted) {
  auto key = std::pair(static_cast<const void *>(plain.get_data_handle()),
                       std::string(reinterpret_cast<const char *>(&wanted.data), sizeof(wanted.data)));
  // Held while packing: a second session waits for the first one's result instead of making a copy.
  std::lock_guard<std::mutex> lock(mutex);
  std::shared_ptr<memory> &entry = weights[key];
  if (!entry) {
    auto target = std::make_shared<memory>(wanted, engine);
    dnnl::stream stream(engine);
    dnnl::reorder(plain, *target).execute(stream, const_cast<memory &>(plain), *target);
    stream.wait();
    entry = std::move(target);
  }
  return entry;
}

std::span<const int64_t> StepReader::list(const char *name) const {
  for (size_t i = 0; i < step.optionCount; ++i)
    if (std::strcmp(step.options[i].name, name) == 0)
      return {step.options[i].values, step.options[i].count};
  return {};
}

int64_t StepReader::number(const char *name) const {
  std::span<const int64_t> values = list(name);
  if (values.size() > 1)
    throw InvalidStep("option `" + std::string(name) + "` is a list");
  return values.empty() ? 0 : values[0];
}

memory::dims StepReader::takeSizes(size_t count) {
  if (count > step.sizeCount - nextSize)
    throw InvalidStep("it has " + std::to_string(step.sizeCount) + " sizes, expected more");
  memory::dims dims(step.sizes + nextSize, step.sizes + nextSize + count);
  nextSize += count;
  for (int64_t size : dims)
    if (size < 0 || size > (int64_t(1) << 40))
      throw InvalidStep("size " + std::to_string(size) + " is out of range");
  return dims;
}

void StepReader::requireBuffer(size_t index, const memory::dims &dims) const {
  if (index >= step.bufferCount)
    throw InvalidStep("it has " + std::to_string(step.bufferCount) + " buffers, expected more");
  size_t bytes = sizeof(float);
  for (int64_t size : dims)
    if (__builtin_mul_overflow(bytes, static_cast<size_t>(size), &bytes))
      throw InvalidStep("a tensor is too large");
  if (step.bufferBytes[index] < bytes)
    throw InvalidStep("buffer " + std::to_string(index) + " has " + std::to_string(step.bufferBytes[index]) + " bytes, expected " +
                      std::to_string(bytes));
}

void Step::bind(int dnnlArgument, size_t buffer, const memory::desc &desc) {
  // A placeholder handle: no memory is allocated for it.
  arguments.push_back({buffer, memory(desc, context.engine, DNNL_MEMORY_NONE)});
  map[dnnlArgument] = arguments.back().memory;
}

void Step::bindWeights(size_t buffer, const memory::desc &plain, const memory::desc &wanted, const void *constant) {
  if (!constant || plain == wanted) {
    bind(DNNL_ARG_WEIGHTS, buffer, plain);
    return;
  }
  keptWeights = context.packed(memory(plain, context.engine, const_cast<void *>(constant)), wanted);
  map[DNNL_ARG_WEIGHTS] = *keptWeights;
}

static float floatOf(int64_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits)); }

dnnl::primitive_attr Step::attributes(StepReader &reader, const memory::dims &result, int channelAxis, memory::format_tag tag,
                                      size_t &next) {
  using dnnl::algorithm;
  dnnl::post_ops operations;
  if (reader.number("relu"))
    operations.append_eltwise(1, algorithm::eltwise_relu, 0, 0);
  std::span<const int64_t> list = reader.list("post_ops");
  if (list.size() % StatorPostOpWords)
    throw InvalidStep("option `post_ops` has " + std::to_string(list.size()) + " numbers, expected groups of 4");
  for (; !list.empty(); list = list.subspan(StatorPostOpWords)) {
    float first = floatOf(list[2]), second = floatOf(list[3]);
    switch (list[0]) {
    case StatorPostOpRelu:
      operations.append_eltwise(1, algorithm::eltwise_relu, 0, 0);
      break;
    case StatorPostOpLeakyRelu:
      operations.append_eltwise(1, algorithm::eltwise_relu, first, 0);
      break;
    case StatorPostOpGeluErf:
      operations.append_eltwise(1, algorithm::eltwise_gelu_erf, 0, 0);
      break;
    case StatorPostOpGeluTanh:
      operations.append_eltwise(1, algorithm::eltwise_gelu_tanh, 0, 0);
      break;
    case StatorPostOpClip:
      operations.append_eltwise(1, algorithm::eltwise_clip, first, second);
      break;
    case StatorPostOpSigmoid:
      operations.append_eltwise(1, algorithm::eltwise_logistic, 0, 0);
      break;
    case StatorPostOpSilu:
      operations.append_eltwise(1, algorithm::eltwise_swish, 1, 0);
      break;
    case StatorPostOpTanh:
      operations.append_eltwise(1, algorithm::eltwise_tanh, 0, 0);
      break;
    case StatorPostOpHardSwish:
      operations.append_eltwise(1, algorithm::eltwise_hardswish, 0, 0);
      break;
    case StatorPostOpAdd:
    case StatorPostOpMul: {
      memory::dims dims(result.size(), 1);
      if (list[1] == StatorPostOpPerChannel)
        dims[channelAxis] = result[channelAxis];
      else if (list[1] == StatorPostOpFull)
        dims = result;
      reader.requireBuffer(next, dims);
      memory::desc desc(dims, memory::data_type::f32, tag);
      operations.append_binary(list[0] == StatorPostOpAdd ? algorithm::binary_add : algorithm::binary_mul, desc);
      bind(DNNL_ARG_ATTR_MULTIPLE_POST_OP(operations.len() - 1) | DNNL_ARG_SRC_1, next++, desc);
      break;
    }
    default:
      throw InvalidStep("post-op " + std::to_string(list[0]) + " is unknown");
    }
  }
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(operations);
  // Scratch memory of its own for every step: oneDNN's default is shared by the steps of a thread and grows at run time.
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

void Step::finish(const dnnl::primitive_desc_base &description) {
  memory::desc scratch = description.query_md(dnnl::query::scratchpad_md);
  if (scratch.get_size())
    map[DNNL_ARG_SCRATCHPAD] = memory(scratch, context.engine);
}

void Step::execute(void *const *buffers) {
  for (Argument &argument : arguments)
    argument.memory.set_data_handle(buffers[argument.buffer]);
  OpenMpThreads guard(threads);
  primitive.execute(stream, map);
  stream.wait();
}

// Debian's oneDNN brings GNU's OpenMP; the number of threads is a setting of the calling thread in it. The functions are looked up
// instead of linked, so that this file does not depend on which OpenMP the library was built with.
namespace {
struct OpenMp {
  int (*get)() = nullptr;
  void (*set)(int) = nullptr;
  int (*threadNumber)() = nullptr;
  int (*threadCount)() = nullptr;
  // What GCC turns `#pragma omp parallel` and `barrier` into.
  void (*parallel)(void (*function)(void *), void *data, unsigned threads, unsigned flags) = nullptr;
  void (*barrier)() = nullptr;

  OpenMp() {
    // The plug-in is opened locally, so that its dependencies may not be among the default ones.
    void *library = dlsym(RTLD_DEFAULT, "omp_set_num_threads") ? RTLD_DEFAULT : dlopen("libgomp.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (!library && !dlsym(RTLD_DEFAULT, "omp_set_num_threads"))
      return;
    find(library, "omp_get_max_threads", get);
    find(library, "omp_set_num_threads", set);
    find(library, "omp_get_thread_num", threadNumber);
    find(library, "omp_get_num_threads", threadCount);
    find(library, "GOMP_parallel", parallel);
    find(library, "GOMP_barrier", barrier);
  }
  template <typename Function>
  static void find(void *library, const char *name, Function &function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
  }
  bool hasThreads() const { return threadNumber && threadCount && parallel && barrier; }
};
} // namespace

static const OpenMp &openMp() {
  static OpenMp functions;
  return functions;
}

namespace {
struct ParallelCall {
  void (*function)(void *data, int part, int parts);
  void *data;
};
} // namespace

static void runParallel(int threads, void (*function)(void *data, int part, int parts), void *data) {
  ParallelCall call{function, data};
  openMp().parallel(
      [](void *argument) {
        auto *call = static_cast<ParallelCall *>(argument);
        call->function(call->data, openMp().threadNumber(), openMp().threadCount());
      },
      &call, static_cast<unsigned>(threads), 0);
}
ParallelFunction openMpParallel() { return openMp().hasThreads() ? runParallel : nullptr; }
BarrierFunction openMpBarrier() { return openMp().hasThreads() ? openMp().barrier : nullptr; }

OpenMpThreads::OpenMpThreads(int threads) {
  const OpenMp &functions = openMp();
  if (!functions.get || !functions.set)
    return;
  before = functions.get();
  functions.set(threads);
}
OpenMpThreads::~OpenMpThreads() {
  if (before)
    openMp().set(before);
}

} // namespace stator::runtime::onednn
