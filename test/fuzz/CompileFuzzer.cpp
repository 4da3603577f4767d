// Whole .pt and .pt2 files through the compiler, up to the plan: what an importer lets through must not harm those behind it.
#include "stator/Compiler.h"
#include "test/fuzz/MemoryFile.h"
#include "test/fuzz/SeedOptions.h"

#include <cstdio>

using namespace stator;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz::MemoryFile file(data, size);
  Result<std::shared_ptr<torch::Archive>> archive = torch::Archive::open(file.path());
  if (!archive.ok())
    return 0;
  compiler::CompileOptions options;
  for (const auto &[key, value] : fuzz::seedOptions(**archive)) {
    if (key == "input")
      options.inputs.push_back(value);
    if (key == "const")
      options.constants.push_back(value);
    if (key == "method")
      options.methods.push_back(value);
  }
  options.stopAfter = "plan";
  options.verifyEach = false;
  Status status = compiler::compile(file.path(), options).status();
  if (std::getenv("STATOR_FUZZ_SHOW"))
    std::fprintf(stderr, "  %s\n", status.ok() ? "ok" : status.message().c_str());
  if (status.code() == StatusCode::Internal)
    std::abort();
  return 0;
}
