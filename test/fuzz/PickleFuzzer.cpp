// Bare pickles through the reader of pickles.
#include "compiler/Import/Torch/Archive/Pickle.h"

#include <cstdlib>

using namespace stator;
using namespace stator::torch;

/// The tree is bounded, so that a plain recursion over it ends and fits on the stack.
static size_t countOf(const PickleValue &value, size_t depth) {
  if (depth > 256)
    std::abort();
  size_t count = 1 + value.text().size() % 2;
  for (const PickleValue *element : value.elements())
    count += countOf(*element, depth + 1);
  for (auto [key, element] : value.entries())
    count += countOf(*key, depth + 1) + countOf(*element, depth + 1);
  if (value.content())
    count += countOf(*value.content(), depth + 1);
  return count;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Result<PickleTree> tree = unpickle({reinterpret_cast<const std::byte *>(data), size}, "data.pkl");
  if (tree.ok() && countOf(tree->root(), 1) == 0)
    std::abort();
  return 0;
}
