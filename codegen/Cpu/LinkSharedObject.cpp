//===- LinkSharedObject.cpp - in-process lld -------------------------------===//
//
// lld takes its input from any path, also an anonymous file, but wants a
// regular path for the output; both are temporary files here and are removed
// on every way out.
//
//===----------------------------------------------------------------------===//

#include "codegen/Cpu/LinkSharedObject.h"

#include "lld/Common/Driver.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>

LLD_HAS_DRIVER(elf)

namespace stator::codegen {

static llvm::Error writeBytes(llvm::StringRef path, llvm::ArrayRef<char> bytes) {
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error, llvm::sys::fs::OF_None);
  if (error)
    return llvm::createStringError(error, "cannot write `%s`: %s", path.str().c_str(), error.message().c_str());
  stream.write(bytes.data(), bytes.size());
  stream.close();
  if (stream.has_error()) {
    std::error_code failure = stream.error();
    stream.clear_error();
    return llvm::createStringError(failure, "cannot write `%s`: %s", path.str().c_str(), failure.message().c_str());
  }
  return llvm::Error::success();
}

llvm::Expected<std::vector<char>> linkSharedObject(llvm::ArrayRef<char> object) {
  static std::mutex lldMutex;
  std::lock_guard<std::mutex> lock(lldMutex);

  llvm::SmallString<128> input, output;
  if (std::error_code error = llvm::sys::fs::createTemporaryFile("stator-kernels", "o", input))
    return llvm::createStringError(error, "cannot make a temporary file: %s", error.message().c_str());
  llvm::FileRemover removeInput(input);
  if (std::error_code error = llvm::sys::fs::createTemporaryFile("stator-kernels", "so", output))
    return llvm::createStringError(error, "cannot make a temporary file: %s", error.message().c_str());
  llvm::FileRemover removeOutput(output);
  if (llvm::Error error = writeBytes(input, object))
    return std::move(error);

  // The object's path must not reach the output, or equal inputs would give different bytes: -s drops the symbol table
  // with its file names, and there is no build id.
  const char *arguments[] = {"ld.lld",      "-shared",      input.c_str(),       "-o", output.c_str(),
                             "--gc-sections", "-s",         "--hash-style=gnu",  "-z", "now",
                             "-z",          "defs",         "--build-id=none",   "-z", "noseparate-code",
                             "--threads=1"};
  std::string messages;
  llvm::raw_string_ostream errors(messages);
  lld::DriverDef drivers[] = {{lld::Gnu, &lld::elf::link}};
  lld::Result result = lld::lldMain(arguments, errors, errors, drivers);
  if (result.retCode != 0 || !result.canRunAgain)
    return llvm::createStringError("linking the kernels failed: %s", messages.c_str());

  auto buffer = llvm::MemoryBuffer::getFile(output, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return llvm::createStringError(buffer.getError(), "cannot read the linked kernels: %s",
                                   buffer.getError().message().c_str());
  return std::vector<char>((*buffer)->getBufferStart(), (*buffer)->getBufferEnd());
}

} // namespace stator::codegen
