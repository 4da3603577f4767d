//===- Pickle.h - the pickles of torch files as data -----------------------===//
//
// A pickle is a program for a small stack machine that may call anything; people are right to fear it. This reader runs the few opcodes
// that torch writes and gives each of the few globals that torch uses its one meaning; any other is an error that names it. The result is
// a tree of plain values. Nothing is called, imported or looked up.
//
// The tree is a directed acyclic graph: an object that the pickle refers to twice is one node with one address (shared submodules, tied
// tensors). It is bounded: nested at most 256 deep, at most 3 million nodes, at most 10 million when every shared node is counted for each
// path to it, so that a walk that knows nothing of sharing ends. Nodes lie in an arena and hold plain pointers: neither making nor freeing
// the tree recurses.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_IMPORT_TORCH_ARCHIVE_PICKLE_H
#define STATOR_COMPILER_IMPORT_TORCH_ARCHIVE_PICKLE_H

#include "stator/Result.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace stator::torch {

class Archive;
class PickleValue;
class Unpickler;

enum class PickleKind : uint8_t {
  None,
  Bool,
  Int,
  Float,
  Complex,
  String,
  List,    ///< elements(); typeTag() "List[int]" etc. when the pickle says so.
  Tuple,   ///< elements()
  Dict,    ///< entries(), in order; OrderedDict too. typeTag() "Dict[str, int]" when the pickle says so.
  Global,  ///< A class or dtype that is named but not used: text() is "torch.float32".
  Object,  ///< A module or other instance: text() is the class "__torch__.a.b.C", content() its state, a Dict for all but classes that
           ///< pickle themselves (__getstate__). None when there was no BUILD.
  Enum,    ///< An enum member: text() is the class, content() the member's value.
  Tensor,  ///< tensor()
  Device,  ///< text() is "cpu", "cuda:0"
  Storage, ///< Only while reading: what a tensor is made of.
};

/// For messages: "an int", "a list".
const char *describe(PickleKind kind);

/// A tensor as the pickle describes it; no number is checked except that it is there. TensorPayload.h checks them.
struct PickledTensor {
  /// The record of the storage, below data/ or constants/: usually a number, hostile files may have a path.
  llvm::StringRef storageKey;
  int64_t scalarType = -1;     ///< c10::ScalarType of the elements; also of types that Stator does not have.
  int64_t storageElements = 0; ///< Bytes for an untyped storage.
  bool isUntyped = false;      ///< Written for types without a storage class of their own (float8).
  int64_t offset = 0;          ///< In elements.
  llvm::ArrayRef<int64_t> sizes, strides;
  bool requiresGrad = false;
  bool isParameter = false; ///< Wrapped in a Parameter (torch.save only; TorchScript says it in the class).
};

using PickleEntry = std::pair<const PickleValue *, const PickleValue *>;

/// A node of the tree. Accessors of another kind give 0, "", nothing or null.
class PickleValue {
public:
  PickleKind kind() const { return valueKind; }
  bool is(PickleKind other) const { return valueKind == other; }

  bool boolean() const { return is(PickleKind::Bool) && integer_; }
  int64_t integer() const { return is(PickleKind::Int) ? integer_ : 0; }
  /// Of a Float; the real part of a Complex.
  double real() const { return is(PickleKind::Float) || is(PickleKind::Complex) ? real_ : 0; }
  double imaginary() const { return is(PickleKind::Complex) ? imaginary_ : 0; }
  /// Of a String, Global, Object, Enum, Device, as listed at PickleKind. A view into the pickle or the tree.
  llvm::StringRef text() const;
  /// "List[int]", "Dict[str, Tensor]"; "" when the pickle does not say.
  llvm::StringRef typeTag() const;
  llvm::ArrayRef<const PickleValue *> elements() const;
  llvm::ArrayRef<PickleEntry> entries() const;
  /// The value of a Dict's string key; null when there is none. Linear.
  const PickleValue *find(llvm::StringRef key) const;
  /// Of an Object or Enum; for others null.
  const PickleValue *content() const;
  /// An Object's attribute: content()->find(name). Null when there is none.
  const PickleValue *attribute(llvm::StringRef name) const;
  /// Null for other kinds.
  const PickledTensor *tensor() const { return is(PickleKind::Tensor) ? tensor_ : nullptr; }

private:
  friend class Unpickler;
  friend class PickleChecker;
  friend class PickleTree;
  /// What a List, Tuple, Dict, Object or Enum holds; made when the first thing comes in.
  struct Body;

  explicit PickleValue(PickleKind kind) : valueKind(kind) {}

  PickleKind valueKind;
  /// For the check of the finished tree: 0 not seen, 1 on the path, 2 done; height and size with shared nodes counted each time.
  mutable uint8_t visit = 0;
  mutable uint16_t height = 0;
  mutable uint32_t expanded = 0;
  union {
    Body *body_ = nullptr;
    const char *chars_;
    const PickledTensor *tensor_;
    double imaginary_;
  };
  union {
    int64_t integer_ = 0; ///< The value, or the length of chars_.
    double real_;
  };
};

/// The tree and everything in it. Movable; nodes keep their addresses.
class PickleTree {
public:
  PickleTree(PickleTree &&);
  PickleTree &operator=(PickleTree &&);
  ~PickleTree();
  const PickleValue &root() const { return *rootValue; }
  /// How many nodes there are, for summaries and tests.
  size_t nodeCount() const;

private:
  friend class Unpickler;
  friend class PickleChecker;
  struct Arena;
  PickleTree();
  std::unique_ptr<Arena> arena;
  const PickleValue *rootValue = nullptr;
};

/// Reads a whole pickle. Strings of the tree are views into `bytes`, which must live as long. Messages name `record`, the byte offset,
/// the opcode or global, and what was expected.
Result<PickleTree> unpickle(std::span<const std::byte> bytes, std::string_view record);

/// The record of an archive, "data.pkl" or "constants.pkl"; the tree lives no longer than the archive.
Result<PickleTree> unpickle(const Archive &archive, std::string_view record);

} // namespace stator::torch

#endif // STATOR_COMPILER_IMPORT_TORCH_ARCHIVE_PICKLE_H
