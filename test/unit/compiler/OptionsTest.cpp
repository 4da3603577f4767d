// DEPS: stator::compiler
#include "unit/Catch.h"

#include "compiler/Import/InputSpecs.h"
#include "compiler/Options.h"
#include "serialization/Numpy/Npy.h"
#include "test/unit/serialization/TemporaryFolder.h"

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

  spec = parseInputSpec("xs.0=?batch[1..64]x3x?h[32..]x?wx?[2..8]x?xf16").value();
  CHECK(spec.name == "xs.0");
  REQUIRE(spec.dims.size() == 6);
  CHECK((spec.dims[0].symbol == "batch" && spec.dims[0].min == 1 && spec.dims[0].max == 64));
  CHECK((spec.dims[2].symbol == "h" && spec.dims[2].min == 32 && spec.dims[2].max == 2147483647));
  CHECK((spec.dims[3].symbol == "w" && !spec.dims[3].min));
  CHECK((spec.dims[4].kind == DimSpec::Kind::FromModel && spec.dims[4].max == 8));
  CHECK((spec.dims[5].kind == DimSpec::Kind::FromModel && !spec.dims[5].min));
  CHECK(spec.type == ElementType::F16);
}

TEST_CASE("names of inputs may hold anything") {
  for (const char *name : {"x", "xs.0", "cfg[1x2].m", "a=b", "1x3xf32", "?n", "x[1..2]", "images:0/x", "é"}) {
    INFO(name);
    InputSpec spec = parseInputSpec(std::string(name) + "=1x?nxf32").value();
    CHECK(spec.name == name);
    CHECK(spec.dims.size() == 2);
  }
}

TEST_CASE("names of sizes may hold an x where only one reading makes sense") {
  auto names = [](const char *text) {
    std::string all;
    for (const DimSpec &dim : parseInputSpec(text).value().dims)
      all += (all.empty() ? "" : ",") + (dim.kind == DimSpec::Kind::Number ? std::to_string(dim.number) : dim.symbol);
    return all;
  };
  CHECK(names("?wxf32") == "w");
  CHECK(names("?max_lenx3xf32") == "max_len,3");
  CHECK(names("?maxxf32") == "max");
  CHECK(names("?boxesx4xf32") == "boxes,4");
  CHECK(names("?indexx?xxi64") == "index,x");
  CHECK(names("?ax3xf32") == "a,3");
  CHECK(names("?ax3[1..4]xf32") == "ax3");
  // Deep in wrong readings the search stays linear.
  CHECK(!parseInputSpec("?" + std::string(5000, 'x') + "xf33").ok());
}

TEST_CASE("shapes come from files") {
  test::TemporaryFolder folder;
  std::vector<int64_t> shape = {2, 0, 5};
  std::string path = folder.path("a=@x.npy");
  REQUIRE(serialization::writeNpy(path, serialization::NpyView(ElementType::I64, shape, {})).ok());
  InputSpec spec = parseInputSpec("ids=@" + path).value();
  CHECK(spec.name == "ids");
  REQUIRE(spec.dims.size() == 3);
  CHECK((spec.dims[2].kind == DimSpec::Kind::Number && spec.dims[2].number == 5));
  CHECK(spec.type == ElementType::I64);
  CHECK(parseInputSpec("@" + path).value().name.empty());
  CHECK(parseInputSpec("x=@" + folder.path("absent.npy")).status().code() == StatusCode::NotFound);
  CHECK(parseInputSpec("@").status().message() == "input `@`: no file is given, expected [NAME=]SHAPExTYPE such as x=1x3x224x224xf32, or [NAME=]@FILE.npy");
  CHECK(!parseInputSpec("=@" + path).ok());
  serialization::NamedNpyView arrays[] = {{"xs.0", {ElementType::I64, shape, {}}}, {"y", {ElementType::F32, shape, {}}}};
  REQUIRE(serialization::writeNpz(folder.path("all.npz"), arrays).ok());
  CompileOptions options;
  options.inputs = {"@" + folder.path("all.npz")};
  std::vector<InputSpec> specs = importOptionsOf(options).value().inputs;
  REQUIRE(specs.size() == 2);
  CHECK((specs[0].name == "xs.0" && specs[1].name == "y" && specs[1].type == ElementType::F32));
}

TEST_CASE("options that contradict each other are refused") {
  auto message = [](std::vector<std::string> inputs, std::vector<std::string> dims, std::vector<std::string> constants = {}) {
    CompileOptions options;
    options.inputs = inputs;
    options.dims = dims;
    options.constants = constants;
    return importOptionsOf(options).status().message();
  };
  CHECK(message({"?n[1..8]xf32", "?n[2..8]xf32"}, {}) == "size `n` is given as 1..8 and as 2..8");
  CHECK(message({"?n[1..8]xf32", "?n[1..8]x?nxf32"}, {}).empty());
  CHECK(message({"?n[1..8]xf32"}, {"n=9"}) == "size `n` is given as 1..8 and as 9");
  CHECK(message({"?n[1..8]xf32"}, {"n=8"}).empty());
  CHECK(message({}, {"n=8", "n=1..8"}).empty());
  CHECK(message({}, {"n=8", "n=9"}) == "size `n` is given as 8 and as 9");
  CHECK(message({}, {}, {"n=8", "n=9"}) == "two --const options are for `n`");
  CompileOptions options;
  options.inputs = {"?n[1..8]x?mxf32"};
  options.dims = {"n=4"};
  options.methods = {"step", "forward", "step"};
  ImportOptions read = importOptionsOf(options).value();
  REQUIRE(read.symbols.size() == 1);
  CHECK((read.symbols[0].name == "n" && read.symbols[0].min == 4 && read.symbols[0].max == 4));
  CHECK(read.methods == std::vector<std::string>{"step", "forward"});
  options.methods = {""};
  CHECK(importOptionsOf(options).status().message() == "a --method has no name");
}

TEST_CASE("specs go to inputs by name first, then in order") {
  ImportOptions options;
  options.inputs = {parseInputSpec("1xf32").value(), parseInputSpec("b=2xf32").value(), parseInputSpec("3xf32").value()};
  std::vector<MethodInputs> methods = {{"forward", {"a", "b", "c"}}, {"step", {"c", "b"}}};
  auto specs = assignInputSpecs(options, methods).value();
  CHECK(specs[0] == std::vector<const InputSpec *>{&options.inputs[0], &options.inputs[1], &options.inputs[2]});
  CHECK(specs[1] == std::vector<const InputSpec *>{nullptr, &options.inputs[1]});
  auto message = [&](const char *text) {
    ImportOptions more = options;
    more.inputs.push_back(parseInputSpec(text).value());
    return assignInputSpecs(more, methods).status().message();
  };
  CHECK(message("b=4xf32") == "two --input options are for `b`");
  CHECK(message("d=4xf32") == "there is no tensor input `d`; the inputs are `a`, `b`, `c`");
  CHECK(message("4xf32") == "more --input options than tensor inputs of `forward`, which are `a`, `b`, `c`");
}

TEST_CASE("input specs that are wrong are named") {
  for (const char *text : {"", "x=", "=1xf32", "1x3", "x=1xx3xf32", "x=1x-3xf32", "x=99999999999999999999xf32", "x=1xf31", "x=f32x1", "xf32",
                           "x=1x", "x=?3xf32", "x=?n[4..2]xf32", "x=?n[..2]xf32", "x=?n[1..2", "x=?n[3]xf32", "x=?n[1..2]3xf32", "x=?n[-1..2]xf32",
                           "x=?-xf32", "x=nxf32"}) {
    INFO(text);
    Result<InputSpec> spec = parseInputSpec(text);
    CHECK(!spec.ok());
    if (!spec.ok())
      CHECK(spec.status().message().find(text) != std::string::npos);
  }
}

TEST_CASE("the error is about what was meant") {
  auto message = [](const char *text) {
    std::string all = parseInputSpec(text).status().message();
    return all.substr(0, all.find(", expected"));
  };
  CHECK(message("x=?boxesx4xf33") == "input `x=?boxesx4xf33`: `f33` is neither a size nor an element type");
  CHECK(message("x=-1x4xf32") == "input `x=-1x4xf32`: `-1` is not a size");
  CHECK(message("xf32") == "input `xf32`: a size is missing before `x`; a scalar is only its type");
  CHECK(message("x=1x3x") == "input `x=1x3x`: the element type is missing after the last `x`");
  CHECK(message("?n[4..2]xf32") == "input `?n[4..2]xf32`: size `?n[4..2]`: the lower bound is above the upper one");
  CHECK(message("?n[4]xf32") == "input `?n[4]xf32`: size `?n[4]`: `4` is not a range");
  CHECK(message("?n[1..2xf32") == "input `?n[1..2xf32`: the range after `?n` has no end");
  CHECK(message("?n[1..2]3xf32") == "input `?n[1..2]3xf32`: `3xf32` follows a range");
  CHECK(message("?3xf32") == "input `?3xf32`: `?3xf32` is no size: a name begins with a letter");
  CHECK(message("1x3") == "input `1x3`: neither a name nor an element type is given");
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

TEST_CASE("constants that are no tensors are kept as text") {
  auto split = [](const char *text) {
    ConstantSpec spec = parseConstantSpec(text).value();
    return spec.name + " | " + spec.text;
  };
  CHECK(split("mode=nearest") == "mode | nearest");
  CHECK(split("mode=\"a=1\"") == "mode | \"a=1\"");
  CHECK(split("cfg.opts={\"a\": [1, 2]}") == "cfg.opts | {\"a\": [1, 2]}");
  CHECK(split("pair=(4, 0.5)") == "pair | (4, 0.5)");
  CHECK(split("flag=True") == "flag | True");
  CHECK(split("a=b=-1e3") == "a=b | -1e3");
  CHECK(split("text=x=y") == "text | x=y");
  CHECK(split("text=") == "text | ");
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
  options.processor = "v3";
  CHECK(cpuLevelsOf(options).value().front().name == "x86-64-v3");
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
