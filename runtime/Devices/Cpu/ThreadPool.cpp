// Workers, the pool that owns them, and handing out work.
#include "runtime/Devices/Cpu/ThreadPool.h"
#include "runtime/Devices/Cpu/CpuInfo.h"

#include <algorithm>
#include <csignal>
#include <new>
#include <pthread.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace stator::runtime {

// About 20 microseconds: longer than the gap between two kernels of a run, shorter than anything a neighbour would notice.
static constexpr int kSpins = 1000;

static unsigned floatingPointModeOfThread() {
#if defined(__x86_64__)
  return _mm_getcsr();
#else
  return 0;
#endif
}
static void setFloatingPointMode(unsigned mode) {
#if defined(__x86_64__)
  if (_mm_getcsr() != mode)
    _mm_setcsr(mode);
#endif
}

/// What a team's workers take parts from, one job after the other. It belongs to the pool and is never freed: a worker that wakes up
/// late may still look at it when the team is gone. The worst that can come of it is that it takes a part of the next team's job, which
/// is as good a thread for it as any.
struct alignas(64) Job {
  // The number of this job, how many parts it has, and which is next; one word, so that taking a part is one atomic step that
  // succeeds only while the job is the current one.
  std::atomic<uint64_t> parts{0};
  // Written before `parts` is published, and read only by who has taken a part, while the caller waits for it.
  Team::Function function = nullptr;
  void *data = nullptr;
  unsigned floatingPointMode = 0;
  int spins = kSpins;
  std::atomic<int> unfinished{0};
  WaitableCounter finished;
  Barrier meeting;
  // Of the caller. When workers come too late again and again, as on a busy machine, waking them only takes time from the work; then
  // they are woken for one job in 2, 4, ... 64. Those who are awake are always offered parts.
  int misses = 0;
  int jobsWithoutWaking = 0;
  Job *next = nullptr; // In the pool's list of unused ones.

  void publish(int count) {
    uint64_t number = (parts.load(std::memory_order_relaxed) >> 32) + 1;
    parts.store(number << 32 | static_cast<uint64_t>(count) << 16, std::memory_order_release);
  }
  /// Takes a part; false when none is left.
  bool take(int &part, int &count) {
    uint64_t word = parts.load(std::memory_order_acquire);
    for (;;) {
      part = static_cast<int>(word & 0xffff);
      count = static_cast<int>(word >> 16 & 0xffff);
      if (part >= count)
        return false;
      if (parts.compare_exchange_weak(word, word + 1, std::memory_order_acq_rel, std::memory_order_acquire))
        return true;
    }
  }
};

/// One thread of the pool. `ticket` changes when there is something to look at.
struct alignas(64) Worker {
  std::atomic<Job *> job{nullptr}; // Null while idle.
  WaitableCounter ticket;
  Worker *next = nullptr; // In the pool's list of idle workers, or in a team's.

  static void *main(void *self) {
    auto *worker = static_cast<Worker *>(self);
    int spins = kSpins;
    for (uint32_t seen = 0;;) {
      seen = worker->ticket.waitWhile(seen, spins);
      Job *job = worker->job.load(std::memory_order_acquire);
      for (int part, count; job && job->take(part, count);) {
        spins = job->spins;
        setFloatingPointMode(job->floatingPointMode);
        job->function(job->data, part, count);
        if (job->unfinished.fetch_sub(1, std::memory_order_acq_rel) == 1)
          job->finished.add(1);
      }
    }
  }
};

namespace {
/// Never destroyed: workers outlive static destructors.
struct Pool {
  std::mutex mutex;
  Worker *idle = nullptr;
  Job *unused = nullptr;
  int threads = 0;
  int cpus = 0;

  Worker *makeWorker();
  void takeBack(Worker *&list) {
    while (Worker *worker = list) {
      list = worker->next;
      worker->job.store(nullptr, std::memory_order_release);
      worker->next = idle;
      idle = worker;
    }
  }
};
} // namespace

static Pool *poolInstance();

// fork() while another thread holds the mutex would leave it locked for ever in the child. The workers do not exist in the child: it
// forgets them and begins anew.
static void beforeFork() { poolInstance()->mutex.lock(); }
static void afterForkInParent() { poolInstance()->mutex.unlock(); }
static void afterForkInChild() { new (poolInstance()) Pool(); }

static Pool *poolInstance() {
  alignas(Pool) static char storage[sizeof(Pool)];
  static Pool *pool = [] {
    Pool *made = new (storage) Pool();
    pthread_atfork(beforeFork, afterForkInParent, afterForkInChild);
    return made;
  }();
  return pool;
}

Worker *Pool::makeWorker() {
  auto *worker = new (std::align_val_t(alignof(Worker)), std::nothrow) Worker();
  if (!worker)
    return nullptr;
  // Signals are for the threads of the program.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  int error = pthread_create(&thread, &attributes, Worker::main, worker);
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error) {
    ::operator delete(worker, std::align_val_t(alignof(Worker)));
    return nullptr;
  }
  pthread_setname_np(thread, "stator");
  ++threads;
  return worker;
}

Team::Team(int wanted, const ExternalThreads *external) {
  if (wanted <= 1)
    return;
  if (external) {
    this->external = external;
    members = wanted;
    return;
  }
  Pool *pool = poolInstance();
  std::lock_guard<std::mutex> lock(pool->mutex);
  // The pool grows to what one run wants; concurrent runs share that.
  while (pool->threads < wanted - 1) {
    Worker *worker = pool->makeWorker();
    if (!worker)
      break;
    worker->next = pool->idle;
    pool->idle = worker;
  }
  if (!pool->idle)
    return;
  job = pool->unused;
  if (job)
    pool->unused = job->next;
  else if (!(job = new (std::align_val_t(alignof(Job)), std::nothrow) Job()))
    return;
  while (members < wanted && pool->idle) {
    Worker *worker = pool->idle;
    pool->idle = worker->next;
    worker->next = borrowed;
    worker->job.store(job, std::memory_order_release);
    borrowed = worker;
    ++members;
  }
  if (!pool->cpus)
    pool->cpus = availableCpus();
  // With more threads than CPUs a spinning thread keeps the one it waits for from running.
  spins = members <= pool->cpus ? kSpins : 0;
}

Team::~Team() {
  if (!job)
    return;
  Pool *pool = poolInstance();
  std::lock_guard<std::mutex> lock(pool->mutex);
  pool->takeBack(borrowed);
  job->next = pool->unused;
  pool->unused = job;
}

void Team::meet() {
  if (external)
    external->barrier();
  else
    job->meeting.wait();
}

namespace {
struct ExternalCall {
  Team::Function function;
  void *data;
  unsigned floatingPointMode;

  static void call(void *self, int part, int parts) {
    const auto *call = static_cast<const ExternalCall *>(self);
    // These threads are everybody's: they get their own mode back.
    unsigned before = floatingPointModeOfThread();
    setFloatingPointMode(call->floatingPointMode);
    call->function(call->data, part, parts);
    setFloatingPointMode(before);
  }
};
} // namespace

void Team::run(int parts, bool meeting, Function function, void *data) {
  parts = std::min(parts, members);
  if (parts <= 1) {
    function(data, 0, 1);
    return;
  }
  if (external) {
    ExternalCall call{function, data, floatingPointModeOfThread()};
    external->parallel(parts, ExternalCall::call, &call);
    return;
  }
  job->function = function;
  job->data = data;
  job->floatingPointMode = floatingPointModeOfThread();
  job->spins = spins;
  if (meeting)
    job->meeting.reset(parts, spins);
  job->unfinished.store(parts, std::memory_order_relaxed);
  uint32_t before = job->finished.load();
  job->publish(parts);
  bool wake = meeting || job->jobsWithoutWaking == 0;
  int offered = 1;
  for (Worker *worker = borrowed; offered < parts; worker = worker->next, ++offered)
    worker->ticket.add(1, wake);
  // With a meeting every part needs a thread of its own, so that the caller takes one and leaves the others.
  int part, count, own = 0;
  bool last = false;
  while (job->take(part, count)) {
    function(data, part, count);
    ++own;
    last = job->unfinished.fetch_sub(1, std::memory_order_acq_rel) == 1;
    if (meeting)
      break;
  }
  if (!last)
    job->finished.waitWhile(before, spins);
  if (own < parts)
    job->misses = job->jobsWithoutWaking = 0;
  else if (!wake)
    --job->jobsWithoutWaking;
  else
    job->jobsWithoutWaking = (1 << (job->misses = std::min(job->misses + 1, 6))) - 1;
}

int poolThreadCount() {
  Pool *pool = poolInstance();
  std::lock_guard<std::mutex> lock(pool->mutex);
  return pool->threads;
}

} // namespace stator::runtime
