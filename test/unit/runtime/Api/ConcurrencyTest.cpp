// DEPS: stator::stator stator::test::runtime
#include "test/unit/Catch.h"

#include "stator/Runtime.h"
#include "test/lib/runtime/TestArtifact.h"

#include <atomic>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace stator;

// x + x over enough elements for several workers.
static std::string doublingPath() {
  static std::string path = [] {
    test::TestArtifact artifact;
    uint32_t add = artifact.kernel("add", 3, 1);
    test::TestMethod forward;
    forward.symbol("N", 1, 1000000, 0, 0);
    uint32_t x = forward.input("x", ElementType::F32, {"N"}), y = forward.output("y", ElementType::F32, {"N"});
    forward.add(forward.kernel(add, {x, x}, {y}, {"N"}));
    artifact.add(std::move(forward));
    return artifact.write("concurrent.stator");
  }();
  return path;
}

static bool doublesWell(Session &session, int64_t n, float value) {
  Tensor x(ElementType::F32, {n});
  for (int64_t i = 0; i < n; ++i)
    x.data<float>()[i] = value + static_cast<float>(i % 7);
  Result<Outputs> outputs = session.run("forward", {x});
  if (!outputs.ok())
    return false;
  const float *y = outputs.value()[0].data<float>();
  for (int64_t i = 0; i < n; ++i)
    if (y[i] != 2 * (value + static_cast<float>(i % 7)))
      return false;
  return true;
}

TEST_CASE("sessions of one module run concurrently") {
  Module module = Module::load(doublingPath()).value();
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&, t] {
      Session session = module.session(SessionOptions().threads(1 + t % 4)).value();
      for (int i = 0; i < 60; ++i)
        good += doublesWell(session, 1 + (i % 3) * 40000, static_cast<float>(t));
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(good == 6 * 60);
}

TEST_CASE("modules are loaded concurrently") {
  std::string path = doublingPath();
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        Session session = Module::load(path).value().session(SessionOptions().threads(2)).value();
        good += doublesWell(session, 1000, 1);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(good == 80);
}

TEST_CASE("a session that is in use says so") {
  Module module = Module::load(doublingPath()).value();
  Session session = module.session(SessionOptions().threads(1)).value();
  int64_t n = 1000000;
  Tensor x = Tensor::zeros(ElementType::F32, {n});
  std::atomic<bool> stop{false};
  std::atomic<int> busy{0}, ran{0}, other{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      while (!stop) {
        // Without looking at the results, which the next run of another thread overwrites.
        TensorView input = x;
        stator_status *status = stator_session_run(session.get(), 0, input.rawArray(), 1, nullptr, 0);
        stator_status_code code = stator_status_get_code(status);
        stator_status_release(status);
        ++(code == STATOR_OK ? ran : code == STATOR_RESOURCE_EXHAUSTED ? busy : other);
        if (busy > 5 && ran > 5)
          stop = true;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(ran > 5);
  CHECK(busy > 5);
  CHECK(other == 0);
}

TEST_CASE("a child after fork() runs sessions of its parent") {
  Module module = Module::load(doublingPath()).value();
  Session session = module.session(SessionOptions().threads(4)).value();
  REQUIRE(doublesWell(session, 200000, 1));
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    bool good = true;
    for (int i = 0; i < 20; ++i)
      good &= doublesWell(session, 200000, static_cast<float>(i));
    _exit(good ? 0 : 1);
  }
  int result = 0;
  REQUIRE(waitpid(child, &result, 0) == child);
  CHECK(WIFEXITED(result));
  CHECK(WEXITSTATUS(result) == 0);
  CHECK(doublesWell(session, 200000, 2));
}
