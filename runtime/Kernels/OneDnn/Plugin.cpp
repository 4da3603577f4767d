// The plug-in's table: exceptions stop here.
#include "runtime/Kernels/OneDnn/Step.h"

#include <cstdio>
#include <cstring>

namespace stator::runtime::onednn {

// Codes of stator_status_code.
static constexpr int kInvalidFile = 2, kUnsupported = 3, kResourceExhausted = 6, kInternal = 7;

template <typename Function>
static int guarded(StatorLibraryMessage *message, Function function) {
  auto fail = [&](int code, const char *text) {
    std::snprintf(message->text, sizeof(message->text), "%s", text);
    return code;
  };
  try {
    function();
    return 0;
  } catch (const InvalidStep &error) {
    return fail(kInvalidFile, error.what());
  } catch (const dnnl::error &error) {
    int code = error.status == dnnl_unimplemented ? kUnsupported : error.status == dnnl_out_of_memory ? kResourceExhausted : kInternal;
    return fail(code, error.what());
  } catch (const std::bad_alloc &) {
    return fail(kResourceExhausted, "out of memory");
  } catch (const std::exception &error) {
    return fail(kInternal, error.what());
  }
}

static int createContext(void **context, StatorLibraryMessage *message) {
  return guarded(message, [&] { *context = new Context(); });
}

static void destroyContext(void *context) { delete static_cast<Context *>(context); }

static int createStep(void *context, const StatorLibraryStep *description, void **step, StatorLibraryMessage *message) {
  return guarded(message, [&] {
    // oneDNN plans a primitive for the number of threads at hand when it is made.
    OpenMpThreads guard(description->threads);
    StepReader reader(*description);
    Context &shared = *static_cast<Context *>(context);
    std::unique_ptr<Step> made;
    if (std::strcmp(description->routine, "matmul") == 0)
      made = Step::createMatmul(shared, reader);
    else if (std::strcmp(description->routine, "convolution") == 0)
      made = Step::createConvolution(shared, reader);
    else
      throw InvalidStep("there is no routine `" + std::string(description->routine) + "`");
    made->threads = description->threads;
    *step = made.release();
  });
}

static int executeStep(void *step, void *const *buffers, StatorLibraryMessage *message) {
  return guarded(message, [&] { static_cast<Step *>(step)->execute(buffers); });
}

static void destroyStep(void *step) { delete static_cast<Step *>(step); }

static const StatorLibraryPlugin *makeTable() {
  static char description[64];
  const dnnl_version_t *version = dnnl_version();
  std::snprintf(description, sizeof(description), "oneDNN %d.%d.%d", version->major, version->minor, version->patch);
  static StatorLibraryPlugin table = {
      STATOR_LIBRARY_ABI_VERSION, description, createContext, destroyContext, createStep, executeStep, destroyStep,
      openMpParallel(), openMpBarrier()};
  return &table;
}

} // namespace stator::runtime::onednn

extern "C" __attribute__((visibility("default"))) const StatorLibraryPlugin *stator_library_plugin(void) {
  static const StatorLibraryPlugin *table = stator::runtime::onednn::makeTable();
  return table;
}
