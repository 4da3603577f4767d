// Reading the ELF object. Every offset and address is checked before it is followed: the object comes out of a file.
#include "runtime/Loader/KernelLibrary.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace stator::runtime {

// Far above any real kernel library; keeps a damaged header from asking for all memory.
static constexpr uint64_t kMaxImageBytes = uint64_t(1) << 30;

static Status damaged(const std::string &what) { return invalidFile("the kernel library is damaged: " + what); }
static Status unwanted(const std::string &what) {
  return unsupported("the kernel library is not self-contained: it has " + what + ", which the runtime does not provide");
}

#if defined(__x86_64__)
static constexpr uint16_t kMachine = EM_X86_64;
static constexpr uint32_t kRelative = R_X86_64_RELATIVE, kAbsolute = R_X86_64_64, kGlobalData = R_X86_64_GLOB_DAT;
#elif defined(__aarch64__)
static constexpr uint16_t kMachine = EM_AARCH64;
static constexpr uint32_t kRelative = R_AARCH64_RELATIVE, kAbsolute = R_AARCH64_ABS64, kGlobalData = R_AARCH64_GLOB_DAT;
#endif

/// The steps of loading, in order; `library` receives the result and cleans up after a failure.
class ElfImage {
public:
  ElfImage(std::span<const std::byte> object, KernelLibrary &library) : object(object), library(library) {}

  Status load() {
    STATOR_RETURN_IF_ERROR(readHeaders());
    STATOR_RETURN_IF_ERROR(copySegments());
    STATOR_RETURN_IF_ERROR(readDynamicSection());
    STATOR_RETURN_IF_ERROR(relocate());
    STATOR_RETURN_IF_ERROR(readSymbols());
    return protect();
  }

private:
  // `count` objects of type T at `address` of the image, or null when they are not all inside of it.
  template <typename T>
  T *at(uint64_t address, uint64_t count = 1) const {
    if (address > imageBytes || count > (imageBytes - address) / sizeof(T) || address % alignof(T))
      return nullptr;
    return reinterpret_cast<T *>(library.image + address);
  }

  Status readHeaders() {
    Elf64_Ehdr header;
    if (object.size() < sizeof(header))
      return damaged("it ends within its header");
    std::memcpy(&header, object.data(), sizeof(header));
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
        header.e_type != ET_DYN)
      return damaged("it is not a 64-bit ELF shared object");
    if (header.e_machine != kMachine)
      return unsupported("the kernel library is for ELF machine " + std::to_string(header.e_machine) + ", this one is " +
                         std::to_string(kMachine));
    if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum == 0 || header.e_phnum > 64 || header.e_phoff > object.size() ||
        header.e_phnum * sizeof(Elf64_Phdr) > object.size() - header.e_phoff)
      return damaged("its program headers lie outside of it");
    segments.resize(header.e_phnum);
    std::memcpy(segments.data(), object.data() + header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr));
    for (const Elf64_Phdr &segment : segments) {
      if (segment.p_type == PT_TLS)
        return unwanted("thread-local data");
      if (segment.p_type == PT_INTERP)
        return unwanted("an interpreter");
      if (segment.p_type != PT_LOAD)
        continue;
      if (segment.p_filesz > segment.p_memsz || segment.p_offset > object.size() || segment.p_filesz > object.size() - segment.p_offset)
        return damaged("a segment lies outside of it");
      if (segment.p_vaddr > kMaxImageBytes || segment.p_memsz > kMaxImageBytes - segment.p_vaddr)
        return damaged("a segment is larger than 1 GB");
      imageBytes = std::max(imageBytes, segment.p_vaddr + segment.p_memsz);
    }
    return imageBytes ? okStatus() : damaged("it has no loadable segment");
  }

  Status copySegments() {
    size_t pageBytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    imageBytes = (imageBytes + pageBytes - 1) / pageBytes * pageBytes;
    void *memory = mmap(nullptr, imageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      return resourceExhausted("no memory for " + std::to_string(imageBytes) + " bytes of kernels");
    library.image = static_cast<std::byte *>(memory);
    library.imageBytes = imageBytes;
    for (const Elf64_Phdr &segment : segments)
      if (segment.p_type == PT_LOAD)
        std::memcpy(library.image + segment.p_vaddr, object.data() + segment.p_offset, segment.p_filesz);
    return okStatus();
  }

  Status readDynamicSection() {
    for (const Elf64_Phdr &segment : segments) {
      if (segment.p_type != PT_DYNAMIC)
        continue;
      uint64_t count = segment.p_memsz / sizeof(Elf64_Dyn);
      const auto *entries = at<Elf64_Dyn>(segment.p_vaddr, count);
      if (!entries)
        return damaged("its dynamic section lies outside of it");
      for (uint64_t i = 0; i < count && entries[i].d_tag != DT_NULL; ++i)
        STATOR_RETURN_IF_ERROR(readDynamicEntry(entries[i]));
    }
    return okStatus();
  }

  Status readDynamicEntry(const Elf64_Dyn &entry) {
    switch (entry.d_tag) {
    case DT_SYMTAB:
      symbolTable = entry.d_un.d_ptr;
      return okStatus();
    case DT_STRTAB:
      stringTable = entry.d_un.d_ptr;
      return okStatus();
    case DT_STRSZ:
      stringBytes = entry.d_un.d_val;
      return okStatus();
    case DT_GNU_HASH:
      hashTable = entry.d_un.d_ptr;
      return okStatus();
    case DT_RELA:
      relocations = entry.d_un.d_ptr;
      return okStatus();
    case DT_RELASZ:
      relocationBytes = entry.d_un.d_val;
      return okStatus();
    case DT_NEEDED:
      return unwanted("dependencies");
    case DT_PLTRELSZ:
      return entry.d_un.d_val ? unwanted("calls of external functions") : okStatus();
    case DT_REL:
    case DT_RELR:
    case DT_TEXTREL:
      return unwanted("relocations of an unknown kind");
    case DT_INIT:
    case DT_INIT_ARRAY:
    case DT_FINI:
    case DT_FINI_ARRAY:
      return unwanted("initialisers");
    default:
      return okStatus();
    }
  }

  // The number of dynamic symbols is stated nowhere but in the hash table: the last chain's end.
  Result<uint64_t> countSymbols() const {
    if (!hashTable)
      return uint64_t(0);
    const auto *header = at<uint32_t>(hashTable, 4); // Buckets, index of the first hashed symbol, Bloom words, Bloom shift.
    if (!header)
      return damaged("its symbol hash table lies outside of it");
    uint64_t buckets = header[0], first = header[1], bloomWords = header[2];
    uint64_t bucketTable = hashTable + 16 + bloomWords * 8;
    const auto *bucket = at<uint32_t>(bucketTable, buckets);
    if (!bucket)
      return damaged("its symbol hash table lies outside of it");
    uint64_t last = 0;
    for (uint64_t i = 0; i < buckets; ++i)
      last = std::max<uint64_t>(last, bucket[i]);
    if (last < first)
      return last ? Result<uint64_t>(damaged("its symbol hash table is inconsistent")) : Result<uint64_t>(first);
    uint64_t chains = bucketTable + buckets * 4;
    for (;; ++last) {
      const auto *chain = at<uint32_t>(chains + (last - first) * 4);
      if (!chain)
        return damaged("its symbol hash table has no end");
      if (*chain & 1)
        return last + 1;
    }
  }

  const char *stringAt(uint64_t offset) const {
    const char *strings = at<char>(stringTable, stringBytes);
    if (!strings || offset >= stringBytes || !std::memchr(strings + offset, 0, stringBytes - offset))
      return nullptr;
    return strings + offset;
  }

  Status relocate() {
    uint64_t count = relocationBytes / sizeof(Elf64_Rela);
    const auto *entries = at<Elf64_Rela>(relocations, count);
    if (!entries)
      return damaged("its relocations lie outside of it");
    for (uint64_t i = 0; i < count; ++i) {
      auto *place = at<uint64_t>(entries[i].r_offset);
      if (!place)
        return damaged("a relocation points outside of it");
      uint32_t type = ELF64_R_TYPE(entries[i].r_info);
      auto base = reinterpret_cast<uint64_t>(library.image);
      if (type == kRelative) {
        *place = base + static_cast<uint64_t>(entries[i].r_addend);
        continue;
      }
      const auto *symbol = at<Elf64_Sym>(symbolTable + ELF64_R_SYM(entries[i].r_info) * sizeof(Elf64_Sym));
      const char *name = symbol ? stringAt(symbol->st_name) : nullptr;
      if (!name)
        return damaged("a relocation names no symbol");
      if ((type != kAbsolute && type != kGlobalData) || symbol->st_shndx == SHN_UNDEF)
        return unwanted("a reference to `" + std::string(name) + "`");
      *place = base + symbol->st_value + static_cast<uint64_t>(entries[i].r_addend);
    }
    return okStatus();
  }

  bool isCode(uint64_t address) const {
    for (const Elf64_Phdr &segment : segments)
      if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) && address >= segment.p_vaddr &&
          address - segment.p_vaddr < segment.p_memsz)
        return true;
    return false;
  }

  Status readSymbols() {
    STATOR_TRY(count, countSymbols());
    const auto *table = at<Elf64_Sym>(symbolTable, count);
    if (!table)
      return damaged("its symbol table lies outside of it");
    for (uint64_t i = 0; i < count; ++i) {
      if (table[i].st_shndx == SHN_UNDEF || ELF64_ST_TYPE(table[i].st_info) != STT_FUNC)
        continue;
      const char *name = stringAt(table[i].st_name);
      if (!name || !isCode(table[i].st_value))
        return damaged("a symbol lies outside of it");
      library.symbols.push_back({name, library.image + table[i].st_value});
    }
    std::sort(library.symbols.begin(), library.symbols.end(), [](const auto &a, const auto &b) { return a.name < b.name; });
    return okStatus();
  }

  // From here on nothing but data segments can be written, and nothing but code can be executed.
  Status protect() {
    uint64_t pageBytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    std::vector<uint8_t> flags(imageBytes / pageBytes, 0);
    for (const Elf64_Phdr &segment : segments)
      if (segment.p_type == PT_LOAD && segment.p_memsz)
        for (uint64_t page = segment.p_vaddr / pageBytes; page <= (segment.p_vaddr + segment.p_memsz - 1) / pageBytes; ++page)
          flags[page] |= segment.p_flags;
    for (size_t begin = 0, end; begin < flags.size(); begin = end) {
      for (end = begin; end < flags.size() && flags[end] == flags[begin]; ++end)
        ;
      if ((flags[begin] & PF_W) && (flags[begin] & PF_X))
        return unsupported("the kernel library has pages that are both code and data");
      int protection = PROT_READ | (flags[begin] & PF_W ? PROT_WRITE : 0) | (flags[begin] & PF_X ? PROT_EXEC : 0);
      if (mprotect(library.image + begin * pageBytes, (end - begin) * pageBytes, protection))
        return unsupported("the system does not allow memory to become executable");
    }
    __builtin___clear_cache(reinterpret_cast<char *>(library.image), reinterpret_cast<char *>(library.image) + imageBytes);
    return okStatus();
  }

  std::span<const std::byte> object;
  KernelLibrary &library;
  uint64_t imageBytes = 0;
  std::vector<Elf64_Phdr> segments;
  uint64_t symbolTable = 0, stringTable = 0, stringBytes = 0, hashTable = 0, relocations = 0, relocationBytes = 0;
};

Result<KernelLibrary> KernelLibrary::load(std::span<const std::byte> object) {
  KernelLibrary library;
  STATOR_RETURN_IF_ERROR(ElfImage(object, library).load());
  return library;
}

KernelLibrary::~KernelLibrary() {
  if (image)
    munmap(image, imageBytes);
}

StatorKernelFunction KernelLibrary::find(std::string_view name) const {
  auto found = std::lower_bound(symbols.begin(), symbols.end(), name, [](const Symbol &a, std::string_view b) { return a.name < b; });
  if (found == symbols.end() || found->name != name)
    return nullptr;
  return reinterpret_cast<StatorKernelFunction>(found->address);
}

} // namespace stator::runtime
