// A small manifest that has one of everything: every buffer kind and instruction, a symbol, a guard, shared and mutable parameters.
#ifndef STATOR_TEST_UNIT_SERIALIZATION_SAMPLEMANIFEST_H
#define STATOR_TEST_UNIT_SERIALIZATION_SAMPLEMANIFEST_H

#include "serialization/Artifact/Manifest.h"
#include "serialization/Base/DimExpr.h"

namespace stator::test {

/// Adds the expression once and returns its index.
inline uint32_t expression(serialization::Method &method, const std::string &text) {
  std::map<std::string, uint32_t> symbols;
  for (uint32_t i = 0; i != method.symbols.size(); ++i)
    symbols[method.symbols[i].name] = i;
  DimExpr parsed = *DimExpr::parse(text);
  for (uint32_t i = 0; i != method.expressions.size(); ++i)
    if (method.expressions[i].text == parsed.str())
      return i;
  method.expressions.push_back({*compile(parsed, symbols), parsed.str()});
  return static_cast<uint32_t>(method.expressions.size() - 1);
}

/// Parameters and variants are left to the writer; see completeSampleManifest().
inline serialization::Manifest sampleManifest() {
  using namespace serialization;
  Manifest manifest;
  manifest.producer = "stator 0.1.0";
  manifest.requirements = {"onednn"};
  manifest.info = {{"model", "sample"}};
  manifest.kernels = {{"linear_0a1b2c3d", 4, 1}, {"step_4e5f6071", 1, 0}};

  Method &method = manifest.methods.emplace_back();
  method.name = "forward";
  method.symbols = {{"N", 1, 64, 0, 0}};
  auto e = [&](const std::string &text) { return expression(method, text); };
  method.inputs = {{"x", ElementType::F32, {e("N"), e("4")}}};
  method.outputs = {{"y", ElementType::F32, {e("N"), e("2")}}, {"shape", ElementType::I64, {e("2")}}};
  method.guards = {{e("mod(N, 1)"), e("0")}};

  Plan &plan = manifest.plans.emplace_back();
  plan.arenaSize = e("8*N + 64");
  plan.scratchSize = e("0");
  plan.livePeak = 72;
  auto buffer = [&](BufferKind kind, uint32_t index, ElementType type, std::vector<std::string> dims, const std::string &offset,
                    std::optional<uint32_t> viewOf = std::nullopt) {
    Buffer target{kind, index, type, {}, 0, e(offset), viewOf};
    DimExpr size = byteSize(type);
    for (const std::string &dim : dims) {
      target.dims.push_back(e(dim));
      size = size * *DimExpr::parse(dim);
    }
    target.size = e(size.str());
    plan.buffers.push_back(target);
  };
  buffer(BufferKind::Input, 0, ElementType::F32, {"N", "4"}, "0");     // 0
  buffer(BufferKind::Parameter, 0, ElementType::F32, {"4", "2"}, "0"); // 1
  buffer(BufferKind::Parameter, 1, ElementType::F32, {"2"}, "0");      // 2
  buffer(BufferKind::Arena, 0, ElementType::F32, {"N", "2"}, "64");    // 3
  buffer(BufferKind::Arena, 0, ElementType::I1, {}, "0");              // 4
  buffer(BufferKind::Output, 0, ElementType::F32, {"N", "2"}, "0");    // 5
  buffer(BufferKind::Output, 1, ElementType::I64, {"2"}, "0");         // 6
  buffer(BufferKind::State, 3, ElementType::I64, {}, "0");             // 7
  buffer(BufferKind::Input, 0, ElementType::F32, {"4"}, "0", 0);       // 8

  auto step = [](InstructionKind kind, const std::string &name) {
    Instruction instruction;
    instruction.kind = kind;
    instruction.name = name;
    return instruction;
  };
  Instruction kernel = step(InstructionKind::Kernel, "fc1, relu");
  kernel.family = "matmul";
  kernel.reason = "own kernel is faster for K < 64";
  kernel.buffers = {0, 1, 2, 3};
  kernel.numInputs = 3;
  kernel.sizes = {e("N")};
  Instruction library = step(InstructionKind::Library, "fc2");
  library.family = "matmul";
  library.library = "onednn";
  library.routine = "matmul";
  library.attributes = {{"relu", {1}, {}, ""}, {"scales", {}, {0.5, 2.0}, ""}, {"kind", {}, {}, "plain"}};
  library.buffers = {0, 1, 3};
  library.numInputs = 2;
  library.sizes = {e("N"), e("4"), e("2")};
  Instruction copy = step(InstructionKind::Copy, "identity");
  copy.source = 3;
  copy.destination = 5;
  copy.sourceOffset = copy.destinationOffset = e("0");
  copy.copySize = e("8*N");
  Instruction shape = step(InstructionKind::Shape, "shape");
  shape.destination = 6;
  shape.sizes = {e("N"), e("2")};
  Instruction count = step(InstructionKind::Kernel, "count");
  count.kernel = 1;
  count.buffers = {7};
  Instruction branch = step(InstructionKind::If, "if");
  branch.condition = 4;
  branch.first = {count};
  branch.second = {library};
  Instruction loop = step(InstructionKind::Loop, "while");
  loop.condition = 4;
  loop.first = {count};
  loop.second = {copy};
  plan.instructions = {kernel, library, copy, shape, branch, loop};
  return manifest;
}

/// Name, type, dims of the sample's parameters; "tied" has the bytes of "weight".
inline std::vector<serialization::Parameter> sampleParameters() {
  std::vector<serialization::Parameter> parameters(4);
  parameters[0].name = "weight";
  parameters[0].dims = {4, 2};
  parameters[0].layout = "panels";
  parameters[0].recipe = "pack(fc1.weight)";
  parameters[1].name = "bias";
  parameters[1].dims = {2};
  parameters[2].name = "tied";
  parameters[2].dims = {2, 4};
  parameters[3].name = "counter";
  parameters[3].elementType = ElementType::I64;
  parameters[3].isMutable = true;
  return parameters;
}

/// What is in the file after writing.
inline serialization::Manifest completeSampleManifest() {
  serialization::Manifest manifest = sampleManifest();
  manifest.parameters = sampleParameters();
  uint64_t offset = 0;
  for (serialization::Parameter &parameter : manifest.parameters) {
    parameter.entry = "weights/blob0";
    parameter.size = byteSize(parameter.elementType);
    for (uint64_t dim : parameter.dims)
      parameter.size *= dim;
    parameter.offset = offset;
    offset += 64;
  }
  manifest.variants = {{"x86-64-v3", 2, "kernels/x86-64-v3/kernels.so"}, {"x86-64-v2", 1, "kernels/x86-64-v2/kernels.so"}};
  return manifest;
}

} // namespace stator::test

#endif // STATOR_TEST_UNIT_SERIALIZATION_SAMPLEMANIFEST_H
