//===- Unpickler.h - the stack machine of pickles --------------------------===//
//
// Values are made in the arena of the tree and moved about by pointer, so that the memo shares them. Opcodes are in Unpickler.cpp, what
// the known globals mean in PickleGlobals.cpp, the check of the finished tree in PickleChecker.cpp. Private to this folder.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_IMPORT_TORCH_ARCHIVE_UNPICKLER_H
#define STATOR_COMPILER_IMPORT_TORCH_ARCHIVE_UNPICKLER_H

#include "compiler/Import/Torch/Archive/Pickle.h"

#include "llvm/Support/Allocator.h"

#include <deque>
#include <optional>
#include <string>
#include <unordered_map>

namespace stator::torch {

struct PickleValue::Body {
  llvm::StringRef text, typeTag;
  std::vector<const PickleValue *> elements;
  std::vector<PickleEntry> entries;
  const PickleValue *content = nullptr;
};

struct PickleTree::Arena {
  llvm::BumpPtrAllocator memory;
  std::deque<PickleValue::Body> bodies;
  size_t nodes = 0;
};

class Unpickler {
public:
  Unpickler(std::span<const std::byte> bytes, std::string_view record) : bytes(bytes), record(record) {}
  Result<PickleTree> run();

private:
  using Values = std::vector<PickleValue *>;

  /// "record `data.pkl`, byte 17, opcode GLOBAL: message".
  Status failure(StatusCode code, const std::string &message) const;
  Status bad(const std::string &message) const { return failure(StatusCode::InvalidFile, message); }
  Status step(uint8_t opcode);
  Status readScalar(uint8_t opcode);
  Status changeContainer(uint8_t opcode);

  bool has(uint64_t count) const { return count <= bytes.size() - at; }
  /// Little-endian, `width` bytes.
  Result<uint64_t> number(unsigned width);
  Result<llvm::StringRef> characters(uint64_t count);
  Result<llvm::StringRef> line();

  PickleValue *make(PickleKind kind);
  PickleValue::Body &bodyOf(PickleValue *value);
  llvm::StringRef keep(const std::string &text);
  PickleValue *makeText(PickleKind kind, llvm::StringRef text);
  PickleValue *makeTuple(llvm::ArrayRef<PickleValue *> elements);
  PickleValue *makeTensor(const PickledTensor &tensor, PickleKind kind);

  void push(PickleValue *value) { stack.push_back(value); }
  /// The topmost values, removed, in the order in which they were pushed. They must lie above the last mark.
  Result<Values> pop(size_t count);
  Result<Values> popToMark();
  Result<PickleValue *> top();

  Status append(PickleValue *list, llvm::ArrayRef<PickleValue *> values);
  Status setItems(PickleValue *dict, llvm::ArrayRef<PickleValue *> values);

  // PickleGlobals.cpp
  Status global(llvm::StringRef module, llvm::StringRef name);
  Status newObject();
  Status build();
  Status persistentStorage();
  Status reduce();
  Result<PickleValue *> rebuildTensor(llvm::ArrayRef<const PickleValue *> arguments, bool hasDtype);
  Result<PickleValue *> rebuildParameter(llvm::ArrayRef<const PickleValue *> arguments);
  Result<PickleValue *> typedList(PickleValue *arguments, llvm::StringRef tag, PickleKind kind);
  Result<PickleValue *> restoreTypeTag(PickleValue *arguments);
  Result<PickleValue *> device(llvm::ArrayRef<const PickleValue *> arguments);
  Result<PickleValue *> complexNumber(llvm::ArrayRef<const PickleValue *> arguments);
  Result<llvm::ArrayRef<int64_t>> integers(const PickleValue &tuple, const char *what);

  std::span<const std::byte> bytes;
  std::string_view record;
  uint64_t at = 0;
  uint64_t opcodeAt = 0;
  uint8_t opcode = 0;
  bool isStopped = false;
  PickleTree tree;
  PickleValue *none = nullptr, *yes = nullptr, *no = nullptr;
  Values stack;
  std::vector<size_t> marks;
  std::unordered_map<uint32_t, PickleValue *> memo;
};

/// Refuses cycles, deep nesting, explosion by sharing, keys twice and storages outside of tensors.
class PickleChecker {
public:
  static Status check(const PickleTree &tree, std::string_view record);

private:
  static size_t childCount(const PickleValue &value);
  static const PickleValue &child(const PickleValue &value, size_t index);
  static Status checkKeys(const PickleValue &dict, std::string_view record);
};

} // namespace stator::torch

#endif // STATOR_COMPILER_IMPORT_TORCH_ARCHIVE_UNPICKLER_H
