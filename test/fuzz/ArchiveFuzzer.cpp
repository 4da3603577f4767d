// Whole .pt and .pt2 files through everything below the front-ends: zip, records, pickles, tensors, nested archives.
#include "compiler/Import/Torch/Archive/Archive.h"
#include "compiler/Import/Torch/Archive/Pickle.h"
#include "compiler/Import/Torch/Archive/TensorPayload.h"

#include <cstdlib>

using namespace stator;
using namespace stator::torch;

/// All tensors of a tree, each node once for each path to it; the reader bounds how many that are.
static void readTensors(PayloadReader &reader, const PickleValue &value, std::string_view folder) {
  if (const PickledTensor *tensor = value.tensor()) {
    Result<TensorPayload> payload = reader.read(*tensor, folder);
    // Gathering touches every byte that the checks let through.
    if (payload.ok() && payload->elements < 100000 &&
        payload->gather().size() != static_cast<size_t>(payload->elements) * byteSize(payload->type))
      std::abort();
  }
  for (const PickleValue *element : value.elements())
    readTensors(reader, *element, folder);
  for (auto [key, element] : value.entries())
    readTensors(reader, *element, folder);
  if (value.content())
    readTensors(reader, *value.content(), folder);
}

static void readArchive(const Archive &archive) {
  PayloadReader reader(archive);
  for (const Record &record : archive.records()) {
    Result<std::span<const std::byte>> bytes = archive.bytes(record);
    if (bytes.ok() && bytes->size() != record.size)
      std::abort();
    if (record.name.ends_with(".pt"))
      if (Result<std::shared_ptr<Archive>> nested = archive.openNested(record); nested.ok())
        readArchive(**nested);
  }
  for (auto [record, folder] : {std::pair("data.pkl", "data"), std::pair("constants.pkl", "constants")})
    if (archive.find(record))
      if (Result<PickleTree> tree = unpickle(archive, record); tree.ok())
        readTensors(reader, tree->root(), folder);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const auto *bytes = reinterpret_cast<const std::byte *>(data);
  Result<std::shared_ptr<Archive>> archive = Archive::fromBytes(std::make_shared<const std::vector<std::byte>>(bytes, bytes + size));
  if (archive.ok())
    readArchive(**archive);
  return 0;
}
