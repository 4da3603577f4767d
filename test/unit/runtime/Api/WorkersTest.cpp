// DEPS: stator::stator stator::test::runtime
// How many workers a kernel gets, and that results do not depend on it.
#include "test/unit/Catch.h"

#include "stator/Runtime.h"
#include "test/lib/runtime/TestArtifact.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>

using namespace stator;

/// x + x, which states the given cost.
static std::string pathWithCost(const std::string &operations, const std::string &bytes, const std::string &family) {
  static int number = 0;
  test::TestArtifact artifact;
  uint32_t add = artifact.kernel("add", 3, 1);
  test::TestMethod forward;
  forward.symbol("N", 1, 1000000, 0, 0);
  uint32_t x = forward.input("x", ElementType::F32, {"N"}), y = forward.output("y", ElementType::F32, {"N"});
  serialization::Instruction step = forward.kernel(add, {x, x}, {y}, {"N"}, family);
  if (!operations.empty())
    step.operations = forward.expression(operations);
  if (!bytes.empty())
    step.bytes = forward.expression(bytes);
  forward.add(step);
  artifact.add(std::move(forward));
  return artifact.write("workers" + std::to_string(number++) + ".stator");
}

static int workersOf(Session &session, int64_t n) {
  REQUIRE(session.run("forward", {Tensor::zeros(ElementType::F32, {n})}).ok());
  std::vector<TraceEvent> events = session.trace();
  REQUIRE(events.size() == 1);
  return events[0].workers;
}

static std::vector<int> workers(const std::string &operations, const std::string &bytes, const std::string &family,
                                const std::vector<int64_t> &sizes) {
  Module module = Module::load(pathWithCost(operations, bytes, family)).value();
  Session session = module.session(SessionOptions().threads(4).profile(true).traceEvents(4)).value();
  std::vector<int> result;
  for (int64_t n : sizes)
    result.push_back(workersOf(session, n));
  return result;
}

TEST_CASE("workers are given by the stated cost of a kernel at its sizes") {
  using Counts = std::vector<int>;
  // 64000 operations, or 64000 bytes, for each worker.
  CHECK(workers("64000*N", "0", "conv", {1, 2, 3, 100}) == Counts{1, 2, 3, 4});
  CHECK(workers("0", "64000*N", "map", {1, 2, 3, 100}) == Counts{1, 2, 3, 4});
  CHECK(workers("32000*N", "32000*N", "matmul", {1, 2, 3, 100}) == Counts{1, 2, 3, 4});
  CHECK(workers("", "64000*N", "sort", {1}) == Counts{4});
  // Without a statement: the bytes of the buffers.
  CHECK(workers("", "", "map", {1, 5000, 11000, 100000}) == Counts{1, 1, 2, 4});
}

TEST_CASE("small recurrent layers get as many workers as there are rows, and large steps are shared") {
  auto workersOfLayer = [](const std::string &operations, int64_t steps, int64_t batch) {
    test::TestArtifact artifact;
    uint32_t add = artifact.kernel("add", 3, 1);
    test::TestMethod forward;
    forward.symbol("T", 0, 1000, 0, 0);
    forward.symbol("B", 0, 1000, 0, 1);
    uint32_t x = forward.input("x", ElementType::F32, {"T", "B", "4"}), y = forward.output("y", ElementType::F32, {"T", "1", "B", "4"});
    serialization::Instruction step = forward.kernel(add, {x, x}, {y}, {"4*T*B"}, "recurrent");
    step.operations = forward.expression(operations);
    forward.add(step);
    artifact.add(std::move(forward));
    Session session = Module::load(artifact.write("layer.stator"))
                          .value()
                          .session(SessionOptions().threads(4).profile(true).traceEvents(4))
                          .value();
    REQUIRE(session.run("forward", {Tensor::zeros(ElementType::F32, {steps, batch, 4})}).ok());
    return session.trace()[0].workers;
  };
  CHECK(workersOfLayer("10000*T*B", 1000, 1) == 1);
  CHECK(workersOfLayer("10000*T*B", 1000, 3) == 3);
  CHECK(workersOfLayer("10000*T*B", 1000, 12) == 4);
  CHECK(workersOfLayer("10000*T*B", 2, 12) == 1);
  CHECK(workersOfLayer("262144*T*B", 10, 1) == 2);
  CHECK(workersOfLayer("4000000*T*B", 10, 1) == 4);
  CHECK(workersOfLayer("4000000*T*B", 0, 3) == 1);
}

TEST_CASE("results do not depend on the number of threads, also when there are more than processors") {
  Module module = Module::load(pathWithCost("1000*N", "12*N", "map")).value();
  const int64_t n = 100003;
  Tensor x(ElementType::F32, {n});
  for (int64_t i = 0; i < n; ++i)
    x.data<float>()[i] = 0.1f * static_cast<float>(i % 1001);
  std::vector<float> expected(n);
  for (int64_t i = 0; i < n; ++i)
    expected[i] = x.data<float>()[i] + x.data<float>()[i];
  for (int threads : {1, 2, 3, 8, 33}) {
    Session session = module.session(SessionOptions().threads(threads)).value();
    for (int i = 0; i < 10; ++i) {
      Result<Outputs> outputs = session.run("forward", {x});
      REQUIRE(outputs.ok());
      CHECK(std::memcmp(outputs.value()[0].data<float>(), expected.data(), n * sizeof(float)) == 0);
    }
  }
}

TEST_CASE("many sessions share the threads") {
  Module module = Module::load(pathWithCost("1000*N", "12*N", "map")).value();
  std::atomic<int> good{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 8; ++caller)
    callers.emplace_back([&, caller] {
      Session session = module.session(SessionOptions().threads(1 + caller % 4)).value();
      Tensor x(ElementType::F32, {1000 + caller});
      for (int64_t i = 0; i < 1000 + caller; ++i)
        x.data<float>()[i] = static_cast<float>(i);
      for (int i = 0; i < 100; ++i) {
        Result<Outputs> outputs = session.run("forward", {x});
        bool same = outputs.ok();
        for (int64_t k = 0; same && k < 1000 + caller; ++k)
          same = outputs.value()[0].data<float>()[k] == 2 * static_cast<float>(k);
        good += same;
      }
    });
  for (std::thread &caller : callers)
    caller.join();
  CHECK(good == 800);
}

TEST_CASE("a number of threads in the environment that is none is an error") {
  Module module = Module::load(pathWithCost("", "", "map")).value();
  for (const char *bad : {"abc", "0", "-1", "5000", "2x"}) {
    setenv("STATOR_NUM_THREADS", bad, 1);
    CHECK(module.session().status().code() == StatusCode::InvalidArgument);
    CHECK(module.session().status().message() ==
          "the environment variable STATOR_NUM_THREADS is `" + std::string(bad) + "`, expected a number from 1 to 4096");
    // It does not matter when the program says what it wants.
    CHECK(module.session(SessionOptions().threads(1)).ok());
  }
  for (const char *good : {"", "3"}) {
    setenv("STATOR_NUM_THREADS", good, 1);
    CHECK(module.session().ok());
  }
  CHECK(module.session().value().threads() == 3);
  unsetenv("STATOR_NUM_THREADS");
}
