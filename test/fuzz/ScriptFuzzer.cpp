// Source code of TorchScript through the lexer and parser. stator_fuzz_torch runs it, too.
#include "compiler/Import/Torch/Script/Parser.h"
#include "test/fuzz/TextMutator.h"

using namespace stator;
using namespace stator::torch::script;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  std::minstd_rand random(seed);
  if (random() % 4 == 0)
    return LLVMFuzzerMutate(data, size, maxSize);
  std::string text(reinterpret_cast<const char *>(data), size);
  for (unsigned count = 1 + random() % 3; count != 0; --count)
    fuzz::mutateText(text, random);
  size = std::min(text.size(), maxSize);
  std::copy_n(text.begin(), size, data);
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  SourceFile file;
  file.path = "code/__torch__.py";
  file.text.assign(reinterpret_cast<const char *>(data), size);
  Arena arena;
  ParsedFile parsed;
  (void)parseFile(file, "__torch__", arena, parsed).ok();
  Expr *expression = nullptr;
  (void)parseExpression(file, arena, expression).ok();
  return 0;
}
