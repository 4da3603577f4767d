// Finding and opening plug-ins. A library such as oneDNN is large and not everywhere installed, so that it is opened only for artifacts
// whose requirements name it, and its absence is an error that says what to do.
#ifndef STATOR_RUNTIME_KERNELS_LIBRARYPLUGIN_H
#define STATOR_RUNTIME_KERNELS_LIBRARYPLUGIN_H

#include "runtime/Kernels/LibraryAbi.h"
#include "stator/Result.h"

#include <memory>
#include <string>

namespace stator::runtime {

/// A plug-in and what it keeps for one module (packed weights). Thread-safe.
class LibraryContext {
public:
  /// Opens libstator_<library>.so: from the folder STATOR_PLUGIN_DIR if that is set, else beside the file that holds this code, in its
  /// ../lib, or where the system looks. Unsupported when there is none or when STATOR_DISABLE_<LIBRARY> is set to anything but 0.
  static Result<std::shared_ptr<LibraryContext>> open(const std::string &library);
  ~LibraryContext();
  LibraryContext(const LibraryContext &) = delete;
  LibraryContext &operator=(const LibraryContext &) = delete;

  const std::string &library() const { return name; }
  const StatorLibraryPlugin &plugin() const { return table; }
  void *context() const { return pluginContext; }

private:
  LibraryContext(std::string name, const StatorLibraryPlugin &table, void *context)
      : name(std::move(name)), table(table), pluginContext(context) {}
  std::string name;
  const StatorLibraryPlugin &table;
  void *pluginContext;
};

/// A prepared library instruction for one input shape. Used by one session.
class LibraryStep {
public:
  static Result<LibraryStep> create(std::shared_ptr<LibraryContext> context, const StatorLibraryStep &description);
  LibraryStep() = default;
  ~LibraryStep() {
    if (step)
      owner->plugin().destroyStep(step);
  }
  LibraryStep(LibraryStep &&other) noexcept { *this = std::move(other); }
  LibraryStep &operator=(LibraryStep &&other) noexcept {
    std::swap(owner, other.owner);
    std::swap(step, other.step);
    return *this;
  }

  Status execute(void *const *buffers) const;
  /// Of the plug-in; null for an empty step.
  const StatorLibraryPlugin *plugin() const { return owner ? &owner->plugin() : nullptr; }

private:
  std::shared_ptr<LibraryContext> owner;
  void *step = nullptr;
};

} // namespace stator::runtime

#endif // STATOR_RUNTIME_KERNELS_LIBRARYPLUGIN_H
