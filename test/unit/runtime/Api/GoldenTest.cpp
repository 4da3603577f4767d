// DEPS: stator::stator
// The frozen artifact of each released format version that this build promises to read. It has no kernels, so that it runs on every
// machine, and needs no compiler, so that this test is part of the runtime-only build too.
#include "test/unit/Catch.h"

#include "stator/Runtime.h"

using namespace stator;

TEST_CASE("the golden artifact of format 0.1 runs") {
  Result<Module> module = Module::load(STATOR_SOURCE_DIR "/test/golden/0.1/identity.stator");
  REQUIRE(module.status().message() == "");
  CHECK(module->cpuLevel() == "none");
  Session session = module->session().value();
  Tensor x(ElementType::F32, {3});
  for (int i = 0; i < 3; ++i)
    x.data<float>()[i] = static_cast<float>(i + 1);
  Outputs outputs = session.run("forward", {x}).value();
  REQUIRE(outputs.size() == 2);
  CHECK(outputs[0].shapeVector() == std::vector<int64_t>{3});
  CHECK(outputs[0].data<float>()[2] == 3);
  CHECK(outputs[1].shapeVector() == std::vector<int64_t>{2});
}
