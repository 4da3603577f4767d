// DEPS: stator::compiler
#include "unit/Catch.h"

#include "compiler/Options.h"

using namespace stator;
using namespace stator::compiler;

TEST_CASE("input specs follow the grammar [NAME=]SHAPExTYPE") {
  InputSpec spec = parseInputSpec("x=1x3x224x224xf32").value();
  CHECK(spec.name == "x");
  REQUIRE(spec.dims.size() == 4);
  CHECK(spec.dims[2].number == 224);
  CHECK(spec.type == ElementType::F32);

  spec = parseInputSpec("Nx?x64xi64").value();
  CHECK(spec.name.empty());
  CHECK(spec.dims[0].kind == DimSpec::Kind::Symbol);
  CHECK(spec.dims[0].symbol == "N");
  CHECK(spec.dims[1].kind == DimSpec::Kind::FromModel);

  spec = parseInputSpec("f32").value();
  CHECK(spec.dims.empty());

  spec = parseInputSpec("a=b=2x4").value();
  CHECK(spec.name == "a=b");
  CHECK(!spec.type);
}

TEST_CASE("input specs that are wrong are named") {
  for (const char *text : {"", "x=", "=1xf32", "1x3", "x=1xx3xf32", "x=1x-3xf32", "x=99999999999999999999xf32", "x=1xf31", "x=f32x1"}) {
    INFO(text);
    Result<InputSpec> spec = parseInputSpec(text);
    CHECK(!spec.ok());
    if (!spec.ok())
      CHECK(spec.status().message().find(text) != std::string::npos);
  }
}

TEST_CASE("dims are fixed or ranged") {
  SymbolSpec spec = parseSymbolSpec("N=4").value();
  CHECK((spec.name == "N" && spec.min == 4 && spec.max == 4));
  spec = parseSymbolSpec("batch size=1..64").value();
  CHECK((spec.name == "batch size" && spec.min == 1 && spec.max == 64));
  CHECK(parseSymbolSpec("N=2..").value().max == 2147483647);
  for (const char *text : {"N", "=3", "N=", "N=x", "N=4..2", "N=..4", "N=1..y"}) {
    INFO(text);
    CHECK(!parseSymbolSpec(text).ok());
  }
}

TEST_CASE("constants are lists of elements or files") {
  ConstantSpec spec = parseConstantSpec("axes=[0, -1]").value();
  CHECK(spec.name == "axes");
  CHECK(spec.elements == std::vector<std::string>{"0", "-1"});
  CHECK(parseConstantSpec("empty=").value().elements.empty());
  spec = parseConstantSpec("a=b=@folder/x=1.npy").value();
  CHECK((spec.name == "a=b" && spec.file == "folder/x=1.npy"));
  for (const char *text : {"axes", "=1", "=@x.npy", "x=@"}) {
    INFO(text);
    CHECK(!parseConstantSpec(text).ok());
  }
}

TEST_CASE("CPU levels come from the most demanding to the least") {
  CompileOptions options;
  std::vector<CpuLevel> levels = cpuLevelsOf(options).value();
  REQUIRE(levels.size() == 3);
  CHECK(levels.front().name == "x86-64-v4");
  CHECK(levels.back().name == "x86-64-v2");
  options.cpuLevels = {"v2", "x86-64-v3"};
  levels = cpuLevelsOf(options).value();
  REQUIRE(levels.size() == 2);
  CHECK(levels.front().name == "x86-64-v3");
  options.cpuLevels = {"v9"};
  CHECK(cpuLevelsOf(options).status().message() ==
        "CPU level `v9` is not known, expected one of x86-64-v2, x86-64-v3, x86-64-v4");
  options.cpuLevels.clear();
  options.processor = "host";
  CHECK(cpuLevelsOf(options).value().size() == 1);
  options.processor = "z80";
  CHECK(cpuLevelsOf(options).status().code() == StatusCode::Unsupported);
}

TEST_CASE("options are checked before any file is read") {
  CompileOptions options;
  CHECK(validate(options).message() == "no output file is given");
  options.output = "m.stator";
  CHECK(validate(options).ok());
  options.stopAfter = "fuse";
  CHECK(validate(options).message() ==
        "--stop-after names `fuse`, expected one of import, graph, differentiate, optimise, plan, codegen, artifact");
  options.stopAfter = "graph";
  options.startFrom = "plan";
  CHECK(validate(options).message() == "--start-from names `plan`, which comes after `graph`");
  options.stopAfter.clear();
  options.startFrom = "artifact";
  CHECK(!validate(options).ok());
  options.startFrom.clear();
  options.library = "mkl";
  CHECK(validate(options).message() == "library `mkl` is not known, expected none, onednn or auto");
}
