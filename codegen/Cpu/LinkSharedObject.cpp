//===- LinkSharedObject.cpp - in-process lld -------------------------------===//
//
// lld reads and writes files only. A model has hundreds of kernels, so all
// objects travel in one archive; it and the output are temporary files that are
// removed on every way out.
//
//===----------------------------------------------------------------------===//

#include "codegen/Cpu/LinkSharedObject.h"

#include "lld/Common/Driver.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>

LLD_HAS_DRIVER(elf)

namespace stator::codegen {

static llvm::Error writeBytes(llvm::StringRef path, llvm::StringRef bytes) {
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error, llvm::sys::fs::OF_None);
  if (error)
    return llvm::createStringError(error, "cannot write `%s`: %s", path.str().c_str(), error.message().c_str());
  stream << bytes;
  stream.close();
  if (stream.has_error()) {
    std::error_code failure = stream.error();
    stream.clear_error();
    return llvm::createStringError(failure, "cannot write `%s`: %s", path.str().c_str(), failure.message().c_str());
  }
  return llvm::Error::success();
}

/// The objects as one archive, without a table of symbols: all of it gets linked.
static llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> archiveOf(llvm::ArrayRef<llvm::ArrayRef<char>> objects) {
  std::vector<std::string> names;
  for (size_t i = 0; i < objects.size(); ++i)
    names.push_back(std::to_string(i) + ".o");
  std::vector<llvm::NewArchiveMember> members;
  for (auto [object, name] : llvm::zip(objects, names))
    members.emplace_back(llvm::MemoryBufferRef(llvm::StringRef(object.data(), object.size()), name));
  return llvm::writeArchiveToBuffer(members, llvm::SymtabWritingMode::NoSymtab, llvm::object::Archive::K_GNU, /*Deterministic=*/true,
                                    /*Thin=*/false);
}

llvm::Expected<std::vector<char>> linkSharedObject(llvm::ArrayRef<llvm::ArrayRef<char>> objects) {
  static std::mutex lldMutex;
  std::lock_guard<std::mutex> lock(lldMutex);

  llvm::SmallString<128> input, output;
  if (std::error_code error = llvm::sys::fs::createTemporaryFile("stator-kernels", "a", input))
    return llvm::createStringError(error, "cannot make a temporary file: %s", error.message().c_str());
  llvm::FileRemover removeInput(input);
  if (std::error_code error = llvm::sys::fs::createTemporaryFile("stator-kernels", "so", output))
    return llvm::createStringError(error, "cannot make a temporary file: %s", error.message().c_str());
  llvm::FileRemover removeOutput(output);
  auto archive = archiveOf(objects);
  if (!archive)
    return archive.takeError();
  if (llvm::Error error = writeBytes(input, (*archive)->getBuffer()))
    return std::move(error);

  // The archive's path must not reach the output, or equal inputs would give different bytes: -s drops the symbol table
  // with its file names, and there is no build id.
  const char *arguments[] = {"ld.lld",
                             "-shared",
                             "--whole-archive",
                             input.c_str(),
                             "-o",
                             output.c_str(),
                             "--gc-sections",
                             "-s",
                             "--hash-style=gnu",
                             "-z",
                             "now",
                             "-z",
                             "defs",
                             "--build-id=none",
                             "-z",
                             "noseparate-code",
                             "--threads=1"};
  std::string messages;
  llvm::raw_string_ostream errors(messages);
  lld::DriverDef drivers[] = {{lld::Gnu, &lld::elf::link}};
  lld::Result result = lld::lldMain(arguments, errors, errors, drivers);
  if (result.retCode != 0 || !result.canRunAgain)
    return llvm::createStringError("linking the kernels failed: %s", messages.c_str());

  auto buffer = llvm::MemoryBuffer::getFile(output, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return llvm::createStringError(buffer.getError(), "cannot read the linked kernels: %s", buffer.getError().message().c_str());
  return std::vector<char>((*buffer)->getBufferStart(), (*buffer)->getBufferEnd());
}

} // namespace stator::codegen
