// Most changes of a zip end at the first checksum. To let some through, a fuzzer of zips corrects the checksums afterwards.
#ifndef STATOR_TEST_FUZZ_ZIPREPAIR_H
#define STATOR_TEST_FUZZ_ZIPREPAIR_H

#include <cstddef>
#include <cstdint>

namespace stator::fuzz {

/// Gives each stored entry of the zip, wherever its directory says it is, the CRC-32 of its bytes. Damaged zips are left as they are.
void repairChecksums(uint8_t *data, size_t size);

/// Replaces bytes of one entry by a mutation of the same size, so that offsets stay right. False when there is no entry.
bool mutateOneEntry(uint8_t *data, size_t size, unsigned seed);

} // namespace stator::fuzz

#endif // STATOR_TEST_FUZZ_ZIPREPAIR_H
