// Recognises hand-written digits with a compiled model: loads digits.stator, shows ten images beside what the model says, then counts how
// many of the 360 test images it gets right. It needs libstator and two .npy files; no compiler, no Python.
//
//   digits digits.stator test_images.npy test_labels.npy
#include "stator/Runtime.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

constexpr int side = 8;                 // The images are 8 x 8 pixels,
constexpr float brightest = 16.0f;      // each from 0 to 16; the model was trained on pixel / 16.
constexpr int shown = 10, perLine = 4;  // What fits in 80 columns.

/// The bytes of a .npy file of unsigned 8-bit numbers: its header ends with a line break, the data follow.
std::vector<uint8_t> readBytes(const char *path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<uint8_t> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::string type = "'|u1'";
  auto header = std::search(bytes.begin(), bytes.end(), type.begin(), type.end());
  auto end = std::find(header, bytes.end(), '\n');
  if (end == bytes.end()) {
    std::fprintf(stderr, "%s: not a .npy file of 8-bit numbers\n", path);
    std::exit(1);
  }
  return std::vector<uint8_t>(end + 1, bytes.end());
}

/// Prints images side by side as characters, each with the digit that was recognised.
void print(const std::vector<uint8_t> &pixels, const std::vector<int> &digits, int first, int count) {
  const char shades[] = " .:-=+*#%@";
  for (int row = 0; row < side; ++row) {
    std::string line;
    for (int image = first; image < first + count; ++image) {
      for (int column = 0; column < side; ++column)
        line += std::string(2, shades[pixels[(image * side + row) * side + column] * 9 / 16]);
      line += row == side / 2 ? " " + std::to_string(digits[image]) + "  " : "    ";
    }
    std::printf("%s\n", line.c_str());
  }
  std::printf("\n");
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: digits ARTIFACT IMAGES.npy LABELS.npy\n");
    return 2;
  }
  std::vector<uint8_t> pixels = readBytes(argv[2]);
  std::vector<uint8_t> labels = readBytes(argv[3]);
  const int64_t count = static_cast<int64_t>(labels.size());
  if (count < shown || pixels.size() != labels.size() * side * side) {
    std::fprintf(stderr, "%s and %s do not belong together\n", argv[2], argv[3]);
    return 1;
  }

  stator::Result<stator::Module> module = stator::Module::load(argv[1]);
  if (!module.ok()) {
    std::fprintf(stderr, "%s\n", module.status().message().c_str());
    return 1;
  }
  std::printf("%s: %ju bytes, running its %s kernels\n\n", argv[1], static_cast<uintmax_t>(std::filesystem::file_size(argv[1])),
              module->cpuLevel().c_str());

  // The batch size is a symbol of the model: all images go in at once.
  stator::Tensor images(stator::ElementType::F32, {count, 1, side, side});
  std::transform(pixels.begin(), pixels.end(), images.data<float>(), [](uint8_t pixel) { return pixel / brightest; });

  auto session = module->session().value();
  auto outputs = session.run("forward", {images});
  if (!outputs.ok()) {
    std::fprintf(stderr, "%s\n", outputs.status().message().c_str());
    return 1;
  }

  // One row of ten scores per image; the largest is the digit.
  const float *scores = (*outputs)[0].data<float>();
  std::vector<int> digits;
  int64_t correct = 0;
  for (int64_t i = 0; i < count; ++i, scores += 10) {
    digits.push_back(static_cast<int>(std::max_element(scores, scores + 10) - scores));
    correct += digits.back() == labels[i];
  }
  for (int first = 0; first < shown; first += perLine)
    print(pixels, digits, first, std::min(perLine, shown - first));
  std::printf("%jd of %jd test images right, accuracy %.4f\n", static_cast<intmax_t>(correct), static_cast<intmax_t>(count),
              static_cast<double>(correct) / static_cast<double>(count));
  return 0;
}
