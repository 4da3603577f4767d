// DEPS: stator::runtime::Devices::Cpu
#include "test/unit/Catch.h"

#include "runtime/Devices/Cpu/ThreadPool.h"

#include <atomic>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace stator::runtime;

namespace {
struct Count {
  std::atomic<int> calls{0};
  std::atomic<int> memberSum{0};
  static void call(void *data, int member, int members) {
    auto *count = static_cast<Count *>(data);
    ++count->calls;
    count->memberSum += member * 100 + members;
  }
};
} // namespace

TEST_CASE("each part of a job is executed once") {
  Team team(4);
  REQUIRE(team.size() == 4);
  for (int size = 1; size <= 4; ++size) {
    Count count;
    for (bool meeting : {false, true})
      team.run(size, meeting, Count::call, &count);
    CHECK(count.calls == 2 * size);
    CHECK(count.memberSum == 2 * (100 * size * (size - 1) / 2 + size * size));
  }
  Count all;
  team.run(100, true, Count::call, &all);
  CHECK(all.calls == 4);
}

TEST_CASE("many short jobs run one after the other") {
  Team team(3);
  Count count;
  for (int i = 0; i < 40000; ++i)
    team.run(3, i % 2, Count::call, &count);
  CHECK(count.calls == 3 * 40000);
}

TEST_CASE("workers sleep between jobs and wake up again") {
  Team team(3);
  for (int i = 0; i < 5; ++i) {
    Count count;
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    team.run(3, true, Count::call, &count);
    CHECK(count.calls == 3);
  }
}

TEST_CASE("a team does without the workers that another one has") {
  // All are kept busy by a job that only ends when the test says so.
  struct Blocking {
    std::atomic<int> inside{0};
    std::atomic<bool> release{false};
    static void call(void *data, int part, int) {
      auto *blocking = static_cast<Blocking *>(data);
      ++blocking->inside;
      while (part != 0 && !blocking->release)
        std::this_thread::yield();
    }
  } blocking;
  std::thread holder([&] {
    Team holdersTeam(4);
    holdersTeam.run(4, true, Blocking::call, &blocking);
  });
  while (blocking.inside != 4)
    std::this_thread::yield();
  Count count;
  Team team(3); // Nobody is idle.
  CHECK(team.size() == 1);
  team.run(3, false, Count::call, &count);
  CHECK(count.calls == 1);
  blocking.release = true;
  holder.join();
}

namespace {
struct Phases {
  static constexpr int rounds = 500;
  Team *team;
  std::atomic<int> inside[rounds] = {};
  std::atomic<int> errors{0};
  static void call(void *data, int, int members) {
    auto *phases = static_cast<Phases *>(data);
    for (int round = 0; round < rounds; ++round) {
      ++phases->inside[round];
      phases->team->meet();
      if (phases->inside[round] != members)
        ++phases->errors;
    }
  }
};
} // namespace

TEST_CASE("nobody leaves a barrier before everybody is there") {
  Team team(4);
  for (int members = 2; members <= 4; ++members) {
    Phases phases;
    phases.team = &team;
    team.run(members, true, Phases::call, &phases);
    CHECK(phases.errors == 0);
  }
}

TEST_CASE("concurrent teams share the pool's workers instead of adding some") {
  int before = 0;
  {
    Team largest(4);
    before = poolThreadCount();
  }
  std::atomic<int> most{0}, total{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 6; ++caller)
    callers.emplace_back([&] {
      for (int i = 0; i < 300; ++i) {
        Team team(4);
        Count count;
        team.run(team.size(), true, Count::call, &count);
        total += count.calls == team.size();
        most = std::max(most.load(), team.size());
      }
    });
  for (std::thread &caller : callers)
    caller.join();
  CHECK(total == 6 * 300);
  CHECK(most <= 4);
  CHECK(poolThreadCount() == before);
}

TEST_CASE("a child after fork() makes threads of its own") {
  {
    Team team(3);
    Count count;
    team.run(3, true, Count::call, &count);
  }
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    if (poolThreadCount() != 0)
      _exit(1);
    Team team(3);
    Count count;
    team.run(3, true, Count::call, &count);
    _exit(count.calls == 3 ? 0 : 2);
  }
  int result = 0;
  REQUIRE(waitpid(child, &result, 0) == child);
  CHECK(WIFEXITED(result));
  CHECK(WEXITSTATUS(result) == 0);
  Team team(3);
  Count count;
  team.run(3, true, Count::call, &count);
  CHECK(count.calls == 3);
}

namespace {
/// Threads that are not the pool's: made for each job.
std::atomic<int> externalThreads{0};
pthread_barrier_t externalBarrier;
const ExternalThreads external = {[](int threads, void (*function)(void *, int, int), void *data) {
                                    pthread_barrier_init(&externalBarrier, nullptr, static_cast<unsigned>(threads));
                                    std::vector<std::thread> others;
                                    for (int part = 1; part < threads; ++part)
                                      others.emplace_back([=] {
                                        ++externalThreads;
                                        function(data, part, threads);
                                      });
                                    function(data, 0, threads);
                                    for (std::thread &other : others)
                                      other.join();
                                    pthread_barrier_destroy(&externalBarrier);
                                  },
                                  [] { pthread_barrier_wait(&externalBarrier); }};
} // namespace

TEST_CASE("a library's own threads replace the pool's") {
  int before = poolThreadCount();
  Team team(before + 5, &external);
  CHECK(team.size() == before + 5);
  Count count;
  team.run(3, false, Count::call, &count);
  CHECK(count.calls == 3);
  CHECK(externalThreads == 2);
  Phases phases;
  phases.team = &team;
  team.run(4, true, Phases::call, &phases);
  CHECK(phases.errors == 0);
  team.run(1, false, Count::call, &count);
  CHECK(count.calls == 4);
  CHECK(externalThreads == 5);
  CHECK(poolThreadCount() == before);
}
