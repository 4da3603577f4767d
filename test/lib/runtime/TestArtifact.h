// Builds artifacts by hand. Sizes are written as text over the method's symbols; every list call returns the index of what it added.
// A mistake in a description ends the test program with a message.
#ifndef STATOR_TEST_LIB_RUNTIME_TESTARTIFACT_H
#define STATOR_TEST_LIB_RUNTIME_TESTARTIFACT_H

#include "serialization/ArtifactWriter/ArtifactWriter.h"

#include <string>
#include <vector>

namespace stator::test {

using Dims = std::vector<std::string>;

/// The shared object with the kernels of kernels.c.
std::vector<std::byte> testKernels();

/// A path for a new file in a folder that is removed when the process ends.
std::string temporaryPath(const std::string &name);

/// One method and its plan. The manifest may be changed at will before it is written.
class TestMethod {
public:
  explicit TestMethod(std::string name = "forward");

  /// Symbols come before inputs; `input` and `axis` say where the value is read.
  void symbol(const std::string &name, int64_t min, int64_t max, uint32_t input, uint32_t axis);
  /// Declares an input or output and a buffer for it; returns the buffer.
  uint32_t input(const std::string &name, ElementType type, const Dims &dims);
  uint32_t output(const std::string &name, ElementType type, const Dims &dims);
  uint32_t arena(ElementType type, const Dims &dims, const std::string &offset);
  uint32_t parameter(uint32_t index, ElementType type, const Dims &dims);
  uint32_t state(uint32_t index, ElementType type, const Dims &dims);
  uint32_t view(uint32_t base, ElementType type, const Dims &dims, const std::string &offset);
  void arenaSize(const std::string &bytes) { plan.arenaSize = expression(bytes); }
  void scratchSize(const std::string &bytes) { plan.scratchSize = expression(bytes); }
  void guard(const std::string &left, const std::string &right) { method.guards.push_back({expression(left), expression(right)}); }

  serialization::Instruction kernel(uint32_t index, std::vector<uint32_t> inputs, std::vector<uint32_t> outputs, const Dims &sizes,
                                    const std::string &family = "map");
  serialization::Instruction library(const std::string &routine, std::vector<uint32_t> inputs, std::vector<uint32_t> outputs,
                                     const Dims &sizes, std::vector<serialization::Attribute> options);
  serialization::Instruction copy(uint32_t source, uint32_t destination, const std::string &bytes, const std::string &from = "0",
                                  const std::string &to = "0");
  serialization::Instruction shape(uint32_t destination, const Dims &values);
  serialization::Instruction branch(uint32_t condition, std::vector<serialization::Instruction> onTrue,
                                    std::vector<serialization::Instruction> onFalse);
  serialization::Instruction loop(uint32_t condition, std::vector<serialization::Instruction> before,
                                  std::vector<serialization::Instruction> body);
  void add(serialization::Instruction instruction) { plan.instructions.push_back(std::move(instruction)); }

  uint32_t expression(const std::string &text);
  std::vector<uint32_t> expressions(const Dims &texts);
  uint32_t buffer(serialization::BufferKind kind, uint32_t index, ElementType type, const Dims &dims, const std::string &offset);

  serialization::Method method;
  serialization::Plan plan;
};

/// A whole artifact. Its variants: one that every machine runs, and on request others with the same kernels.
class TestArtifact {
public:
  /// Of kernels.c, without the prefix.
  uint32_t kernel(const std::string &name, uint32_t buffers, uint32_t sizes);
  uint32_t parameter(const std::string &name, ElementType type, std::vector<uint64_t> dims, const void *bytes, size_t size,
                     bool isMutable = false);
  uint32_t parameter(const std::string &name, std::vector<uint64_t> dims, const std::vector<float> &values, bool isMutable = false) {
    return parameter(name, ElementType::F32, std::move(dims), values.data(), values.size() * sizeof(float), isMutable);
  }
  void add(TestMethod method);
  /// From the most demanding to the least; without any call there is "x86-64-v2".
  void variant(std::string level, uint64_t features) { levels.push_back({std::move(level), features}); }

  /// Writes a temporary file and returns its path.
  std::string write(const std::string &fileName = "test.stator");

  serialization::Manifest manifest;

private:
  struct Level {
    std::string name;
    uint64_t features;
  };
  serialization::ArtifactWriter writer;
  std::vector<Level> levels;
  std::vector<std::vector<std::byte>> bytes;
};

/// y[N, 2] = x[N, 3] * w with N from 1 to 64, in "forward": the smallest artifact with everything.
TestArtifact smallArtifact();
/// "forward" gives the x of the call before, which is the state "last", at first [1 2]; "peek" gives that state.
TestArtifact stateArtifact();

} // namespace stator::test

#endif // STATOR_TEST_LIB_RUNTIME_TESTARTIFACT_H
