// Mutations of zips of records. Changed bytes anywhere end at the first checksum, and changed letters in source code at the parser, so that
// most mutations here take one record out, change it by its kind and write the zip anew; the rest changes bytes of the file.
#ifndef STATOR_TEST_FUZZ_ZIPMUTATOR_H
#define STATOR_TEST_FUZZ_ZIPMUTATOR_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace stator::fuzz {

/// A zip of stored records, as small as can be.
class StoredZip {
public:
  void add(const std::string &name, const std::string &content);
  std::string finish() const;

private:
  std::string bytes, directory;
  size_t count = 0;
};

/// Gives each stored entry of the zip, wherever its directory says it is, the CRC-32 of its bytes. Damaged zips are left as they are.
void repairChecksums(uint8_t *data, size_t size);

} // namespace stator::fuzz

#endif // STATOR_TEST_FUZZ_ZIPMUTATOR_H
