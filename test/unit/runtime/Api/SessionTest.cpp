// DEPS: stator::stator stator::test::runtime
#include "test/unit/Catch.h"

#include "stator/Runtime.h"
#include "test/lib/runtime/TestArtifact.h"

#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <limits>

using namespace stator;

static std::string smallPath() {
  static std::string path = test::smallArtifact().write("session.stator");
  return path;
}

static Session smallSession(const SessionOptions &options = SessionOptions()) {
  return Module::load(smallPath()).value().session(options).value();
}

static Tensor ramp(int64_t rows, int64_t columns = 3) {
  Tensor tensor(ElementType::F32, {rows, columns});
  for (int64_t i = 0; i < rows * columns; ++i)
    tensor.data<float>()[i] = static_cast<float>(i);
  return tensor;
}

static void checkProduct(const TensorView &y, int64_t rows) {
  REQUIRE(y.type() == ElementType::F32);
  REQUIRE(y.shapeVector() == std::vector<int64_t>{rows, 2});
  for (int64_t i = 0; i < rows; ++i) {
    float a = 3.f * i, b = a + 1, c = a + 2;
    CHECK(y.data<float>()[2 * i] == a * 1 + b * 3 + c * 5);
    CHECK(y.data<float>()[2 * i + 1] == a * 2 + b * 4 + c * 6);
  }
}

TEST_CASE("a module describes its methods") {
  Module module = Module::load(smallPath()).value();
  CHECK(module.cpuLevel() == "x86-64-v2");
  CHECK(module.producer() == "stator tests");
  std::vector<MethodInfo> methods = module.methods();
  REQUIRE(methods.size() == 1);
  CHECK(methods[0].name == "forward");
  REQUIRE(methods[0].inputs.size() == 1);
  CHECK(methods[0].inputs[0].name == "x");
  CHECK(methods[0].inputs[0].type == ElementType::F32);
  REQUIRE(methods[0].inputs[0].dims.size() == 2);
  CHECK(methods[0].inputs[0].dims[0].text == "N");
  CHECK(methods[0].inputs[0].dims[0].size == -1);
  CHECK(methods[0].inputs[0].dims[0].minimum == 1);
  CHECK(methods[0].inputs[0].dims[0].maximum == 64);
  CHECK(methods[0].inputs[0].dims[1].size == 3);
  std::vector<ParameterInfo> parameters = module.parameters();
  REQUIRE(parameters.size() == 1);
  CHECK(parameters[0].name == "w");
  CHECK(parameters[0].view.shapeVector() == std::vector<int64_t>{3, 2});
  CHECK(parameters[0].view.data<float>()[5] == 6);
}

TEST_CASE("one artifact runs at several sizes") {
  Session session = smallSession();
  for (int round = 0; round < 2; ++round)
    for (int64_t rows : {5, 1, 64, 2, 17}) {
      Tensor x = ramp(rows);
      Outputs outputs = session.run("forward", {x}).value();
      REQUIRE(outputs.size() == 1);
      checkProduct(outputs[0], rows);
    }
}

TEST_CASE("more shapes than the cache holds") {
  Session session = smallSession(SessionOptions().shapeCache(2));
  for (int64_t rows : {1, 2, 3, 4, 1, 2, 3, 4, 4, 3}) {
    Tensor x = ramp(rows);
    checkProduct(session.run("forward", {x}).value()[0], rows);
  }
}

TEST_CASE("results can be written into the caller's tensors") {
  Session session = smallSession();
  Tensor x = ramp(4), y = Tensor::zeros(ElementType::F32, {4, 2});
  std::vector<TensorView> outputs = {y};
  Outputs results = session.run("forward", {x}, outputs).value();
  checkProduct(y.view(), 4);
  CHECK(results[0].data() == y.data());
  CHECK(outputs[0].shapeVector() == std::vector<int64_t>{4, 2});

  // A view without data asks for the session's memory; more room than needed is fine.
  outputs = {TensorView()};
  REQUIRE(session.run("forward", {x}, outputs).ok());
  checkProduct(outputs[0], 4);
  Tensor larger = Tensor::zeros(ElementType::F32, {100});
  outputs = {larger};
  REQUIRE(session.run("forward", {x}, outputs).ok());
  checkProduct(outputs[0], 4);
  CHECK(outputs[0].data() == larger.data());
}

TEST_CASE("output shapes without running") {
  Session session = smallSession();
  int64_t shape[] = {7, 3};
  std::vector<TensorView> outputs = session.outputShapes("forward", {TensorView(ElementType::F32, shape, 2, nullptr, 0)}).value();
  REQUIRE(outputs.size() == 1);
  CHECK(outputs[0].shapeVector() == std::vector<int64_t>{7, 2});
  CHECK(outputs[0].data() == nullptr);
}

static std::string failureOf(Session &session, TensorViews inputs, StatusCode code) {
  Result<Outputs> result = session.run("forward", inputs);
  REQUIRE(!result.ok());
  CHECK(result.status().code() == code);
  return result.status().message();
}

TEST_CASE("errors name what was seen and what was expected") {
  Session session = smallSession();
  Tensor x = ramp(4);
  CHECK(failureOf(session, {}, StatusCode::InvalidArgument) == "method `forward` got 0 inputs, expected 1 (`x`)");
  CHECK(failureOf(session, {x, x}, StatusCode::InvalidArgument) == "method `forward` got 2 inputs, expected 1 (`x`)");
  Tensor integers = Tensor::zeros(ElementType::I32, {4, 3});
  CHECK(failureOf(session, {integers}, StatusCode::InvalidArgument) == "input `x` has element type i32, expected f32");
  Tensor flat = Tensor::zeros(ElementType::F32, {12});
  CHECK(failureOf(session, {flat}, StatusCode::InvalidArgument) == "input `x` has rank 1 ([12]), expected 2 ([N, 3])");
  Tensor wide = ramp(4, 5);
  CHECK(failureOf(session, {wide}, StatusCode::InvalidArgument) == "input `x`: dimension 1 is 5, expected 3");
  Tensor many = ramp(65);
  CHECK(failureOf(session, {many}, StatusCode::OutOfRange) == "input `x`: dimension 0 (`N`) is 65, outside of its range, 1 to 64");
  Tensor none = ramp(0);
  CHECK(failureOf(session, {none}, StatusCode::OutOfRange) == "input `x`: dimension 0 (`N`) is 0, outside of its range, 1 to 64");
  int64_t shape[] = {4, 3};
  CHECK(failureOf(session, {TensorView(ElementType::F32, shape, 2, x.data(), 40)}, StatusCode::InvalidArgument) ==
        "input `x` has 40 bytes, expected 48 bytes for [4, 3]");
  CHECK(failureOf(session, {TensorView(ElementType::F32, shape, 2, nullptr, 48)}, StatusCode::InvalidArgument) ==
        "input `x` has no data, expected 48 bytes for [4, 3]");
  CHECK(failureOf(session, {TensorView(ElementType::F32, shape, 2, static_cast<char *>(x.data()) + 1, 48)}, StatusCode::InvalidArgument) ==
        "input `x` is not aligned to its element type");
  int64_t negative[] = {-4, 3};
  CHECK(failureOf(session, {TensorView(ElementType::F32, negative, 2, x.data(), 48)}, StatusCode::InvalidArgument) ==
        "input `x`: dimension 0 is -4");
  int64_t huge[] = {std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::max()};
  CHECK(failureOf(session, {TensorView(ElementType::F32, huge, 2, x.data(), 48)}, StatusCode::InvalidArgument).find("is too large") !=
        std::string::npos);
  CHECK(session.run("backward", {x}).status().message() == "the module has no method `backward`");
  checkProduct(session.run("forward", {x}).value()[0], 4);
}

TEST_CASE("outputs that do not fit are refused") {
  Session session = smallSession();
  Tensor x = ramp(4);
  auto failure = [&](std::vector<TensorView> outputs) {
    Result<Outputs> result = session.run("forward", {x}, outputs);
    REQUIRE(!result.ok());
    return result.status().message();
  };
  Tensor small = Tensor::zeros(ElementType::F32, {7}), integers = Tensor::zeros(ElementType::I32, {8});
  CHECK(failure({small}) == "output `y` has room for 28 bytes, expected 32");
  CHECK(failure({integers}) == "output `y` has element type i32, expected f32");
  CHECK(failure({small, small}) == "method `forward` got room for 2 outputs, expected 1");
  CHECK(failure({x}) == "output `y` overlaps input `x`");
}

TEST_CASE("a result must be copied before it becomes an input") {
  // Like a decoder that feeds its own output back.
  test::TestArtifact artifact;
  uint32_t add = artifact.kernel("add", 3, 1);
  test::TestMethod forward;
  forward.symbol("N", 0, 100, 0, 0);
  uint32_t x = forward.input("x", ElementType::F32, {"N"}), y = forward.output("y", ElementType::F32, {"N"});
  forward.add(forward.kernel(add, {x, x}, {y}, {"N"}));
  artifact.add(std::move(forward));
  Session session = Module::load(artifact.write("feedback.stator")).value().session().value();
  Tensor x0 = ramp(3, 1);
  TensorView first(ElementType::F32, x0.shape().data(), 1, x0.data(), 12);
  Outputs outputs = session.run("forward", {first}).value();
  TensorView again = outputs[0];
  Result<Outputs> result = session.run("forward", {again});
  REQUIRE(!result.ok());
  CHECK(result.status().message().find("input `x` lies in the session's own memory") == 0);
  Tensor copy = Tensor::copyOf(session.run("forward", {first}).value()[0]);
  CHECK(session.run("forward", {copy}).value()[0].data<float>()[2] == 8);

  // An empty tensor has no data.
  int64_t empty[] = {0};
  CHECK(session.run("forward", {TensorView(ElementType::F32, empty, 1, nullptr, 0)}).value()[0].elementCount() == 0);
}

TEST_CASE("sizes that depend on each other") {
  test::TestArtifact artifact;
  uint32_t add = artifact.kernel("add", 3, 1);
  test::TestMethod forward;
  forward.symbol("N", 1, 100, 0, 0);
  forward.symbol("M", 1, 100, 2, 0);
  uint32_t a = forward.input("a", ElementType::F32, {"N"});
  uint32_t b = forward.input("b", ElementType::F32, {"2*N"});
  forward.input("c", ElementType::F32, {"M"});
  uint32_t y = forward.output("y", ElementType::F32, {"N"});
  uint32_t head = forward.view(b, ElementType::F32, {"N"}, "4*N");
  forward.guard("M*M", "N + 6");
  forward.add(forward.kernel(add, {a, head}, {y}, {"N"}));
  artifact.add(std::move(forward));
  Session session = Module::load(artifact.write("guards.stator")).value().session().value();
  Tensor three = ramp(3, 1), six = ramp(6, 1), five = ramp(5, 1);
  auto flat = [](const Tensor &tensor) {
    return TensorView(ElementType::F32, tensor.shape().data(), 1, tensor.data<float>() ? const_cast<void *>(tensor.data()) : nullptr,
                      tensor.sizeBytes());
  };
  CHECK(session.run("forward", {flat(three), flat(six), flat(three)}).value()[0].data<float>()[2] == 2 + 5);
  CHECK(session.run("forward", {flat(three), flat(five), flat(three)}).status().message() ==
        "input `b`: dimension 0 is 5, expected `2*N` = 6");
  CHECK(session.run("forward", {flat(three), flat(six), flat(five)}).status().message() ==
        "the inputs' sizes do not fit together: `M*M` is 25 and `N + 6` is 9, expected equal values");
}

TEST_CASE("memory can be given back") {
  Session session = smallSession();
  Tensor x = ramp(64);
  REQUIRE(session.run("forward", {x}).ok());
  CHECK(session.arenaBytes() > 0);
  REQUIRE(session.trim().ok());
  CHECK(session.arenaBytes() == 0);
  checkProduct(session.run("forward", {x}).value()[0], 64);
}

TEST_CASE("weights stay in the mapped file, shared and read-only") {
  Module module = Module::load(smallPath()).value();
  auto address = reinterpret_cast<uintptr_t>(module.parameters()[0].view.data());
  std::ifstream maps("/proc/self/maps");
  bool found = false;
  for (std::string line; std::getline(maps, line);) {
    uintptr_t begin = 0, end = 0;
    char permissions[5] = {};
    REQUIRE(std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %4s", &begin, &end, permissions) == 3);
    if (address < begin || address >= end)
      continue;
    found = true;
    CHECK(std::string(permissions).substr(0, 3) == "r--");
    CHECK(line.find("session.stator") != std::string::npos);
  }
  CHECK(found);
}

TEST_CASE("a session outlives the handle of its module") {
  auto session = std::make_unique<Session>(smallSession());
  Session moved = std::move(*session);
  session.reset();
  Tensor x = ramp(2);
  checkProduct(moved.run("forward", {x}).value()[0], 2);
}

TEST_CASE("session options") {
  Module module = Module::load(smallPath()).value();
  CHECK(module.session(SessionOptions().threads(3)).value().threads() == 3);
  CHECK(module.session().value().threads() == defaultThreads());
  CHECK(module.session(SessionOptions().threads(-1)).status().message() ==
        "a session cannot have -1 threads, expected 1 to 4096, or 0 for the default");
  CHECK(!module.session(SessionOptions().shapeCache(-1)).ok());
}

TEST_CASE("files that are no artifacts") {
  CHECK(Module::load("/nonexistent/model.stator").status().code() == StatusCode::NotFound);
  CHECK(Module::load("/").status().code() == StatusCode::InvalidFile);
  CHECK(Module::load("/dev/null").status().code() == StatusCode::InvalidFile);
  CHECK(Module::load(smallPath(), LoadOptions().cpuLevel("x86-64-v9")).status().code() == StatusCode::NotFound);
}

TEST_CASE("instructions are measured on request") {
  Session session = smallSession(SessionOptions().profile(true));
  Tensor x = ramp(4);
  for (int i = 0; i < 3; ++i)
    REQUIRE(session.run("forward", {x}).ok());
  std::vector<ProfileEntry> profile = session.profile("forward");
  REQUIRE(profile.size() == 1);
  CHECK(profile[0].calls == 3);
  CHECK(profile[0].kernel == "matmul3x2");
  CHECK(profile[0].family == "matmul");
  CHECK(smallSession().profile("forward").empty());
}

TEST_CASE("a profile knows what the steps did, and a trace when") {
  test::TestArtifact artifact;
  uint32_t add = artifact.kernel("add", 3, 1);
  test::TestMethod forward;
  forward.symbol("N", 0, 9, 0, 0);
  uint32_t x = forward.input("x", ElementType::F32, {"N"}), y = forward.output("y", ElementType::F32, {"N"});
  serialization::Instruction step = forward.kernel(add, {x, x}, {y}, {"N"});
  step.operations = forward.expression("N");
  step.bytes = forward.expression("12*N");
  forward.add(step);
  forward.add(forward.copy(x, y, "4*N"));
  artifact.add(std::move(forward));
  Module module = Module::load(artifact.write("traced.stator")).value();
  Session session = module.session(SessionOptions().profile(true).traceEvents(8)).value();
  CHECK(session.trace().empty());
  REQUIRE(session.run("forward", {Tensor::zeros(ElementType::F32, {4})}).ok());
  REQUIRE(session.run("forward", {Tensor::zeros(ElementType::F32, {2})}).ok());
  std::vector<ProfileEntry> profile = session.profile("forward");
  CHECK((profile[0].operations == 6 && profile[0].bytes == 72));
  CHECK((profile[1].operations == 0 && profile[1].bytes == 0));
  std::vector<TraceEvent> events = session.trace();
  REQUIRE(events.size() == 2);
  CHECK((events[0].instruction == 0 && events[0].operations == 2 && events[0].bytes == 24 && events[0].workers == 1));
  CHECK(events[0].begin_nanoseconds <= events[0].end_nanoseconds);
  CHECK((events[1].instruction == 1 && events[0].end_nanoseconds <= events[1].begin_nanoseconds));
  // The first events are kept; without a profile there are none.
  Session brief = module.session(SessionOptions().profile(true).traceEvents(1)).value();
  REQUIRE(brief.run("forward", {Tensor::zeros(ElementType::F32, {4})}).ok());
  CHECK(brief.trace().at(0).instruction == 0);
  Session plain = module.session(SessionOptions().traceEvents(8)).value();
  REQUIRE(plain.run("forward", {Tensor::zeros(ElementType::F32, {4})}).ok());
  CHECK(plain.trace().empty());
}
