// The C interface: status and modules.
#include "runtime/Api/Handles.h"
#include "runtime/Devices/Cpu/CpuInfo.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>

#ifndef STATOR_VERSION
#define STATOR_VERSION "unknown"
#endif

using namespace stator;
using namespace stator::runtime;

stator_status *stator::runtime::toHandle(Status status) { return status.ok() ? nullptr : new stator_status{std::move(status)}; }

stator_status_code stator_status_get_code(const stator_status *status) {
  return status ? static_cast<stator_status_code>(status->status.code()) : STATOR_OK;
}
const char *stator_status_get_message(const stator_status *status) { return status ? status->status.message().c_str() : ""; }
void stator_status_release(stator_status *status) { delete status; }

const char *stator_version(void) { return STATOR_VERSION; }
int32_t stator_default_threads(void) { return defaultThreadCount(); }

// One dimension for display: a number, a named size with its range, or an expression.
static stator_dim_info dimInfo(const serialization::Method &method, uint32_t index) {
  const serialization::Expression &expression = method.expressions[index];
  stator_dim_info info{-1, expression.text.c_str(), -1, -1};
  if (expression.code.size() != 2)
    return info;
  if (expression.code[0] == static_cast<int64_t>(DimOpcode::Const))
    info.size = expression.code[1];
  if (expression.code[0] == static_cast<int64_t>(DimOpcode::Symbol)) {
    const serialization::Symbol &symbol = method.symbols[static_cast<size_t>(expression.code[1])];
    info.minimum = symbol.min;
    info.maximum = symbol.max;
  }
  return info;
}

stator_module::stator_module(std::shared_ptr<const LoadedModule> module) : loaded(std::move(module)) {
  const serialization::Manifest &manifest = loaded->manifest();
  methods.resize(manifest.methods.size());
  for (size_t i = 0; i < methods.size(); ++i) {
    const serialization::Method &method = manifest.methods[i];
    const std::vector<serialization::Value> *lists[2] = {&method.inputs, &method.outputs};
    // All dimensions lie in one vector, whose memory must not move once values point into it.
    size_t dimCount = 0;
    for (const auto *list : lists)
      for (const serialization::Value &value : *list)
        dimCount += value.dims.size();
    methods[i].dims.reserve(dimCount);
    for (int kind = 0; kind < 2; ++kind)
      for (const serialization::Value &value : *lists[kind]) {
        const stator_dim_info *dims = methods[i].dims.data() + methods[i].dims.size();
        for (uint32_t dim : value.dims)
          methods[i].dims.push_back(dimInfo(method, dim));
        methods[i].values[kind].push_back(
            {value.name.c_str(), static_cast<int32_t>(value.elementType), static_cast<int32_t>(value.dims.size()), dims});
      }
  }
  for (const serialization::Parameter &parameter : manifest.parameters)
    parameterShapes.emplace_back(parameter.dims.begin(), parameter.dims.end());
  for (const serialization::Info &info : manifest.info)
    if (info.key == "model")
      modelName = info.value;
}

stator_status *stator_module_load(const char *path, const stator_load_options *options, stator_module **module) {
  if (!path || !module)
    return toHandle(invalidArgument("stator_module_load got a null pointer"));
  *module = nullptr;
  // Fields behind the caller's struct_size were unknown when the caller was compiled.
  stator_load_options known{};
  if (options && options->struct_size < sizeof(options->struct_size))
    return toHandle(invalidArgument("stator_load_options.struct_size is not set"));
  if (options)
    std::memcpy(&known, options, std::min(options->struct_size, sizeof(known)));
  Result<std::shared_ptr<const LoadedModule>> loaded = LoadedModule::load(path, known.cpu_level ? known.cpu_level : "");
  if (!loaded.ok())
    return toHandle(loaded.status());
  *module = new stator_module(std::move(loaded).value());
  return nullptr;
}

void stator_module_retain(stator_module *module) {
  if (module)
    module->references.fetch_add(1, std::memory_order_relaxed);
}
void stator_module_release(stator_module *module) {
  if (module && module->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
    delete module;
}

const char *stator_module_cpu_level(const stator_module *module) { return module->loaded->cpuLevel().c_str(); }
const char *stator_module_producer(const stator_module *module) { return module->loaded->manifest().producer.c_str(); }
const char *stator_module_model_name(const stator_module *module) { return module->modelName.c_str(); }

size_t stator_module_method_count(const stator_module *module) { return module->methods.size(); }
const char *stator_module_method_name(const stator_module *module, size_t method) {
  return method < module->methods.size() ? module->loaded->manifest().methods[method].name.c_str() : "";
}
size_t stator_module_find_method(const stator_module *module, const char *name) {
  const std::vector<serialization::Method> &methods = module->loaded->manifest().methods;
  for (size_t i = 0; name && i < methods.size(); ++i)
    if (methods[i].name == name)
      return i;
  return SIZE_MAX;
}

size_t stator_module_value_count(const stator_module *module, size_t method, stator_value_kind kind) {
  bool valid = method < module->methods.size() && (kind == STATOR_INPUT || kind == STATOR_OUTPUT);
  return valid ? module->methods[method].values[kind].size() : 0;
}
void stator_module_value(const stator_module *module, size_t method, stator_value_kind kind, size_t index, stator_value_info *info) {
  *info = stator_value_info{};
  if (index < stator_module_value_count(module, method, kind))
    *info = module->methods[method].values[kind][index];
}

size_t stator_module_parameter_count(const stator_module *module) { return module->parameterShapes.size(); }
void stator_module_parameter(const stator_module *module, size_t index, stator_parameter_info *info) {
  *info = stator_parameter_info{};
  if (index >= module->parameterShapes.size())
    return;
  const serialization::Parameter &parameter = module->loaded->manifest().parameters[index];
  const std::vector<int64_t> &shape = module->parameterShapes[index];
  *info = {parameter.name.c_str(),
           static_cast<int32_t>(parameter.elementType),
           static_cast<int32_t>(shape.size()),
           shape.data(),
           module->loaded->parameter(index),
           static_cast<size_t>(parameter.size),
           parameter.layout.c_str(),
           parameter.isMutable};
}
