//===- Pickle.cpp - the values of a pickle ---------------------------------===//

#include "compiler/Import/Torch/Archive/Pickle.h"
#include "compiler/Import/Torch/Archive/Archive.h"
#include "compiler/Import/Torch/Archive/Unpickler.h"

namespace stator::torch {

const char *describe(PickleKind kind) {
  switch (kind) {
  case PickleKind::None:
    return "None";
  case PickleKind::Bool:
    return "a bool";
  case PickleKind::Int:
    return "an int";
  case PickleKind::Float:
    return "a float";
  case PickleKind::Complex:
    return "a complex number";
  case PickleKind::String:
    return "a string";
  case PickleKind::List:
    return "a list";
  case PickleKind::Tuple:
    return "a tuple";
  case PickleKind::Dict:
    return "a dict";
  case PickleKind::Global:
    return "a class";
  case PickleKind::Object:
    return "an object";
  case PickleKind::Enum:
    return "an enum member";
  case PickleKind::Tensor:
    return "a tensor";
  case PickleKind::Device:
    return "a device";
  case PickleKind::Storage:
    return "a storage";
  }
  return "a value";
}

llvm::StringRef PickleValue::text() const {
  switch (valueKind) {
  case PickleKind::String:
  case PickleKind::Global:
  case PickleKind::Device:
    return {chars_, static_cast<size_t>(integer_)};
  case PickleKind::Object:
  case PickleKind::Enum:
    return body_->text;
  default:
    return {};
  }
}

llvm::StringRef PickleValue::typeTag() const {
  return (is(PickleKind::List) || is(PickleKind::Dict)) && body_ ? body_->typeTag : llvm::StringRef();
}

llvm::ArrayRef<const PickleValue *> PickleValue::elements() const {
  if ((is(PickleKind::List) || is(PickleKind::Tuple)) && body_)
    return body_->elements;
  return {};
}

llvm::ArrayRef<PickleEntry> PickleValue::entries() const {
  if (is(PickleKind::Dict) && body_)
    return body_->entries;
  return {};
}

const PickleValue *PickleValue::find(llvm::StringRef key) const {
  for (auto [name, value] : entries())
    if (name->is(PickleKind::String) && name->text() == key)
      return value;
  return nullptr;
}

const PickleValue *PickleValue::content() const { return is(PickleKind::Object) || is(PickleKind::Enum) ? body_->content : nullptr; }

const PickleValue *PickleValue::attribute(llvm::StringRef name) const {
  const PickleValue *state = content();
  return state ? state->find(name) : nullptr;
}

PickleTree::PickleTree() : arena(std::make_unique<Arena>()) {}
PickleTree::PickleTree(PickleTree &&) = default;
PickleTree &PickleTree::operator=(PickleTree &&) = default;
PickleTree::~PickleTree() = default;

size_t PickleTree::nodeCount() const { return arena->nodes; }

Result<PickleTree> unpickle(std::span<const std::byte> bytes, std::string_view record) { return Unpickler(bytes, record).run(); }

Result<PickleTree> unpickle(const Archive &archive, std::string_view record) {
  STATOR_TRY(bytes, archive.bytes(record));
  return unpickle(bytes, record);
}

} // namespace stator::torch
