// The threads that kernels run on: one pool per process, shared by all sessions.
//
// A run borrows idle workers for its duration (a Team) and offers them one job after the other. A job has a few equal parts; whoever is
// there takes the next one, the calling thread among them. So a worker that the system does not schedule in time (a busy machine, a small
// quota) costs nothing: the caller does its part too. Only parts that wait for each other at a barrier need a thread each.
// Two sessions that run at the same time share the pool's workers instead of adding threads: whoever comes second gets what is left, at
// worst itself alone. Results do not depend on it, since kernels compute the same bits for every number of parts.
// Workers are created when first wanted, never pinned, and never joined: they belong to the process, not to a session. A child after
// fork() has none and makes its own.
//
// A run with steps of a library that brings threads of its own (OpenMP's) uses those for its kernels too: two pools whose threads spin
// between pieces of work take the CPUs from each other.
//
// Alternatives: a fixed part for each thread (on a busy machine every kernel then lasts a scheduler's slice: measured 30 times slower),
// work stealing (a kernel is one fork/join with equal parts), a pool per session (oversubscribes as soon as two sessions run), OpenMP
// (its spinning cannot be bounded per process and its threads are everybody's).
#ifndef STATOR_RUNTIME_DEVICES_CPU_THREADPOOL_H
#define STATOR_RUNTIME_DEVICES_CPU_THREADPOOL_H

#include "runtime/Devices/Cpu/Futex.h"

#include <cstddef>
#include <cstdint>
#include <mutex>

namespace stator::runtime {

/// Lets all parts of a job meet. Reusable at once: a fast worker may enter the next meeting while slow ones leave the last.
class Barrier {
public:
  /// Only while nobody waits.
  void reset(int newParticipants, int newSpins) {
    participants = newParticipants;
    spins = newSpins;
    arrived.store(0, std::memory_order_relaxed);
  }
  void wait() {
    uint32_t now = phase.load();
    if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == participants) {
      arrived.store(0, std::memory_order_relaxed);
      phase.add(1);
    } else {
      phase.waitWhile(now, spins);
    }
  }

private:
  std::atomic<int> arrived{0};
  int participants = 1;
  int spins = 0;
  WaitableCounter phase;
};

struct Worker;
struct Job;

/// Threads of somebody else, used instead of the pool's.
struct ExternalThreads {
  /// Calls function(data, part, parts) on `threads` threads at the same time, the caller's among them, and returns when all are done.
  /// There may be fewer of them than wanted; each learns how many from `parts`.
  void (*parallel)(int threads, void (*function)(void *data, int part, int parts), void *data);
  /// Called by all of them: they meet.
  void (*barrier)();
};

/// The caller and the workers that it borrowed. Made at the start of a run, on the thread that runs; gives the workers back at the end.
class Team {
public:
  /// What is executed: (data, part, parts).
  using Function = void (*)(void *data, int part, int parts);

  /// Borrows up to `wanted` - 1 idle workers; fewer when others use them or when the system refuses to make threads. With `external`, none
  /// are borrowed.
  explicit Team(int wanted, const ExternalThreads *external = nullptr);
  ~Team();
  Team(const Team &) = delete;
  Team &operator=(const Team &) = delete;

  int size() const { return members; }
  /// Calls `function` once for each of min(parts, size()) parts and returns when all are done. With `meeting`, each part has a thread of
  /// its own and may use meet(); without, a thread may execute several parts, in any order. Allocates nothing.
  void run(int parts, bool meeting, Function function, void *data);
  /// Called by all parts of the running job: they meet. Only for jobs with `meeting` and more than one part.
  void meet();

private:
  Worker *borrowed = nullptr; // A list.
  Job *job = nullptr;         // When there are workers.
  const ExternalThreads *external = nullptr;
  int members = 1;
  int spins = 0;
};

/// Threads made so far in this process, for tests and diagnostics.
int poolThreadCount();

} // namespace stator::runtime

#endif // STATOR_RUNTIME_DEVICES_CPU_THREADPOOL_H
