// Generated kernels in memory: the shared object that an artifact holds for one CPU level, mapped and ready to call.
//
// The objects are self-contained (no dependencies, no undefined symbols, no initialisers, no thread-local data), so that loading one
// is: copy the segments, apply relative relocations, protect the pages, read the symbol table. Doing that here instead of by dlopen()
// needs no file, works where /proc or executable memfds are forbidden, takes tens of microseconds, and answers a damaged object with an
// error, where the system's loader crashes.
#ifndef STATOR_RUNTIME_LOADER_KERNELLIBRARY_H
#define STATOR_RUNTIME_LOADER_KERNELLIBRARY_H

#include "serialization/Base/KernelAbi.h"
#include "stator/Result.h"

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace stator::runtime {

/// Owns the mapping; functions found in it are valid as long as it lives. Immutable after load().
class KernelLibrary {
public:
  /// Copies the object into memory. InvalidFile for damage, Unsupported for an object that wants something of the list above.
  static Result<KernelLibrary> load(std::span<const std::byte> object);

  KernelLibrary() = default;
  ~KernelLibrary();
  KernelLibrary(KernelLibrary &&other) noexcept { *this = std::move(other); }
  KernelLibrary &operator=(KernelLibrary &&other) noexcept {
    std::swap(image, other.image);
    std::swap(imageBytes, other.imageBytes);
    std::swap(symbols, other.symbols);
    return *this;
  }

  /// The function of that name, or null.
  StatorKernelFunction find(std::string_view name) const;
  size_t symbolCount() const { return symbols.size(); }

private:
  friend class ElfImage;
  struct Symbol {
    std::string_view name; // In the image.
    std::byte *address;
  };

  std::byte *image = nullptr;
  size_t imageBytes = 0;
  std::vector<Symbol> symbols; // Sorted by name.
};

} // namespace stator::runtime

#endif // STATOR_RUNTIME_LOADER_KERNELLIBRARY_H
