// DEPS: stator::runtime::Loader stator::test::runtime
#include "test/unit/Catch.h"

#include "runtime/Devices/Cpu/CpuInfo.h"
#include "runtime/Loader/LoadedModule.h"
#include "serialization/Base/CpuFeatures.h"
#include "test/lib/runtime/TestArtifact.h"

#include <cstdlib>

using namespace stator;
using namespace stator::runtime;
using serialization::Variant;

static const std::vector<Variant> threeLevels = {
    {"x86-64-v4", CpuFeatureX86_64_V2 | CpuFeatureX86_64_V3 | CpuFeatureX86_64_V4, ""},
    {"x86-64-v3", CpuFeatureX86_64_V2 | CpuFeatureX86_64_V3, ""},
    {"x86-64-v2", CpuFeatureX86_64_V2, ""},
};

TEST_CASE("the most demanding variant that fits is chosen") {
  CHECK(chooseVariant(threeLevels, CpuFeatureX86_64_V2 | CpuFeatureX86_64_V3 | CpuFeatureX86_64_V4, "").value() == 0);
  CHECK(chooseVariant(threeLevels, CpuFeatureX86_64_V2 | CpuFeatureX86_64_V3, "").value() == 1);
  CHECK(chooseVariant(threeLevels, CpuFeatureX86_64_V2, "").value() == 2);
}

TEST_CASE("a level can be asked for") {
  uint32_t v3 = CpuFeatureX86_64_V2 | CpuFeatureX86_64_V3;
  CHECK(chooseVariant(threeLevels, v3, "x86-64-v2").value() == 2);
  Status tooNew = chooseVariant(threeLevels, v3, "x86-64-v4").status();
  CHECK(tooNew.code() == StatusCode::Unsupported);
  CHECK(tooNew.message() == "this machine cannot run kernels for `x86-64-v4`, it has x86-64-v2, x86-64-v3");
  Status unknown = chooseVariant(threeLevels, v3, "x86-64-v5").status();
  CHECK(unknown.code() == StatusCode::NotFound);
  CHECK(unknown.message() == "the artifact has no kernels for `x86-64-v5`, it has them for `x86-64-v4`, `x86-64-v3`, `x86-64-v2`");
}

TEST_CASE("a machine without any of the levels is told both sides") {
  Status status = chooseVariant(threeLevels, 0, "").status();
  CHECK(status.code() == StatusCode::Unsupported);
  CHECK(status.message() == "the artifact has kernels for `x86-64-v4`, `x86-64-v3`, `x86-64-v2`, this machine has none");
}

TEST_CASE("the option wins over the environment") {
  test::TestArtifact artifact = test::smallArtifact();
  artifact.variant("x86-64-v3", 0);
  artifact.variant("x86-64-v2", 0);
  std::string path = artifact.write("levels.stator");
  CHECK(LoadedModule::load(path, "").value()->cpuLevel() == "x86-64-v3");
  setenv("STATOR_CPU_LEVEL", "x86-64-v2", 1);
  CHECK(LoadedModule::load(path, "").value()->cpuLevel() == "x86-64-v2");
  CHECK(LoadedModule::load(path, "x86-64-v3").value()->cpuLevel() == "x86-64-v3");
  unsetenv("STATOR_CPU_LEVEL");
}

TEST_CASE("a kernel that the library does not have is named") {
  test::TestArtifact artifact = test::smallArtifact();
  artifact.manifest.kernels[0].name = "absent";
  std::string path = artifact.write("absent.stator");
  CHECK(LoadedModule::load(path, "").status().message() == "`" + path + "`: `kernels/x86-64-v2/kernels.so` has no kernel `absent`");
}

TEST_CASE("a library that is not there, or switched off, is a clear error") {
  test::TestArtifact artifact = test::smallArtifact();
  artifact.manifest.requirements = {"frobnicate"};
  std::string path = artifact.write("requires.stator");
  Status status = LoadedModule::load(path, "").status();
  CHECK(status.code() == StatusCode::Unsupported);
  CHECK(status.message().find("needs the library `frobnicate`, whose plug-in cannot be opened") != std::string::npos);
  CHECK(status.message().find("compile the model with --library=none") != std::string::npos);
  setenv("STATOR_DISABLE_FROBNICATE", "1", 1);
  status = LoadedModule::load(path, "").status();
  CHECK(status.message().find("which STATOR_DISABLE_FROBNICATE switches off") != std::string::npos);
  unsetenv("STATOR_DISABLE_FROBNICATE");
}
