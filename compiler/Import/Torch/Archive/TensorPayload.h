//===- TensorPayload.h - where the bytes of a tensor are -------------------===//
//
// A tensor in a torch file is a view of a storage: a record, an offset, sizes and strides. All of them are numbers from the file, so that
// they are checked here, once, for both formats, before anything computes with them: sizes and strides not negative, products within 64
// bits, every element inside of the storage, the record as large as its description says, the type one that Stator has. Views whose
// elements overlap (strides of 0) claim more than there is in the file; what they would expand to counts against a budget.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_COMPILER_IMPORT_TORCH_ARCHIVE_TENSORPAYLOAD_H
#define STATOR_COMPILER_IMPORT_TORCH_ARCHIVE_TENSORPAYLOAD_H

#include "compiler/Import/Torch/Archive/Archive.h"
#include "compiler/Import/Torch/Archive/Pickle.h"
#include "stator/ElementType.h"

#include "llvm/ADT/ArrayRef.h"

#include <map>

namespace stator::torch {

/// A checked tensor. Its bytes are valid as long as the archive.
struct TensorPayload {
  ElementType type = ElementType::F32;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides; ///< In elements; of a tensor without elements, what the file says.
  int64_t elements = 0;         ///< The product of the sizes.

  /// The whole storage. Tensors of one storage (tied weights, views of each other) have the same data(); use storageId().
  std::span<const std::byte> storage;
  /// Of the first element in the storage, in bytes.
  uint64_t storageOffset = 0;
  /// Of the first element in Archive::file(); nothing when the bytes do not lie there (unpacked, or booleans other than 0 and 1 mended).
  std::optional<uint64_t> fileOffset;

  /// Equal for tensors that share memory in the program that wrote the file. Null for an empty storage, which nobody shares.
  const void *storageId() const { return storage.empty() ? nullptr : storage.data(); }
  /// Row-major without gaps: the bytes from the first element on are the tensor.
  bool isContiguous() const;
  /// From the first element to behind the last one, gaps included; empty for a tensor without elements.
  std::span<const std::byte> bytes() const;
  /// A row-major copy.
  std::vector<char> gather() const;
};

/// What a tensor's description says about its view of a storage.
struct PayloadView {
  int64_t scalarType = -1; ///< In c10 numbers, see Aten/ScalarTypes.h.
  llvm::ArrayRef<int64_t> sizes, strides;
  int64_t offset = 0; ///< In elements.
};

/// Locates the tensors of one import. Holds the budget of overlapping views and mended copies, so that it and the archive must live as
/// long as the payloads that it gives. Messages name neither the tensor nor the file: callers put "tensor `net.0.weight`" in front.
class PayloadReader {
public:
  explicit PayloadReader(const Archive &archive) : archive(archive) {}

  /// A tensor of a pickle; `folder` is the pickle's: "data" for data.pkl, "constants" for constants.pkl. Its storage is the record
  /// folder/key, which must have exactly the bytes that the pickle says.
  Result<TensorPayload> read(const PickledTensor &tensor, std::string_view folder);
  /// A tensor of a .pt2's directory of payloads; the record (path_name below `folder`) is the whole storage or a part of it that holds
  /// every element. An empty record with elements expected is an error.
  Result<TensorPayload> read(std::string_view folder, std::string_view pathName, const PayloadView &view);

private:
  Result<TensorPayload> view(std::span<const std::byte> storage, const PayloadView &view);
  std::span<const std::byte> mend(std::span<const std::byte> storage);

  const Archive &archive;
  uint64_t expandedBytes = 0;
  /// Storages of booleans with bytes other than 0 and 1, by their address in the archive.
  std::map<const std::byte *, std::shared_ptr<const std::vector<std::byte>>> mended;
};

/// The number of elements, or InvalidFile for a negative size or more than 2^48 of them.
Result<int64_t> elementCount(llvm::ArrayRef<int64_t> sizes);

/// The c10::ScalarType of a class like "FloatStorage"; nothing for other names. "UntypedStorage" is not among them.
std::optional<int64_t> scalarTypeOfStorage(std::string_view className);

} // namespace stator::torch

#endif // STATOR_COMPILER_IMPORT_TORCH_ARCHIVE_TENSORPAYLOAD_H
