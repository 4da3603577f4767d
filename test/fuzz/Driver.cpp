// A main() for fuzzers where there is no libFuzzer: `stator_fuzz_x [--runs=N] [--seed=N] [--verbose] FILE-OR-FOLDER...` gives each file to
// LLVMFuzzerTestOneInput, then N mutations of them. The same seed gives the same inputs. An input that crashes, takes more than
// --seconds=10 or brings the program to more than --megabytes=4096 of addresses, is written to `crash-<name of the fuzzer>` in the current
// folder, which the same program replays.
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
extern "C" __attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed);

using Input = std::vector<uint8_t>;

static std::mt19937_64 generator;
static std::vector<Input> seeds;
static std::string crashFile;
static const Input *current = nullptr;
static unsigned seconds = 10;

static uint64_t below(uint64_t limit) { return limit == 0 ? 0 : generator() % limit; }

static void saveCurrent(int signal) {
  if (current) {
    int file = open(crashFile.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (file >= 0) {
      for (size_t done = 0; done < current->size();) {
        ssize_t count = write(file, current->data() + done, current->size() - done);
        if (count <= 0)
          break;
        done += static_cast<size_t>(count);
      }
      close(file);
    }
  }
  std::signal(signal, SIG_DFL);
  raise(signal);
}

/// One small change. Numbers that sizes and counts overflow at are put in more often than chance would.
static void change(Input &input) {
  static const uint64_t numbers[] = {
      0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, ~uint64_t(0) >> 1, ~uint64_t(0)};
  size_t at = below(input.size() + 1);
  size_t length = std::min<size_t>(1 + below(below(8) == 0 ? 256 : 8), input.size() - at);
  switch (below(8)) {
  case 0:
    if (at < input.size())
      input[at] ^= static_cast<uint8_t>(1u << below(8));
    break;
  case 1:
    if (at < input.size())
      input[at] = static_cast<uint8_t>(below(256));
    break;
  case 2:
    input.erase(input.begin() + static_cast<ptrdiff_t>(at), input.begin() + static_cast<ptrdiff_t>(at + length));
    break;
  case 3: {
    Input copy(input.begin() + static_cast<ptrdiff_t>(at), input.begin() + static_cast<ptrdiff_t>(at + length));
    size_t to = below(input.size() + 1);
    input.insert(input.begin() + static_cast<ptrdiff_t>(to), copy.begin(), copy.end());
    break;
  }
  case 4: {
    uint64_t number = numbers[below(std::size(numbers))];
    std::memcpy(input.data() + at, &number, std::min({size_t(1) << below(4), input.size() - at}));
    break;
  }
  case 5: {
    const Input &other = seeds[below(seeds.size())];
    size_t from = below(other.size()), count = std::min<size_t>(1 + below(64), other.size() - from);
    count = std::min(count, input.size() - at);
    std::copy_n(other.begin() + static_cast<ptrdiff_t>(from), count, input.begin() + static_cast<ptrdiff_t>(at));
    break;
  }
  case 6: {
    // A decimal number, for texts.
    std::string text = std::to_string(numbers[below(std::size(numbers))]);
    input.insert(input.begin() + static_cast<ptrdiff_t>(at), text.begin(), text.end());
    break;
  }
  case 7:
    if (below(16) == 0)
      input.resize(at);
    break;
  }
}

/// For the custom mutators of fuzzers, as libFuzzer gives it to them.
extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize) {
  Input input(data, data + size);
  for (uint64_t count = 1 + below(4); count != 0; --count)
    change(input);
  size = std::min(input.size(), maxSize);
  std::copy_n(input.begin(), size, data);
  return size;
}

static void run(const Input &input) {
  current = &input;
  alarm(seconds);
  // A copy of exactly its size, so that AddressSanitizer sees every read past its end.
  std::unique_ptr<uint8_t[]> copy(new uint8_t[input.size()]);
  std::copy(input.begin(), input.end(), copy.get());
  LLVMFuzzerTestOneInput(copy.get(), input.size());
  alarm(0);
  current = nullptr;
}

static Input readFile(const std::filesystem::path &path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

int main(int argc, char **argv) {
  uint64_t runs = 0, seed = 1, megabytes = 4096;
  bool isVerbose = false;
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    auto number = [&](std::string_view option, auto &value) {
      if (!argument.starts_with(option))
        return false;
      value = static_cast<std::decay_t<decltype(value)>>(std::strtoull(argument.c_str() + option.size(), nullptr, 10));
      return true;
    };
    if (number("--runs=", runs) || number("--seed=", seed) || number("--seconds=", seconds) || number("--megabytes=", megabytes))
      continue;
    if (argument == "--verbose")
      isVerbose = true;
    else if (std::filesystem::is_directory(argument)) {
      for (const auto &entry : std::filesystem::recursive_directory_iterator(argument))
        if (entry.is_regular_file())
          files.push_back(entry.path());
    } else
      files.emplace_back(argument);
  }
  std::sort(files.begin(), files.end());
  crashFile = "crash-" + std::filesystem::path(argv[0]).filename().string();
  for (int signal : {SIGALRM, SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGTRAP})
    std::signal(signal, saveCurrent);
#if !__has_feature(address_sanitizer)
  // A bomb shall fail here and not take the machine with it.
  rlimit limit{rlim_t(megabytes) << 20, rlim_t(megabytes) << 20};
  setrlimit(RLIMIT_AS, &limit);
#endif
  for (const auto &path : files) {
    seeds.push_back(readFile(path));
    if (isVerbose)
      std::fprintf(stderr, "%s\n", path.c_str());
    run(seeds.back());
  }
  if (seeds.empty()) {
    std::fprintf(stderr, "%s: no seeds given\n", argv[0]);
    return 1;
  }
  generator.seed(seed);
  for (uint64_t i = 0; i != runs; ++i) {
    Input input = seeds[below(seeds.size())];
    size_t size = input.size(), maxSize = size + 4096;
    input.resize(maxSize);
    unsigned part = static_cast<unsigned>(generator());
    size = LLVMFuzzerCustomMutator ? LLVMFuzzerCustomMutator(input.data(), size, maxSize, part)
                                   : LLVMFuzzerMutate(input.data(), size, maxSize);
    input.resize(size);
    run(input);
  }
  std::printf("%s: %zu seeds, %llu mutations\n", argv[0], seeds.size(), static_cast<unsigned long long>(runs));
  return 0;
}
