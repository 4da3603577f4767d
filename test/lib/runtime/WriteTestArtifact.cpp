// stator-test-artifact FILE: writes the small artifact (y = x * w) where a command-line test wants it.
#include "test/lib/runtime/TestArtifact.h"

#include <filesystem>
#include <iostream>

int main(int argc, char **argv) {
  if (argc != 2) {
    std::cerr << "usage: stator-test-artifact FILE\n";
    return 2;
  }
  std::string path = stator::test::smallArtifact().write();
  std::filesystem::copy_file(path, argv[1], std::filesystem::copy_options::overwrite_existing);
  return 0;
}
