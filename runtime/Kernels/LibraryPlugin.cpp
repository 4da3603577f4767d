// Opening plug-ins, and turning their codes and messages into Status.
#include "runtime/Kernels/LibraryPlugin.h"

#include <cctype>
#include <cstdlib>
#include <dlfcn.h>
#include <vector>

namespace stator::runtime {

static Status pluginFailure(int code, const StatorLibraryMessage &message, const std::string &library) {
  return Status(static_cast<StatusCode>(code), "library `" + library + "`: " + message.text);
}

// The folder of the shared object or program that contains the runtime.
static std::string ownFolder() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void *>(&ownFolder), &info) || !info.dli_fname)
    return "";
  std::string path = info.dli_fname;
  // A program's name may be without a folder, or relative to one that is no longer the current one.
  char *resolved = path.find('/') == std::string::npos ? nullptr : realpath(path.c_str(), nullptr);
  if (!resolved)
    resolved = realpath("/proc/self/exe", nullptr);
  if (resolved) {
    path = resolved;
    std::free(resolved);
  }
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

static std::vector<std::string> candidates(const std::string &file) {
  if (const char *folder = std::getenv("STATOR_PLUGIN_DIR"))
    return {std::string(folder) + "/" + file};
  std::vector<std::string> paths;
  std::string own = ownFolder();
  if (!own.empty())
    paths = {own + "/" + file, own + "/../lib/" + file, own + "/../lib/x86_64-linux-gnu/" + file};
  paths.push_back(file);
  return paths;
}

Result<std::shared_ptr<LibraryContext>> LibraryContext::open(const std::string &library) {
  std::string upper;
  for (char c : library)
    upper += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::string advice = "; compile the model with --library=none to do without it";
  const char *disabled = std::getenv(("STATOR_DISABLE_" + upper).c_str());
  if (disabled && *disabled && std::string(disabled) != "0")
    return unsupported("the artifact needs the library `" + library + "`, which STATOR_DISABLE_" + upper + " switches off" + advice);
  for (char c : library)
    if (!std::isalnum(static_cast<unsigned char>(c)))
      return invalidFile("`" + library + "` is no name of a library");

  void *handle = nullptr;
  std::string reason;
  for (const std::string &path : candidates("libstator_" + library + ".so")) {
    if ((handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)))
      break;
    // The most telling reason is that of a plug-in that exists and does not load.
    const char *error = dlerror();
    std::string text = error ? error : "unknown error";
    if (reason.empty() || reason.find("No such file") != std::string::npos)
      reason = text;
  }
  if (!handle)
    return unsupported("the artifact needs the library `" + library + "`, whose plug-in cannot be opened: " + reason + advice);
  // Never closed: the library behind it has threads and exit handlers of its own.
  auto function = reinterpret_cast<StatorLibraryPluginFunction>(dlsym(handle, STATOR_LIBRARY_PLUGIN_SYMBOL));
  const StatorLibraryPlugin *table = function ? function() : nullptr;
  if (!table || table->abiVersion != STATOR_LIBRARY_ABI_VERSION)
    return unsupported("the plug-in of the library `" + library + "` has " +
                       (table ? "version " + std::to_string(table->abiVersion) : std::string("no version")) + ", expected " +
                       std::to_string(STATOR_LIBRARY_ABI_VERSION));
  void *context = nullptr;
  StatorLibraryMessage message{};
  if (int code = table->createContext(&context, &message))
    return pluginFailure(code, message, library);
  return std::shared_ptr<LibraryContext>(new LibraryContext(library, *table, context));
}

LibraryContext::~LibraryContext() { table.destroyContext(pluginContext); }

Result<LibraryStep> LibraryStep::create(std::shared_ptr<LibraryContext> context, const StatorLibraryStep &description) {
  LibraryStep result;
  StatorLibraryMessage message{};
  if (int code = context->plugin().createStep(context->context(), &description, &result.step, &message))
    return pluginFailure(code, message, context->library());
  result.owner = std::move(context);
  return result;
}

Status LibraryStep::execute(void *const *buffers) const {
  StatorLibraryMessage message{};
  if (int code = owner->plugin().executeStep(step, buffers, &message))
    return pluginFailure(code, message, owner->library());
  return okStatus();
}

} // namespace stator::runtime
