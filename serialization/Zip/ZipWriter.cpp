// Aligned, deterministic zip files through minizip; see the header.
#include "serialization/Zip/ZipWriter.h"

#include "serialization/Base/OutputFile.h"

#include <algorithm>
#include <minizip/zip.h>
#include <vector>
#include <zlib.h>

using namespace stator;
using namespace stator::serialization;

/// 1980-01-01 00:00, the earliest time that a zip can hold.
static constexpr uLong kFixedDosDate = 0x00210000;
static constexpr uint16_t kAlignmentFieldId = 0xd935;
static constexpr uint64_t kLocalHeaderBytes = 30;
static constexpr uint64_t kZip64FieldBytes = 20;

struct ZipWriter::Implementation {
  std::unique_ptr<OutputFile> output;
  zipFile zip = nullptr;
  std::string entryName;
  uint64_t expectedBytes = 0;
  uint64_t writtenBytes = 0;

  /// The file's own error if it has one, else minizip's.
  Status failure(const std::string &what) const { return output->status().ok() ? internalError(what) : output->status(); }
};

static voidpf openOutput(voidpf opaque, const void *, int) { return opaque; }
static uLong refuseRead(voidpf, voidpf, void *, uLong) { return 0; }
static uLong writeOutput(voidpf, voidpf stream, const void *buffer, uLong size) {
  return static_cast<OutputFile *>(stream)->write(buffer, size).ok() ? size : 0;
}
static ZPOS64_T tellOutput(voidpf, voidpf stream) { return static_cast<OutputFile *>(stream)->position(); }
static long seekOutput(voidpf, voidpf stream, ZPOS64_T offset, int origin) {
  OutputFile *output = static_cast<OutputFile *>(stream);
  uint64_t base = origin == ZLIB_FILEFUNC_SEEK_SET ? 0 : origin == ZLIB_FILEFUNC_SEEK_CUR ? output->position() : output->size();
  return output->seek(base + offset).ok() ? 0 : -1;
}
static int closeOutput(voidpf, voidpf) { return 0; }
static int outputError(voidpf, voidpf stream) { return static_cast<OutputFile *>(stream)->status().ok() ? 0 : 1; }

ZipWriter::ZipWriter(std::unique_ptr<Implementation> implementation) : implementation(std::move(implementation)) {}

ZipWriter::~ZipWriter() {
  // Only frees: without commit() the temporary file goes away.
  if (implementation->zip)
    zipClose(implementation->zip, nullptr);
}

Result<std::unique_ptr<ZipWriter>> ZipWriter::create(const std::string &path) {
  STATOR_TRY(output, OutputFile::create(path));
  auto implementation = std::make_unique<Implementation>();
  implementation->output = std::move(output);
  zlib_filefunc64_def functions{openOutput, refuseRead,  writeOutput, tellOutput,
                                seekOutput, closeOutput, outputError, implementation->output.get()};
  implementation->zip = zipOpen2_64("", APPEND_STATUS_CREATE, nullptr, &functions);
  if (!implementation->zip)
    return implementation->failure("cannot start a zip");
  return std::unique_ptr<ZipWriter>(new ZipWriter(std::move(implementation)));
}

/// The extra field that moves the data of an entry, whose local header starts at `position`, to a multiple of `alignment`.
static std::vector<uint8_t> alignmentField(uint64_t position, uint64_t headerBytes, unsigned alignment) {
  constexpr uint64_t kSmallest = 6;
  uint64_t unpadded = position + headerBytes + kSmallest;
  uint64_t size = kSmallest + (alignment - unpadded % alignment) % alignment;
  std::vector<uint8_t> field(size, 0);
  auto put = [&](size_t at, uint64_t value) {
    field[at] = static_cast<uint8_t>(value);
    field[at + 1] = static_cast<uint8_t>(value >> 8);
  };
  put(0, kAlignmentFieldId);
  put(2, size - 4);
  put(4, alignment);
  return field;
}

Status ZipWriter::beginEntry(const std::string &name, uint64_t size, unsigned alignment) {
  if (!implementation->zip || !implementation->entryName.empty())
    return internalError("zip entry `" + name + "` begins before the previous one ends");
  if (name.empty() || name.size() > 4096 || alignment == 0 || alignment > 4096 || (alignment & (alignment - 1)) != 0)
    return internalError("zip entry `" + name + "` has no usable name or alignment");
  zip_fileinfo info{};
  info.dosDate = kFixedDosDate;
  bool needsZip64 = size >= 0xffffffffu;
  uint64_t headerBytes = kLocalHeaderBytes + name.size() + (needsZip64 ? kZip64FieldBytes : 0);
  std::vector<uint8_t> extra = alignmentField(implementation->output->position(), headerBytes, alignment);
  if (zipOpenNewFileInZip4_64(implementation->zip, name.c_str(), &info, extra.data(), static_cast<uInt>(extra.size()), nullptr, 0, nullptr,
                              /*method=*/0, /*level=*/0, /*raw=*/0, -MAX_WBITS, DEF_MEM_LEVEL, Z_DEFAULT_STRATEGY, nullptr, 0,
                              /*versionMadeBy=*/0, /*flagBase=*/0, needsZip64) != ZIP_OK)
    return implementation->failure("cannot start zip entry `" + name + "`");
  implementation->entryName = name;
  implementation->expectedBytes = size;
  implementation->writtenBytes = 0;
  return Status();
}

Status ZipWriter::write(std::span<const std::byte> bytes) {
  implementation->writtenBytes += bytes.size();
  while (!bytes.empty()) {
    unsigned count = static_cast<unsigned>(std::min<size_t>(bytes.size(), size_t(1) << 30));
    if (zipWriteInFileInZip(implementation->zip, bytes.data(), count) != ZIP_OK)
      return implementation->failure("cannot write zip entry `" + implementation->entryName + "`");
    bytes = bytes.subspan(count);
  }
  return implementation->output->status();
}

Status ZipWriter::endEntry() {
  std::string name = std::move(implementation->entryName);
  implementation->entryName.clear();
  if (implementation->writtenBytes != implementation->expectedBytes)
    return internalError("zip entry `" + name + "` got " + std::to_string(implementation->writtenBytes) + " bytes, expected " +
                         std::to_string(implementation->expectedBytes));
  if (zipCloseFileInZip(implementation->zip) != ZIP_OK)
    return implementation->failure("cannot finish zip entry `" + name + "`");
  return implementation->output->status();
}

Status ZipWriter::addEntry(const std::string &name, std::span<const std::byte> bytes, unsigned alignment) {
  STATOR_RETURN_IF_ERROR(beginEntry(name, bytes.size(), alignment));
  STATOR_RETURN_IF_ERROR(write(bytes));
  return endEntry();
}

Status ZipWriter::addDeflatedEntry(const std::string &name, std::span<const std::byte> bytes) {
  zip_fileinfo info{};
  info.dosDate = kFixedDosDate;
  if (zipOpenNewFileInZip64(implementation->zip, name.c_str(), &info, nullptr, 0, nullptr, 0, nullptr, Z_DEFLATED, Z_DEFAULT_COMPRESSION,
                            bytes.size() >= 0xffffffffu) != ZIP_OK)
    return implementation->failure("cannot start zip entry `" + name + "`");
  implementation->entryName = name;
  implementation->expectedBytes = bytes.size();
  implementation->writtenBytes = 0;
  STATOR_RETURN_IF_ERROR(write(bytes));
  return endEntry();
}

Status ZipWriter::finish(const std::string &comment) {
  zipFile zip = implementation->zip;
  implementation->zip = nullptr;
  if (zipClose(zip, comment.c_str()) != ZIP_OK)
    return implementation->failure("cannot write the zip directory");
  return implementation->output->commit();
}
