//===- ParameterSideFile.cpp - writing and resuming from the side file -----===//
//
// The file may come from anywhere: bounds are checked before anything refers
// into it.
//
//===----------------------------------------------------------------------===//

#include "compiler/ParameterSideFile.h"

#include "dialects/Graph/GraphOps.h"
#include "serialization/Base/MappedFile.h"
#include "serialization/Base/OutputFile.h"

#include "llvm/Support/Endian.h"

#include <cstring>

using namespace mlir;
using namespace stator;
using namespace stator::compiler;

static constexpr char kMagic[8] = {'S', 'T', 'A', 'T', 'P', 'A', 'R', '1'};
static constexpr uint64_t kAlignment = 64;

static Status writeNumber(OutputFile &file, uint64_t value) {
  llvm::support::ulittle64_t bytes(value);
  return file.write(&bytes, sizeof(bytes));
}

Status compiler::writeParameterSideFile(const graph::ParameterStore &store, const std::string &path) {
  STATOR_TRY(file, OutputFile::create(path));
  uint64_t count = store.count();
  STATOR_RETURN_IF_ERROR(file->write(kMagic, sizeof(kMagic)));
  STATOR_RETURN_IF_ERROR(writeNumber(*file, count));
  uint64_t offset = sizeof(kMagic) + 8 + 16 * count;
  for (uint64_t i = 0; i < count; ++i) {
    offset = (offset + kAlignment - 1) / kAlignment * kAlignment;
    STATOR_RETURN_IF_ERROR(writeNumber(*file, offset));
    STATOR_RETURN_IF_ERROR(writeNumber(*file, store.bytes(i).size()));
    offset += store.bytes(i).size();
  }
  const std::byte padding[kAlignment] = {};
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t behind = file->position() % kAlignment;
    if (behind)
      STATOR_RETURN_IF_ERROR(file->write(padding, kAlignment - behind));
    STATOR_RETURN_IF_ERROR(file->write(store.bytes(i)));
  }
  return file->commit();
}

Status compiler::readParameterSideFile(ModuleOp module, const std::string &path) {
  STATOR_TRY(file, MappedFile::open(path));
  std::span<const std::byte> bytes = file->bytes();
  auto damaged = [&](const std::string &why) { return invalidFile("`" + path + "`: " + why); };
  auto numberAt = [&](uint64_t position) -> uint64_t { return llvm::support::endian::read64le(bytes.data() + position); };
  if (bytes.size() < 16 || std::memcmp(bytes.data(), kMagic, sizeof(kMagic)) != 0)
    return damaged("this is not a file of parameters");
  uint64_t count = numberAt(8);
  if (count > (bytes.size() - 16) / 16)
    return damaged("it ends within its table");
  int source = graph::parametersOf(module.getContext()).addMapped(file, path);
  for (auto parameter : module.getOps<graph::ParameterOp>()) {
    std::optional<uint32_t> old = parameter.getSource();
    if (!old)
      continue;
    if (*old >= count)
      return damaged("parameter `" + parameter.getSymName().str() + "` wants source " + std::to_string(*old) + " of " + std::to_string(count));
    uint64_t offset = numberAt(16 + 16 * *old), size = numberAt(24 + 16 * *old);
    if (offset > bytes.size() || size > bytes.size() - offset)
      return damaged("source " + std::to_string(*old) + " lies outside of the file");
    Builder builder(module.getContext());
    parameter.setSourceAttr(builder.getI32IntegerAttr(source));
    parameter.setOffsetAttr(builder.getI64IntegerAttr(parameter.getOffset().value_or(0) + static_cast<int64_t>(offset)));
  }
  return okStatus();
}
