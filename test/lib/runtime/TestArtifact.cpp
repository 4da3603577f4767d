// Building manifests by hand.
#include "test/lib/runtime/TestArtifact.h"

#include "serialization/Base/CpuFeatures.h"
#include "serialization/Base/DimExpr.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <unistd.h>

namespace stator::test {

using namespace serialization;

[[noreturn]] static void die(const std::string &message) {
  std::cerr << "test artifact: " << message << std::endl;
  std::abort();
}

std::vector<std::byte> testKernels() {
  std::ifstream file(STATOR_TEST_KERNELS, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (text.empty())
    die("cannot read " STATOR_TEST_KERNELS);
  auto *begin = reinterpret_cast<const std::byte *>(text.data());
  return std::vector<std::byte>(begin, begin + text.size());
}

namespace {
struct TemporaryFolder {
  std::filesystem::path path;
  pid_t owner = getpid();
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "stator-test-XXXXXX").string();
    if (!mkdtemp(pattern.data()))
      die("cannot make " + pattern);
    path = pattern;
  }
  ~TemporaryFolder() {
    // Not from a child that a test forked.
    std::error_code ignored;
    if (owner == getpid())
      std::filesystem::remove_all(path, ignored);
  }
};
} // namespace

std::string temporaryPath(const std::string &name) {
  static TemporaryFolder folder;
  return (folder.path / name).string();
}

TestMethod::TestMethod(std::string name) {
  method.name = std::move(name);
  // What is not said is zero.
  arenaSize("0");
  scratchSize("0");
}

uint32_t TestMethod::expression(const std::string &text) {
  for (size_t i = 0; i < method.expressions.size(); ++i)
    if (method.expressions[i].text == text)
      return static_cast<uint32_t>(i);
  std::map<std::string, uint32_t> symbols;
  for (size_t i = 0; i < method.symbols.size(); ++i)
    symbols[method.symbols[i].name] = static_cast<uint32_t>(i);
  method.expressions.push_back({compile(DimExpr::parse(text).value(), symbols).value(), text});
  return static_cast<uint32_t>(method.expressions.size() - 1);
}

std::vector<uint32_t> TestMethod::expressions(const Dims &texts) {
  std::vector<uint32_t> result;
  for (const std::string &text : texts)
    result.push_back(expression(text));
  return result;
}

void TestMethod::symbol(const std::string &name, int64_t min, int64_t max, uint32_t input, uint32_t axis) {
  method.symbols.push_back({name, min, max, input, axis});
}

uint32_t TestMethod::buffer(BufferKind kind, uint32_t index, ElementType type, const Dims &dims, const std::string &offset) {
  Buffer buffer;
  buffer.kind = kind;
  buffer.index = index;
  buffer.elementType = type;
  buffer.dims = expressions(dims);
  DimExpr bytes(byteSize(type));
  for (const std::string &dim : dims)
    bytes *= DimExpr::parse(dim).value();
  buffer.size = expression(bytes.str());
  buffer.offset = expression(offset);
  plan.buffers.push_back(buffer);
  return static_cast<uint32_t>(plan.buffers.size() - 1);
}

uint32_t TestMethod::input(const std::string &name, ElementType type, const Dims &dims) {
  method.inputs.push_back({name, type, expressions(dims)});
  return buffer(BufferKind::Input, static_cast<uint32_t>(method.inputs.size() - 1), type, dims, "0");
}
uint32_t TestMethod::output(const std::string &name, ElementType type, const Dims &dims) {
  method.outputs.push_back({name, type, expressions(dims)});
  return buffer(BufferKind::Output, static_cast<uint32_t>(method.outputs.size() - 1), type, dims, "0");
}
uint32_t TestMethod::arena(ElementType type, const Dims &dims, const std::string &offset) {
  return buffer(BufferKind::Arena, 0, type, dims, offset);
}
uint32_t TestMethod::parameter(uint32_t index, ElementType type, const Dims &dims) {
  return buffer(BufferKind::Parameter, index, type, dims, "0");
}
uint32_t TestMethod::state(uint32_t index, ElementType type, const Dims &dims) { return buffer(BufferKind::State, index, type, dims, "0"); }
uint32_t TestMethod::view(uint32_t base, ElementType type, const Dims &dims, const std::string &offset) {
  Buffer of = plan.buffers[base];
  uint32_t made = buffer(of.kind, of.index, type, dims, offset);
  plan.buffers[made].viewOf = base;
  return made;
}

Instruction TestMethod::kernel(uint32_t index, std::vector<uint32_t> inputs, std::vector<uint32_t> outputs, const Dims &sizes,
                               const std::string &family) {
  Instruction instruction;
  instruction.kind = InstructionKind::Kernel;
  instruction.name = "call of kernel " + std::to_string(index);
  instruction.family = family;
  instruction.kernel = index;
  instruction.numInputs = static_cast<uint32_t>(inputs.size());
  instruction.buffers = std::move(inputs);
  instruction.buffers.insert(instruction.buffers.end(), outputs.begin(), outputs.end());
  instruction.sizes = expressions(sizes);
  return instruction;
}

Instruction TestMethod::library(const std::string &routine, std::vector<uint32_t> inputs, std::vector<uint32_t> outputs, const Dims &sizes,
                                std::vector<Attribute> options) {
  Instruction instruction = kernel(0, std::move(inputs), std::move(outputs), sizes, routine);
  instruction.kind = InstructionKind::Library;
  instruction.name = routine;
  instruction.library = "onednn";
  instruction.routine = routine;
  instruction.attributes = std::move(options);
  return instruction;
}

Instruction TestMethod::copy(uint32_t source, uint32_t destination, const std::string &bytes, const std::string &from,
                             const std::string &to) {
  Instruction instruction;
  instruction.kind = InstructionKind::Copy;
  instruction.name = "copy";
  instruction.source = source;
  instruction.destination = destination;
  instruction.copySize = expression(bytes);
  instruction.sourceOffset = expression(from);
  instruction.destinationOffset = expression(to);
  return instruction;
}

Instruction TestMethod::shape(uint32_t destination, const Dims &values) {
  Instruction instruction;
  instruction.kind = InstructionKind::Shape;
  instruction.name = "shape";
  instruction.destination = destination;
  instruction.sizes = expressions(values);
  return instruction;
}

Instruction TestMethod::branch(uint32_t condition, std::vector<Instruction> onTrue, std::vector<Instruction> onFalse) {
  Instruction instruction;
  instruction.kind = InstructionKind::If;
  instruction.name = "if";
  instruction.condition = condition;
  instruction.first = std::move(onTrue);
  instruction.second = std::move(onFalse);
  return instruction;
}

Instruction TestMethod::loop(uint32_t condition, std::vector<Instruction> before, std::vector<Instruction> body) {
  Instruction instruction = branch(condition, std::move(before), std::move(body));
  instruction.kind = InstructionKind::Loop;
  instruction.name = "loop";
  return instruction;
}

uint32_t TestArtifact::kernel(const std::string &name, uint32_t buffers, uint32_t sizes) {
  bool usesBarrier = name == "mirror" || name == "report";
  manifest.kernels.push_back({name, buffers, sizes, !usesBarrier});
  return static_cast<uint32_t>(manifest.kernels.size() - 1);
}

uint32_t TestArtifact::parameter(const std::string &name, ElementType type, std::vector<uint64_t> dims, const void *data, size_t size,
                                 bool isMutable) {
  Parameter parameter;
  parameter.name = name;
  parameter.elementType = type;
  parameter.dims = std::move(dims);
  parameter.isMutable = isMutable;
  auto *begin = static_cast<const std::byte *>(data);
  bytes.emplace_back(begin, begin + size);
  return writer.addParameter(parameter, std::span<const std::byte>(bytes.back())).value();
}

void TestArtifact::add(TestMethod method) {
  method.method.plan = static_cast<uint32_t>(manifest.plans.size());
  manifest.plans.push_back(std::move(method.plan));
  manifest.methods.push_back(std::move(method.method));
}

std::string TestArtifact::write(const std::string &fileName) {
  if (levels.empty())
    variant("x86-64-v2", CpuFeatureX86_64_V2);
  for (const Level &level : levels)
    writer.addVariant(level.name, level.features, testKernels());
  manifest.producer = "stator tests";
  std::string path = temporaryPath(fileName);
  Status status = writer.write(path, manifest);
  if (!status.ok())
    die(status.message());
  return path;
}

TestArtifact smallArtifact() {
  TestArtifact artifact;
  uint32_t matmul = artifact.kernel("matmul3x2", 3, 1);
  uint32_t w = artifact.parameter("w", {3, 2}, {1, 2, 3, 4, 5, 6});
  TestMethod forward;
  forward.symbol("N", 1, 64, 0, 0);
  uint32_t x = forward.input("x", ElementType::F32, {"N", "3"});
  uint32_t y = forward.output("y", ElementType::F32, {"N", "2"});
  uint32_t weights = forward.parameter(w, ElementType::F32, {"3", "2"});
  forward.add(forward.kernel(matmul, {x, weights}, {y}, {"N"}, "matmul"));
  artifact.add(std::move(forward));
  return artifact;
}

TestArtifact stateArtifact() {
  TestArtifact artifact;
  uint32_t last = artifact.parameter("last", {2}, {1, 2}, /*isMutable=*/true);
  TestMethod forward, peek("peek");
  uint32_t x = forward.input("x", ElementType::F32, {"2"}), y = forward.output("y", ElementType::F32, {"2"});
  uint32_t kept = forward.state(last, ElementType::F32, {"2"});
  forward.add(forward.copy(kept, y, "8"));
  forward.add(forward.copy(x, kept, "8"));
  artifact.add(std::move(forward));
  uint32_t shown = peek.output("last", ElementType::F32, {"2"});
  peek.add(peek.copy(peek.state(last, ElementType::F32, {"2"}), shown, "8"));
  artifact.add(std::move(peek));
  return artifact;
}

} // namespace stator::test
