// Buffered writing to a temporary file, then a rename; see the header.
#include "serialization/Base/OutputFile.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace stator;

static constexpr size_t kBufferBytes = size_t(1) << 20;

static Status writeFailure(const std::string &path, int error) {
  std::string message = "cannot write `" + path + "`: " + std::strerror(error);
  switch (error) {
  case ENOENT:
  case ENOTDIR:
    return notFound(std::move(message));
  case ENOSPC:
  case EDQUOT:
  case EFBIG:
    return resourceExhausted(std::move(message));
  default:
    return invalidArgument(std::move(message));
  }
}

namespace {
/// Writing beyond RLIMIT_FSIZE raises SIGXFSZ, whose default action kills the process; held back, write() returns EFBIG instead. The
/// signal is sent to the writing thread, so that it can be taken off again here.
class FileSizeSignalBlock {
public:
  FileSizeSignalBlock() {
    sigemptyset(&signals);
    sigaddset(&signals, SIGXFSZ);
    sigset_t pending;
    wasPending = sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
    pthread_sigmask(SIG_BLOCK, &signals, &previous);
  }
  ~FileSizeSignalBlock() {
    timespec noWait{};
    if (!wasPending)
      while (sigtimedwait(&signals, nullptr, &noWait) == SIGXFSZ) {
      }
    pthread_sigmask(SIG_SETMASK, &previous, nullptr);
  }

private:
  sigset_t signals;
  sigset_t previous;
  bool wasPending = false;
};
} // namespace

OutputFile::OutputFile(std::string target, std::string temporary, int descriptor)
    : target(std::move(target)), temporary(std::move(temporary)), descriptor(descriptor) {
  buffer.reserve(kBufferBytes);
}

Result<std::unique_ptr<OutputFile>> OutputFile::create(const std::string &path) {
  // A rename would replace a device or a link by a file: refuse the one, follow the other.
  std::string target = path;
  if (char resolved[PATH_MAX]; ::realpath(path.c_str(), resolved))
    target = resolved;
  struct stat info;
  if (::stat(target.c_str(), &info) == 0 && !S_ISREG(info.st_mode))
    return invalidArgument("cannot write `" + path + "`: it is not a regular file");

  static std::atomic<unsigned> counter{0};
  while (true) {
    std::string temporary = target + ".partial-" + std::to_string(::getpid()) + "-" + std::to_string(counter++);
    int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0)
      return std::unique_ptr<OutputFile>(new OutputFile(std::move(target), std::move(temporary), descriptor));
    if (errno != EEXIST)
      return writeFailure(path, errno);
  }
}

OutputFile::~OutputFile() {
  if (descriptor < 0)
    return;
  ::close(descriptor);
  ::unlink(temporary.c_str());
}

Status OutputFile::fail(int error) {
  if (firstFailure.ok())
    firstFailure = writeFailure(target, error);
  return firstFailure;
}

Status OutputFile::flush() {
  STATOR_RETURN_IF_ERROR(firstFailure);
  FileSizeSignalBlock block;
  for (size_t done = 0; done != buffer.size();) {
    ssize_t count = ::pwrite(descriptor, buffer.data() + done, buffer.size() - done, static_cast<off_t>(bufferStart + done));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return fail(errno);
    if (count == 0)
      return fail(ENOSPC);
    done += static_cast<size_t>(count);
  }
  bufferStart += buffer.size();
  buffer.clear();
  if (bufferStart > fileSize)
    fileSize = bufferStart;
  return Status();
}

Status OutputFile::write(std::span<const std::byte> bytes) {
  STATOR_RETURN_IF_ERROR(firstFailure);
  while (!bytes.empty()) {
    size_t count = std::min(bytes.size(), kBufferBytes - buffer.size());
    buffer.insert(buffer.end(), bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(count));
    bytes = bytes.subspan(count);
    if (buffer.size() == kBufferBytes)
      STATOR_RETURN_IF_ERROR(flush());
  }
  return Status();
}

Status OutputFile::seek(uint64_t position) {
  if (position == this->position())
    return firstFailure;
  STATOR_RETURN_IF_ERROR(flush());
  bufferStart = position;
  return Status();
}

Status OutputFile::commit() {
  if (descriptor < 0)
    return internalError("`" + target + "` has been written already");
  STATOR_RETURN_IF_ERROR(flush());
  int closed = ::close(descriptor);
  descriptor = -1;
  if (closed != 0 || ::rename(temporary.c_str(), target.c_str()) != 0) {
    int error = errno;
    ::unlink(temporary.c_str());
    return fail(error);
  }
  return Status();
}
