// Checks a manifest: the tables shared by all methods here, methods and their plans in PlanValidator.cpp.
#include "serialization/Artifact/Validator.h"

#include "serialization/Artifact/PlanValidator.h"

#include <set>

using namespace stator;
using namespace stator::serialization;

std::string stator::serialization::placeOf(const char *list, size_t index, const std::string &name) {
  std::string place = std::string(list) + "[" + std::to_string(index) + "]";
  return name.empty() ? place : place + " `" + name + "`";
}

Status stator::serialization::invalidAt(const std::string &place, const std::string &what) {
  return invalidFile("manifest: " + place + ": " + what);
}

Status stator::serialization::checkIndex(const std::string &place, const char *what, uint64_t index, size_t count) {
  if (index < count)
    return Status();
  return invalidAt(place, std::string(what) + " " + std::to_string(index) + ", there are " + std::to_string(count));
}

template <typename T>
static Status checkNames(const char *list, const std::vector<T> &values, std::string T::*name) {
  std::set<std::string> names;
  for (size_t i = 0; i != values.size(); ++i) {
    const std::string &text = values[i].*name;
    if (text.empty())
      return invalidAt(placeOf(list, i, ""), "it has no name");
    if (!names.insert(text).second)
      return invalidAt(placeOf(list, i, text), "the name is there twice");
  }
  return Status();
}

Status stator::serialization::checkValueNames(const std::string &place, const char *list, const std::vector<Value> &values) {
  Status status = checkNames(list, values, &Value::name);
  return status.ok() ? status : invalidFile("manifest: " + place + ": " + status.message().substr(sizeof("manifest: ") - 1));
}

/// A C identifier, since it becomes part of a symbol.
static bool isSymbolPart(const std::string &name) {
  for (char c : name)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'))
      return false;
  return true;
}

static Status checkParameter(const Parameter &parameter, const std::string &place) {
  uint64_t bytes = byteSize(parameter.elementType);
  for (uint64_t dim : parameter.dims)
    if (__builtin_mul_overflow(bytes, dim, &bytes))
      return invalidAt(place, "its size exceeds 64 bits");
  if (bytes != parameter.size)
    return invalidAt(place, "it has " + std::to_string(parameter.size) + " bytes, its type takes " + std::to_string(bytes));
  uint64_t end = 0;
  if (__builtin_add_overflow(parameter.offset, parameter.size, &end))
    return invalidAt(place, "its end exceeds 64 bits");
  if (parameter.offset % kParameterAlignment != 0)
    return invalidAt(place, "offset " + std::to_string(parameter.offset) + " is not a multiple of 64");
  if (!parameter.entry.starts_with("weights/"))
    return invalidAt(place, "entry `" + parameter.entry + "` is not in `weights/`");
  return Status();
}

Status stator::serialization::validateManifest(const Manifest &manifest) {
  if (manifest.formatMajor != kFormatMajor || manifest.formatMinor != kFormatMinor)
    return unsupported("manifest of format " + std::to_string(manifest.formatMajor) + "." + std::to_string(manifest.formatMinor) +
                       ", expected " + std::to_string(kFormatMajor) + "." + std::to_string(kFormatMinor));

  STATOR_RETURN_IF_ERROR(checkNames("parameters", manifest.parameters, &Parameter::name));
  for (size_t i = 0; i != manifest.parameters.size(); ++i)
    STATOR_RETURN_IF_ERROR(checkParameter(manifest.parameters[i], placeOf("parameters", i, manifest.parameters[i].name)));

  STATOR_RETURN_IF_ERROR(checkNames("kernels", manifest.kernels, &Kernel::name));
  for (size_t i = 0; i != manifest.kernels.size(); ++i)
    if (!isSymbolPart(manifest.kernels[i].name))
      return invalidAt(placeOf("kernels", i, manifest.kernels[i].name), "the name is not an identifier");

  STATOR_RETURN_IF_ERROR(checkNames("variants", manifest.variants, &Variant::level));
  for (size_t i = 0; i != manifest.variants.size(); ++i)
    if (!manifest.variants[i].entry.starts_with("kernels/"))
      return invalidAt(placeOf("variants", i, manifest.variants[i].level),
                       "entry `" + manifest.variants[i].entry + "` is not in `kernels/`");
  if (!manifest.kernels.empty() && manifest.variants.empty())
    return invalidFile("manifest: there are kernels, but no variant that holds them");

  std::set<std::string> requirements;
  for (size_t i = 0; i != manifest.requirements.size(); ++i) {
    const std::string &requirement = manifest.requirements[i];
    if (!isSymbolPart(requirement) || requirement.empty())
      return invalidAt(placeOf("requirements", i, requirement), "the name is not an identifier");
    if (!requirements.insert(requirement).second)
      return invalidAt(placeOf("requirements", i, requirement), "the name is there twice");
  }

  STATOR_RETURN_IF_ERROR(checkNames("methods", manifest.methods, &Method::name));
  std::vector<bool> planIsUsed(manifest.plans.size(), false);
  for (size_t i = 0; i != manifest.methods.size(); ++i) {
    const Method &method = manifest.methods[i];
    std::string place = placeOf("methods", i, method.name);
    STATOR_RETURN_IF_ERROR(checkIndex(place, "plan", method.plan, manifest.plans.size()));
    if (planIsUsed[method.plan])
      return invalidAt(place, "plan " + std::to_string(method.plan) + " belongs to another method");
    planIsUsed[method.plan] = true;
    STATOR_RETURN_IF_ERROR(validateMethod(manifest, method, place));
  }
  for (size_t i = 0; i != planIsUsed.size(); ++i)
    if (!planIsUsed[i])
      return invalidAt(placeOf("plans", i, ""), "it belongs to no method");
  return Status();
}
