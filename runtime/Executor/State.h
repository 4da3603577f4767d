// What a session keeps from run to run: one tensor for each mutable parameter of the artifact, initialised from its bytes.
#ifndef STATOR_RUNTIME_EXECUTOR_STATE_H
#define STATOR_RUNTIME_EXECUTOR_STATE_H

#include "runtime/Loader/LoadedModule.h"
#include "runtime/Memory/Arena.h"
#include "stator/c/runtime.h"

#include <span>
#include <string>
#include <vector>

namespace stator::runtime {

/// Owns the memory. Not synchronised; the session is.
class State {
public:
  /// Allocates and resets. Nothing is allocated when the module has no mutable parameters.
  Status initialise(const LoadedModule &module);
  void reset();

  size_t count() const { return tensors.size(); }
  const std::string &name(size_t index) const;
  stator_tensor_view view(size_t index) const;
  /// By parameter; null for those that are not state.
  std::span<std::byte *const> addresses() const { return byParameter; }

  /// An .npz file with one array per state, written beside `path` and renamed.
  Status save(const std::string &path) const;
  /// Every state must be there with its type and shape, else nothing changes.
  Status load(const std::string &path);

private:
  struct Tensor {
    size_t parameter;
    std::byte *data;
    std::vector<int64_t> shape;
  };
  const LoadedModule *module = nullptr;
  Arena memory;
  std::vector<Tensor> tensors;
  std::vector<std::byte *> byParameter;
};

} // namespace stator::runtime

#endif // STATOR_RUNTIME_EXECUTOR_STATE_H
