// DEPS: stator::stator stator::test::runtime
// What plans can do beyond a list of kernels: views and copies, branches and loops, sizes as data, state, scratch, barriers.
#include "test/unit/Catch.h"

#include "stator/Runtime.h"
#include "test/lib/runtime/TestArtifact.h"

#include <cstring>
#include <fstream>
#include <limits>

using namespace stator;
using test::TestArtifact;
using test::TestMethod;

static Session open(TestArtifact &artifact, const std::string &name, const SessionOptions &options = SessionOptions()) {
  return Module::load(artifact.write(name)).value().session(options).value();
}

static Tensor vectorOf(const std::vector<float> &values) {
  Tensor tensor(ElementType::F32, {static_cast<int64_t>(values.size())});
  if (!values.empty())
    std::memcpy(tensor.data(), values.data(), tensor.sizeBytes());
  return tensor;
}
static std::vector<float> floats(const TensorView &view) {
  return std::vector<float>(view.data<float>(), view.data<float>() + view.elementCount());
}

TEST_CASE("copies join two inputs") {
  TestArtifact artifact;
  TestMethod forward;
  forward.symbol("N", 0, 9, 0, 0);
  forward.symbol("M", 0, 9, 1, 0);
  uint32_t a = forward.input("a", ElementType::F32, {"N"}), b = forward.input("b", ElementType::F32, {"M"});
  uint32_t y = forward.output("y", ElementType::F32, {"M + N"});
  forward.add(forward.copy(a, y, "4*N"));
  forward.add(forward.copy(b, y, "4*M", "0", "4*N"));
  artifact.add(std::move(forward));
  // No kernels at all.
  Session session = open(artifact, "copies.stator");
  Tensor one = vectorOf({1, 2}), two = vectorOf({3, 4, 5}), none = vectorOf({});
  CHECK(floats(session.run("forward", {one, two}).value()[0]) == std::vector<float>{1, 2, 3, 4, 5});
  CHECK(floats(session.run("forward", {none, two}).value()[0]) == std::vector<float>{3, 4, 5});
}

TEST_CASE("sizes become data") {
  TestArtifact artifact;
  TestMethod forward;
  forward.symbol("N", 0, 1000, 0, 0);
  forward.input("x", ElementType::F32, {"N"});
  uint32_t wide = forward.output("wide", ElementType::I64, {"2"}), narrow = forward.output("narrow", ElementType::I32, {"1"});
  forward.add(forward.shape(wide, {"N", "3*N + 1"}));
  forward.add(forward.shape(narrow, {"2*N"}));
  artifact.add(std::move(forward));
  Session session = open(artifact, "shape.stator");
  Tensor x = Tensor::zeros(ElementType::F32, {5});
  Outputs outputs = session.run("forward", {x}).value();
  CHECK(outputs[0].data<int64_t>()[0] == 5);
  CHECK(outputs[0].data<int64_t>()[1] == 16);
  CHECK(outputs[1].data<int32_t>()[0] == 10);
}

TEST_CASE("a branch runs one of its sides") {
  TestArtifact artifact;
  uint32_t add = artifact.kernel("add", 3, 1);
  TestMethod forward;
  uint32_t c = forward.input("c", ElementType::I1, {}), x = forward.input("x", ElementType::F32, {"2"});
  uint32_t y = forward.output("y", ElementType::F32, {"2"});
  forward.add(forward.branch(c, {forward.kernel(add, {x, x}, {y}, {"2"})}, {forward.copy(x, y, "8")}));
  artifact.add(std::move(forward));
  Session session = open(artifact, "if.stator", SessionOptions().profile(true));
  Tensor x0 = vectorOf({1, 2}), condition = Tensor::zeros(ElementType::I1, {});
  CHECK(floats(session.run("forward", {condition, x0}).value()[0]) == std::vector<float>{1, 2});
  *static_cast<unsigned char *>(condition.data()) = 1;
  CHECK(floats(session.run("forward", {condition, x0}).value()[0]) == std::vector<float>{2, 4});
  CHECK(floats(session.run("forward", {condition, x0}).value()[0]) == std::vector<float>{2, 4});
  std::vector<ProfileEntry> profile = session.profile("forward");
  REQUIRE(profile.size() == 3);
  CHECK(profile[0].kernel == "if");
  CHECK(profile[0].calls == 3);
  CHECK(profile[1].kernel == "add");
  CHECK(profile[1].calls == 2);
  CHECK(profile[2].kernel == "copy");
  CHECK(profile[2].calls == 1);
}

TEST_CASE("a loop runs while its condition holds") {
  // i = start; while (i < 10) i = i + 3
  TestArtifact artifact;
  uint32_t less = artifact.kernel("less10", 2, 0), plus = artifact.kernel("plus3", 2, 0);
  TestMethod forward;
  uint32_t start = forward.input("start", ElementType::I64, {}), result = forward.output("result", ElementType::I64, {});
  uint32_t i = forward.arena(ElementType::I64, {}, "0"), next = forward.arena(ElementType::I64, {}, "64");
  uint32_t condition = forward.arena(ElementType::I1, {}, "128");
  forward.arenaSize("192");
  forward.add(forward.copy(start, i, "8"));
  forward.add(forward.loop(condition, {forward.kernel(less, {i}, {condition}, {})},
                           {forward.kernel(plus, {i}, {next}, {}), forward.copy(next, i, "8")}));
  forward.add(forward.copy(i, result, "8"));
  artifact.add(std::move(forward));
  Session session = open(artifact, "loop.stator");
  for (auto [from, to] : {std::pair<int64_t, int64_t>{0, 12}, {10, 10}, {7, 10}, {-5, 10}, {50, 50}}) {
    Tensor begin = Tensor::zeros(ElementType::I64, {});
    *begin.data<int64_t>() = from;
    CHECK(*session.run("forward", {begin}).value()[0].data<int64_t>() == to);
  }
}

static Session mirrorSession(int threads) {
  TestArtifact artifact;
  uint32_t mirror = artifact.kernel("mirror", 3, 1);
  TestMethod forward;
  forward.symbol("N", 1, 1000000, 0, 0);
  uint32_t x = forward.input("x", ElementType::F32, {"N"});
  uint32_t twice = forward.arena(ElementType::F32, {"N"}, "0"), y = forward.output("y", ElementType::F32, {"N"});
  forward.arenaSize("4*N");
  forward.add(forward.kernel(mirror, {x}, {twice, y}, {"N"}));
  artifact.add(std::move(forward));
  return open(artifact, "mirror.stator", SessionOptions().threads(threads));
}

TEST_CASE("workers see what others wrote before a barrier") {
  for (int threads : {1, 2, 4}) {
    Session session = mirrorSession(threads);
    for (int64_t n : {1, 5, 1000, 300000}) {
      Tensor x(ElementType::F32, {n});
      for (int64_t i = 0; i < n; ++i)
        x.data<float>()[i] = static_cast<float>(i);
      for (int round = 0; round < 20; ++round) {
        TensorView y = session.run("forward", {x}).value()[0];
        bool good = true;
        for (int64_t i = 0; i < n; ++i)
          good &= y.data<float>()[i] == 2.f * (n - 1 - i);
        REQUIRE(good);
      }
    }
  }
}

TEST_CASE("each worker has scratch memory of its own") {
  TestArtifact artifact;
  uint32_t report = artifact.kernel("report", 2, 2);
  TestMethod forward;
  forward.symbol("N", 1, 1000000, 0, 0);
  uint32_t x = forward.input("x", ElementType::F32, {"N"}), y = forward.output("y", ElementType::I64, {"9"});
  forward.scratchSize("100");
  forward.add(forward.kernel(report, {x}, {y}, {"9", "100"}, "matmul"));
  artifact.add(std::move(forward));
  Session session = open(artifact, "scratch.stator", SessionOptions().threads(4));
  Tensor large = Tensor::zeros(ElementType::F32, {100000}), small = Tensor::zeros(ElementType::F32, {10});
  std::vector<TensorView> outputs;
  Tensor y0 = Tensor::zeros(ElementType::I64, {9});
  outputs = {y0};
  REQUIRE(session.run("forward", {large}, outputs).ok());
  int64_t workers = y0.data<int64_t>()[0];
  CHECK(workers >= 1);
  CHECK(workers <= 4);
  for (int64_t i = 0; i < workers; ++i)
    CHECK(y0.data<int64_t>()[1 + i] == 1);
  // Little work is not worth waking anybody.
  outputs = {y0};
  REQUIRE(session.run("forward", {small}, outputs).ok());
  CHECK(y0.data<int64_t>()[0] == 1);
}

static TestArtifact accumulator() {
  TestArtifact artifact;
  uint32_t accumulate = artifact.kernel("accumulate", 3, 1);
  uint32_t total = artifact.parameter("total", {3}, {100, 200, 300}, /*isMutable=*/true);
  TestMethod forward;
  uint32_t x = forward.input("x", ElementType::F32, {"3"}), y = forward.output("y", ElementType::F32, {"3"});
  uint32_t state = forward.state(total, ElementType::F32, {"3"});
  forward.add(forward.kernel(accumulate, {state, x}, {state}, {"3"}));
  forward.add(forward.copy(state, y, "12"));
  artifact.add(std::move(forward));
  return artifact;
}

TEST_CASE("state is kept from run to run, by session") {
  TestArtifact artifact = accumulator();
  Module module = Module::load(artifact.write("state.stator")).value();
  Session session = module.session().value(), other = module.session().value();
  Tensor x = vectorOf({1, 2, 3});
  CHECK(floats(session.run("forward", {x}).value()[0]) == std::vector<float>{101, 202, 303});
  CHECK(floats(session.run("forward", {x}).value()[0]) == std::vector<float>{102, 204, 306});
  CHECK(floats(other.run("forward", {x}).value()[0]) == std::vector<float>{101, 202, 303});
  CHECK(session.stateNames() == std::vector<std::string>{"total"});
  CHECK(floats(session.state("total").value()) == std::vector<float>{102, 204, 306});
  REQUIRE(session.resetState().ok());
  CHECK(floats(session.run("forward", {x}).value()[0]) == std::vector<float>{101, 202, 303});
  session.state("total").value().data<float>()[0] = 0;
  CHECK(floats(session.run("forward", {x}).value()[0]) == std::vector<float>{1, 204, 306});
  CHECK(session.state("absent").status().code() == StatusCode::NotFound);
}

TEST_CASE("state is saved and loaded") {
  TestArtifact artifact = accumulator();
  Module module = Module::load(artifact.write("saved.stator")).value();
  Session session = module.session().value(), other = module.session().value();
  Tensor x = vectorOf({1, 2, 3});
  REQUIRE(session.run("forward", {x}).ok());
  std::string path = test::temporaryPath("state.npz");
  REQUIRE(session.saveState(path).message() == "");
  REQUIRE(other.loadState(path).message() == "");
  CHECK(floats(other.run("forward", {x}).value()[0]) == std::vector<float>{102, 204, 306});

  CHECK(!session.saveState("/nonexistent/state.npz").ok());
  CHECK(session.loadState("/nonexistent/state.npz").code() == StatusCode::NotFound);
  std::ofstream(test::temporaryPath("bad.npz")) << "no zip";
  CHECK(session.loadState(test::temporaryPath("bad.npz")).code() == StatusCode::InvalidFile);

  TestArtifact wider;
  wider.parameter("total", {4}, {1, 2, 3, 4}, true);
  TestMethod forward;
  wider.add(std::move(forward));
  Session different = open(wider, "wider.stator");
  CHECK(different.loadState(path).message() == "`" + path + "`: state `total` is f32 [3], expected f32 [4]");
  CHECK(different.state("total").value().data<float>()[3] == 4);
}

TEST_CASE("denormals are kept unless flushing is asked for") {
  TestArtifact artifact;
  uint32_t half = artifact.kernel("half", 2, 1);
  TestMethod forward;
  forward.symbol("N", 1, 1000000, 0, 0);
  uint32_t x = forward.input("x", ElementType::F32, {"N"}), y = forward.output("y", ElementType::F32, {"N"});
  forward.add(forward.kernel(half, {x}, {y}, {"N"}));
  artifact.add(std::move(forward));
  Module module = Module::load(artifact.write("denormal.stator")).value();
  int64_t n = 200000; // Enough for every worker.
  Tensor x0(ElementType::F32, {n});
  for (int64_t i = 0; i < n; ++i)
    x0.data<float>()[i] = std::numeric_limits<float>::min();
  for (bool flush : {false, true}) {
    Session session = module.session(SessionOptions().threads(2).flushDenormals(flush)).value();
    std::vector<float> result = floats(session.run("forward", {x0}).value()[0]);
    bool good = true;
    for (float value : result)
      good &= (value == 0) == flush;
    CHECK(good);
  }
  volatile float smallest = std::numeric_limits<float>::denorm_min();
  CHECK(smallest * 2 > 0); // The caller's mode is as before.
}

TEST_CASE("plans whose sizes leave their memory are refused when a shape shows it") {
  TestArtifact artifact;
  TestMethod forward;
  forward.symbol("N", 0, 1000, 0, 0);
  uint32_t x = forward.input("x", ElementType::F32, {"N"}), y = forward.output("y", ElementType::F32, {"N"});
  uint32_t temporary = forward.arena(ElementType::F32, {"N"}, "0");
  forward.arenaSize("floordiv(N, 2) + 16"); // Too small from N = 5 on.
  forward.add(forward.copy(x, temporary, "4*N"));
  forward.add(forward.copy(temporary, y, "4*N"));
  artifact.add(std::move(forward));
  Session session = open(artifact, "outside.stator");
  Tensor four = vectorOf({1, 2, 3, 4}), hundred = Tensor::zeros(ElementType::F32, {100});
  CHECK(session.run("forward", {four}).ok());
  Status status = session.run("forward", {hundred}).status();
  CHECK(status.code() == StatusCode::InvalidFile);
  CHECK(status.message() == "the plan of method `forward` is damaged: buffer 2 has bytes 0 to 0 + 400 of 66, its tensor needs 400");
  CHECK(session.run("forward", {four}).ok());
}
