//===- CompilerIdentity.cpp - the build id of the binary with this code ----===//
//
// A version number does not tell builds from a working tree apart. The linker's
// build id, a hash of all that was linked, does; where binaries are linked
// without one, their content is hashed instead, which takes milliseconds. LLVM
// is a shared library with a version of its own.
//
//===----------------------------------------------------------------------===//

#include "codegen/Cache/CompilerIdentity.h"

#include "serialization/Artifact/Hash.h"
#include "serialization/Base/MappedFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"

#include <cstring>
#include <elf.h>
#include <link.h>

namespace stator::codegen {

namespace {
struct Search {
  uintptr_t address;
  std::string buildId;
  std::string path;
};
} // namespace

/// Walks the notes of a segment; each is a header, a name and a description, padded to four bytes.
static std::string buildIdIn(const char *notes, size_t size) {
  auto padded = [](size_t bytes) { return (bytes + 3) / 4 * 4; };
  while (size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes, sizeof(note));
    size_t total = sizeof(note) + padded(note.n_namesz) + padded(note.n_descsz);
    if (total > size)
      break;
    const char *name = notes + sizeof(note);
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && !std::memcmp(name, "GNU", 4))
      return llvm::toHex(llvm::StringRef(name + 4, note.n_descsz), /*LowerCase=*/true);
    notes += total;
    size -= total;
  }
  return "";
}

static int visit(dl_phdr_info *object, size_t, void *data) {
  auto &search = *static_cast<Search *>(data);
  bool isOurs = false;
  for (unsigned i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = object->dlpi_phdr[i];
    uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
    isOurs |= segment.p_type == PT_LOAD && search.address >= begin && search.address < begin + segment.p_memsz;
  }
  if (!isOurs)
    return 0;
  for (unsigned i = 0; i < object->dlpi_phnum && search.buildId.empty(); ++i)
    if (const ElfW(Phdr) &segment = object->dlpi_phdr[i]; segment.p_type == PT_NOTE)
      search.buildId = buildIdIn(reinterpret_cast<const char *>(object->dlpi_addr + segment.p_vaddr), segment.p_memsz);
  search.path = object->dlpi_name && *object->dlpi_name ? object->dlpi_name : "/proc/self/exe";
  return 1;
}

static std::string findIdentity() {
  Search search;
  search.address = reinterpret_cast<uintptr_t>(&compilerIdentity);
  dl_iterate_phdr(visit, &search);
  std::string id = search.buildId;
  if (id.empty()) {
    auto binary = MappedFile::open(search.path);
    if (!binary.ok())
      return "";
    id = serialization::hexOf(serialization::hashOf((*binary)->bytes()));
  }
  return id + " LLVM " LLVM_VERSION_STRING;
}

const std::string &compilerIdentity() {
  static const std::string identity = findIdentity();
  return identity;
}

} // namespace stator::codegen
