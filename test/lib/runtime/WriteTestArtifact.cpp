// stator-test-artifact FILE [state]: writes the small artifact (y = x * w), or the one with state, where a command-line test wants it.
#include "test/lib/runtime/TestArtifact.h"

#include <filesystem>
#include <iostream>
#include <string_view>

int main(int argc, char **argv) {
  bool isState = argc == 3 && argv[2] == std::string_view("state");
  if (argc != 2 && !isState) {
    std::cerr << "usage: stator-test-artifact FILE [state]\n";
    return 2;
  }
  std::string path = (isState ? stator::test::stateArtifact() : stator::test::smallArtifact()).write();
  std::filesystem::copy_file(path, argv[1], std::filesystem::copy_options::overwrite_existing);
  return 0;
}
