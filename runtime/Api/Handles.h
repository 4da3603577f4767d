// What the opaque handles of the C interface are.
#ifndef STATOR_RUNTIME_API_HANDLES_H
#define STATOR_RUNTIME_API_HANDLES_H

#include "runtime/Executor/Session.h"
#include "serialization/Base/DimExpr.h"
#include "stator/c/runtime.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

struct stator_status {
  stator::Status status;
};

struct stator_module {
  explicit stator_module(std::shared_ptr<const stator::runtime::LoadedModule> module);

  /// The declared inputs and outputs of a method, in the form that the C interface hands out.
  struct MethodInfo {
    std::vector<stator_value_info> values[2]; // By stator_value_kind.
    std::vector<stator_dim_info> dims;
  };
  std::shared_ptr<const stator::runtime::LoadedModule> loaded;
  std::vector<MethodInfo> methods;
  std::vector<std::vector<int64_t>> parameterShapes;
  std::string modelName;
  std::atomic<size_t> references{1};
};

struct stator_session {
  std::unique_ptr<stator::runtime::Session> session;
  std::shared_ptr<const stator::runtime::LoadedModule> loaded;
};

namespace stator::runtime {

/// Null for success; else a status that the caller releases.
stator_status *toHandle(Status status);

} // namespace stator::runtime

#endif // STATOR_RUNTIME_API_HANDLES_H
