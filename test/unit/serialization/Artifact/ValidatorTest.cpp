// DEPS: stator::serialization::Artifact
// Every rule of the validator, broken one at a time: what it says names the place.
#include "serialization/Artifact/Validator.h"
#include "test/unit/Catch.h"
#include "test/unit/serialization/SampleManifest.h"

#include <functional>

using namespace stator;
using namespace stator::serialization;
using stator::test::completeSampleManifest;
using stator::test::expression;

using Change = std::function<void(Manifest &)>;

static std::string errorAfter(const Change &change) {
  Manifest manifest = completeSampleManifest();
  change(manifest);
  Status status = validateManifest(manifest);
  return status.message();
}

TEST_CASE("the validator accepts the sample") {
  CHECK(errorAfter([](Manifest &) {}) == "");
  CHECK(errorAfter([](Manifest &m) { m = Manifest(); }) == "");
}

TEST_CASE("the validator names tables that are wrong") {
  CHECK(errorAfter([](Manifest &m) { m.formatMinor = 9; }) == "manifest of format 0.9, expected 0.1");
  CHECK(errorAfter([](Manifest &m) { m.parameters[1].name = "weight"; }) == "manifest: parameters[1] `weight`: the name is there twice");
  CHECK(errorAfter([](Manifest &m) { m.parameters[1].name = ""; }) == "manifest: parameters[1]: it has no name");
  CHECK(errorAfter([](Manifest &m) { m.parameters[1].size = 12; }) == "manifest: parameters[1] `bias`: it has 12 bytes, its type takes 8");
  CHECK(errorAfter([](Manifest &m) { m.parameters[1].dims = {UINT64_MAX, 2}; }) ==
        "manifest: parameters[1] `bias`: its size exceeds 64 bits");
  CHECK(errorAfter([](Manifest &m) { m.parameters[1].offset = UINT64_MAX - 3; }) ==
        "manifest: parameters[1] `bias`: its end exceeds 64 bits");
  CHECK(errorAfter([](Manifest &m) { m.parameters[1].offset = 8; }) == "manifest: parameters[1] `bias`: offset 8 is not a multiple of 64");
  CHECK(errorAfter([](Manifest &m) { m.parameters[1].entry = "manifest.pb"; }) ==
        "manifest: parameters[1] `bias`: entry `manifest.pb` is not in `weights/`");
  CHECK(errorAfter([](Manifest &m) { m.kernels[0].name = "a-b"; }) == "manifest: kernels[0] `a-b`: the name is not an identifier");
  CHECK(errorAfter([](Manifest &m) { m.kernels[1].name = m.kernels[0].name; }) ==
        "manifest: kernels[1] `linear_0a1b2c3d`: the name is there twice");
  CHECK(errorAfter([](Manifest &m) { m.variants[1].level = "x86-64-v3"; }) == "manifest: variants[1] `x86-64-v3`: the name is there twice");
  CHECK(errorAfter([](Manifest &m) { m.variants[1].entry = "weights/blob0"; }) ==
        "manifest: variants[1] `x86-64-v2`: entry `weights/blob0` is not in `kernels/`");
  CHECK(errorAfter([](Manifest &m) { m.variants.clear(); }) == "manifest: there are kernels, but no variant that holds them");
  CHECK(errorAfter([](Manifest &m) { m.requirements = {"../x"}; }) == "manifest: requirements[0] `../x`: the name is not an identifier");
  CHECK(errorAfter([](Manifest &m) { m.requirements.push_back("onednn"); }) ==
        "manifest: requirements[1] `onednn`: the name is there twice");
  CHECK(errorAfter([](Manifest &m) { m.methods[0].plan = 3; }) == "manifest: methods[0] `forward`: plan 3, there are 1");
  CHECK(errorAfter([](Manifest &m) { m.methods.push_back(m.methods[0]); }) == "manifest: methods[1] `forward`: the name is there twice");
  CHECK(errorAfter([](Manifest &m) {
          m.methods.push_back(m.methods[0]);
          m.methods[1].name = "other";
        }) == "manifest: methods[1] `other`: plan 0 belongs to another method");
  CHECK(errorAfter([](Manifest &m) { m.plans.push_back(m.plans[0]); }) == "manifest: plans[1]: it belongs to no method");
}

TEST_CASE("the validator looks at what a step is said to do") {
  auto change = [](std::optional<uint32_t> Instruction::*field, uint32_t index) {
    return [=](Manifest &m) { m.plans[0].instructions[0].*field = index; };
  };
  CHECK(errorAfter(change(&Instruction::operations, 0)) == "");
  CHECK(errorAfter(change(&Instruction::operations, 99)).find("number of operations 99, there are") != std::string::npos);
  CHECK(errorAfter(change(&Instruction::bytes, 99)).find("number of bytes 99, there are") != std::string::npos);
}

static std::string errorInMethod(const std::function<void(Method &)> &change) {
  std::string message = errorAfter([&](Manifest &m) { change(m.methods[0]); });
  std::string prefix = "manifest: methods[0] `forward`: ";
  REQUIRE(message.starts_with(prefix));
  return message.substr(prefix.size());
}

TEST_CASE("the validator names what is wrong in a method") {
  CHECK(errorInMethod([](Method &m) { m.expressions[0].code = {2}; }) ==
        "expressions[0] `N`: expression code, element 0: an operator has 0 operands, expected 2");
  CHECK(errorInMethod([](Method &m) { m.expressions[0].code = {0, 1, 0, 0, 5}; }) ==
        "expressions[0] `N`: a size expression divides by zero");
  CHECK(errorInMethod([](Method &m) { m.inputs[0].name = ""; }) == "inputs[0]: it has no name");
  CHECK(errorInMethod([](Method &m) { m.outputs[1].name = "y"; }) == "outputs[1] `y`: the name is there twice");
  CHECK(errorInMethod([](Method &m) { m.inputs[0].dims[1] = 99; }).starts_with("inputs[0] `x`: dim 99, there are "));
  CHECK(errorInMethod([](Method &m) { m.inputs[0].dims[1] = expression(m, "0 - 3"); }) == "inputs[0] `x`: dim is -3");
  CHECK(errorInMethod([](Method &m) { m.symbols[0].name = ""; }) == "symbols[0]: it has no name");
  CHECK(errorInMethod([](Method &m) { m.symbols.push_back(m.symbols[0]); }) == "symbols[1] `N`: the name is there twice");
  CHECK(errorInMethod([](Method &m) { m.symbols[0].min = 65; }) == "symbols[0] `N`: range 65 to 64");
  CHECK(errorInMethod([](Method &m) { m.symbols[0].min = -1; }) == "symbols[0] `N`: range -1 to 64");
  CHECK(errorInMethod([](Method &m) { m.symbols[0].input = 1; }) == "symbols[0] `N`: input 1, there are 1");
  CHECK(errorInMethod([](Method &m) { m.symbols[0].axis = 2; }) == "symbols[0] `N`: axis 2, there are 2");
  CHECK(errorInMethod([](Method &m) { m.symbols[0].axis = 1; }) == "symbols[0] `N`: axis 1 of input `x` is not this symbol");
  CHECK(errorInMethod([](Method &m) { m.guards[0].right = 77; }).starts_with("guards[0]: expression 77, there are "));
}

static std::string errorInPlan(const std::function<void(Method &, Plan &)> &change) {
  std::string message = errorAfter([&](Manifest &m) { change(m.methods[0], m.plans[0]); });
  std::string prefix = "manifest: methods[0] `forward`, plan 0: ";
  REQUIRE(message.starts_with(prefix));
  return message.substr(prefix.size());
}

TEST_CASE("the validator names buffers that are wrong") {
  CHECK(errorInPlan([](Method &, Plan &p) { p.arenaSize = 99; }).starts_with("arena size 99, there are "));
  CHECK(errorInPlan([](Method &m, Plan &p) { p.scratchSize = expression(m, "-1"); }) == "scratch size is -1");
  CHECK(errorInPlan([](Method &, Plan &p) { p.buffers[3].index = 1; }) == "buffers[3]: arena 1, there is 1");
  CHECK(errorInPlan([](Method &, Plan &p) { p.buffers[0].index = 1; }) == "buffers[0]: input 1, there are 1");
  CHECK(errorInPlan([](Method &, Plan &p) { p.buffers[5].index = 2; }) == "buffers[5]: output 2, there are 2");
  CHECK(errorInPlan([](Method &, Plan &p) { p.buffers[1].index = 4; }) == "buffers[1]: parameter 4, there are 4");
  CHECK(errorInPlan([](Method &, Plan &p) { p.buffers[7].index = 1; }) == "buffers[7]: parameter `bias` is frozen, but used as state");
  CHECK(errorInPlan([](Method &, Plan &p) { p.buffers[1].index = 3; }) == "buffers[1]: parameter `counter` is state, but used as frozen");
  CHECK(errorInPlan([](Method &, Plan &p) { p.buffers[0].dims[0] = 99; }).starts_with("buffers[0]: dim 99, there are "));
  CHECK(errorInPlan([](Method &m, Plan &p) { p.buffers[2].size = expression(m, "12"); }) ==
        "buffers[2]: it has 12 bytes, its type takes 8");
  CHECK(errorInPlan([](Method &m, Plan &p) { p.buffers[2].offset = expression(m, "2"); }) == "buffers[2]: offset 2 is not aligned for f32");
  CHECK(errorInPlan([](Method &m, Plan &p) { p.buffers[2].offset = expression(m, "4"); }) == "buffers[2]: it ends at byte 12 of 8");
  CHECK(errorInPlan([](Method &m, Plan &p) { p.buffers[6].offset = expression(m, "8"); }) == "buffers[6]: it ends at byte 24 of 16");
  CHECK(errorInPlan([](Method &m, Plan &p) {
          p.arenaSize = expression(m, "128");
          p.buffers[4].offset = expression(m, "128");
        }) == "buffers[4]: it ends at byte 129 of 128");
  CHECK(errorInPlan([](Method &m, Plan &p) { p.buffers[4].offset = expression(m, "9223372036854775807"); }) ==
        "buffers[4]: it ends beyond 64 bits");
  CHECK(errorInPlan([](Method &, Plan &p) { p.buffers[8].viewOf = 9; }) == "buffers[8]: base 9, there are 9");
  CHECK(errorInPlan([](Method &, Plan &p) { p.buffers[8].viewOf = 1; }) == "buffers[8]: it is not in the place of its base, buffer 1");
}

TEST_CASE("the validator names instructions that are wrong") {
  CHECK(errorInPlan([](Method &, Plan &p) { p.instructions[0].kernel = 2; }) == "instructions[0] `fc1, relu`: kernel 2, there are 2");
  CHECK(errorInPlan([](Method &, Plan &p) { p.instructions[0].buffers.pop_back(); }) ==
        "instructions[0] `fc1, relu`: 3 buffers, the kernel takes 4");
  CHECK(errorInPlan([](Method &, Plan &p) { p.instructions[0].sizes.clear(); }) ==
        "instructions[0] `fc1, relu`: 0 sizes, the kernel takes 1");
  CHECK(errorInPlan([](Method &, Plan &p) { p.instructions[0].numInputs = 5; }) == "instructions[0] `fc1, relu`: 5 inputs among 4 buffers");
  CHECK(errorInPlan([](Method &, Plan &p) { p.instructions[0].buffers[1] = 9; }) == "instructions[0] `fc1, relu`: buffer 9, there are 9");
  CHECK(errorInPlan([](Method &, Plan &p) { p.instructions[0].buffers[3] = 0; }) ==
        "instructions[0] `fc1, relu`: it writes buffer 0, which is an input");
  CHECK(errorInPlan([](Method &, Plan &p) { p.instructions[0].buffers[3] = 1; }) ==
        "instructions[0] `fc1, relu`: it writes buffer 1, which is a frozen parameter");
  CHECK(errorInPlan([](Method &, Plan &p) {
          p.instructions[0].sizes[0] = 99;
        }).starts_with("instructions[0] `fc1, relu`: size 99, there are "));
  CHECK(errorInPlan([](Method &, Plan &p) { p.instructions[1].library = "mkl"; }) ==
        "instructions[1] `fc2`: library `mkl` is not among the requirements");
  CHECK(errorInPlan([](Method &, Plan &p) { p.instructions[1].routine = ""; }) == "instructions[1] `fc2`: it names no routine");
  CHECK(errorInPlan([](Method &, Plan &p) { p.instructions[2].source = 9; }) == "instructions[2] `identity`: buffer 9, there are 9");
  CHECK(errorInPlan([](Method &, Plan &p) { p.instructions[2].destination = 0; }) ==
        "instructions[2] `identity`: it writes buffer 0, which is an input");
  CHECK(errorInPlan([](Method &, Plan &p) {
          p.instructions[2].sourceOffset = 99;
        }).starts_with("instructions[2] `identity`: source offset 99, there are "));
  CHECK(errorInPlan([](Method &m, Plan &p) { p.instructions[2].destinationOffset = expression(m, "-8"); }) ==
        "instructions[2] `identity`: destination offset is -8");
  CHECK(errorInPlan([](Method &m, Plan &p) {
          p.instructions[2].source = 1;
          p.instructions[2].copySize = expression(m, "40");
        }) == "instructions[2] `identity`: the source ends at byte 40 of 32");
  CHECK(errorInPlan([](Method &m, Plan &p) {
          p.instructions[2].destination = 6;
          p.instructions[2].copySize = expression(m, "40");
        }) == "instructions[2] `identity`: the destination ends at byte 40 of 16");
  CHECK(errorInPlan([](Method &, Plan &p) { p.instructions[3].destination = 5; }) ==
        "instructions[3] `shape`: it writes sizes as f32, expected i64 or i32");
  CHECK(errorInPlan([](Method &, Plan &p) { p.instructions[3].sizes.pop_back(); }) ==
        "instructions[3] `shape`: it writes 8 bytes to a buffer of 16");
  CHECK(errorInPlan([](Method &m, Plan &p) { p.buffers[6].size = expression(m, "16*N"); }) ==
        "instructions[3] `shape`: it writes 16 bytes to a buffer of variable size");
  CHECK(errorInPlan([](Method &, Plan &p) { p.instructions[4].condition = 7; }) ==
        "instructions[4] `if`: the condition, buffer 7, is not one i1");
  CHECK(errorInPlan([](Method &, Plan &p) { p.instructions[4].condition = 9; }) == "instructions[4] `if`: buffer 9, there are 9");
  CHECK(errorInPlan([](Method &, Plan &p) { p.instructions[4].first[0].kernel = 7; }) ==
        "instructions[4] `if`: on_true[0] `count`: kernel 7, there are 2");
  CHECK(errorInPlan([](Method &, Plan &p) { p.instructions[4].second[0].buffers[0] = 70; }) ==
        "instructions[4] `if`: on_false[0] `fc2`: buffer 70, there are 9");
  CHECK(errorInPlan([](Method &, Plan &p) { p.instructions[5].first[0].kernel = 7; }) ==
        "instructions[5] `while`: before[0] `count`: kernel 7, there are 2");
  CHECK(errorInPlan([](Method &, Plan &p) { p.instructions[5].second[0].source = 70; }) ==
        "instructions[5] `while`: body[0] `identity`: buffer 70, there are 9");
  CHECK(errorInPlan([](Method &, Plan &p) { p.instructions[5].kind = static_cast<InstructionKind>(77); }) ==
        "instructions[5] `while`: an instruction of unknown kind");
}
