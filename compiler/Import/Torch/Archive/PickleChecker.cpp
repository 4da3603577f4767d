//===- PickleChecker.cpp - bounds of a finished pickle tree ----------------===//
//
// Lists and dicts are filled after they were put into others, so that nesting is known only at the end. One walk with a stack of its own
// visits each node once; heights and expanded sizes are kept in the nodes.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/Torch/Archive/Unpickler.h"
#include "serialization/Base/Utf8.h"

#include "llvm/ADT/StringSet.h"

#include <set>

namespace stator::torch {

static constexpr size_t kMaxDepth = 256;
static constexpr uint32_t kMaxExpanded = 10'000'000;

size_t PickleChecker::childCount(const PickleValue &value) {
  switch (value.kind()) {
  case PickleKind::List:
  case PickleKind::Tuple:
    return value.elements().size();
  case PickleKind::Dict:
    return 2 * value.entries().size();
  case PickleKind::Object:
  case PickleKind::Enum:
    return value.content() ? 1 : 0;
  default:
    return 0;
  }
}

const PickleValue &PickleChecker::child(const PickleValue &value, size_t index) {
  if (value.is(PickleKind::Dict)) {
    const PickleEntry &entry = value.entries()[index / 2];
    return index % 2 ? *entry.second : *entry.first;
  }
  return value.content() ? *value.content() : *value.elements()[index];
}

Status PickleChecker::checkKeys(const PickleValue &dict, std::string_view record) {
  llvm::StringSet<> strings;
  std::set<int64_t> numbers;
  for (auto [key, value] : dict.entries()) {
    bool isNew = !key->is(PickleKind::String) || strings.insert(key->text()).second;
    isNew &= !key->is(PickleKind::Int) || numbers.insert(key->integer()).second;
    if (!isNew)
      return invalidFile("record `" + std::string(record) + "`: a dict has the key `" +
                         (key->is(PickleKind::Int) ? std::to_string(key->integer()) : key->text().str()) + "` twice");
  }
  return Status();
}

Status PickleChecker::check(const PickleTree &tree, std::string_view record) {
  std::string place = "record `" + std::string(record) + "`: ";
  struct Level {
    const PickleValue *value;
    size_t next;
  };
  std::vector<Level> path{{&tree.root(), 0}};
  tree.root().visit = 1;
  while (!path.empty()) {
    const PickleValue &value = *path.back().value;
    if (path.back().next != childCount(value)) {
      const PickleValue &next = child(value, path.back().next++);
      if (next.visit == 1)
        return invalidFile(place + describe(next.kind()) + " contains itself");
      if (next.visit == 2)
        continue;
      next.visit = 1;
      path.push_back({&next, 0});
      if (path.size() > kMaxDepth)
        return resourceExhausted(place + "values are nested more than " + std::to_string(kMaxDepth) + " deep");
      continue;
    }
    if (value.is(PickleKind::Storage))
      return invalidFile(place + "a storage stands outside of a tensor");
    if (value.is(PickleKind::Dict))
      STATOR_RETURN_IF_ERROR(checkKeys(value, record));
    uint16_t height = 0;
    uint64_t expanded = 1;
    for (size_t index = 0, count = childCount(value); index != count; ++index) {
      const PickleValue &below = child(value, index);
      height = std::max(height, below.height);
      expanded += below.expanded;
    }
    if (height >= kMaxDepth)
      return resourceExhausted(place + "values are nested more than " + std::to_string(kMaxDepth) + " deep");
    if (expanded > kMaxExpanded)
      return resourceExhausted(place + "shared values stand for more than " + std::to_string(kMaxExpanded) + " values");
    value.height = static_cast<uint16_t>(height + 1);
    value.expanded = static_cast<uint32_t>(expanded);
    value.visit = 2;
    path.pop_back();
  }
  return Status();
}

} // namespace stator::torch
