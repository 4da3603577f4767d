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

// About 20 to 50 microseconds: longer than the gap between two kernels of a run, shorter than anything a neighbour would notice.
static constexpr int kSpins = 1000;

static unsigned floatingPointMode() {
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

/// What the members of a running job share. It belongs to the pool and is never freed, since the worker that ends a job still looks at
/// `finished` when the caller may already have returned.
struct alignas(64) JobState {
  std::atomic<int> unfinished{0};
  WaitableCounter finished;
  Barrier meeting;
  JobState *next = nullptr; // In the pool's list of unused ones.
};

/// One thread of the pool. `ticket` counts the jobs that it was given; the fields above it are written before and read after.
struct alignas(64) Worker {
  JobState *job = nullptr;
  Team::Function function = nullptr;
  void *data = nullptr;
  int member = 0;
  int members = 0;
  int spins = kSpins;
  unsigned floatingPointMode = 0;
  WaitableCounter ticket;
  Worker *next = nullptr; // In the pool's list of idle workers, or in a team's.

  static void *main(void *self) {
    auto *worker = static_cast<Worker *>(self);
    uint32_t seen = 0;
    int spins = kSpins;
    for (;;) {
      seen = worker->ticket.waitWhile(seen, spins);
      // Copies: once the job is reported as done, the fields may be those of the next one.
      spins = worker->spins;
      JobState *job = worker->job;
      setFloatingPointMode(worker->floatingPointMode);
      worker->function(worker->data, worker->member, worker->members);
      if (job->unfinished.fetch_sub(1, std::memory_order_acq_rel) == 1)
        job->finished.add(1);
    }
  }
};

namespace {
/// Never destroyed: workers outlive static destructors.
struct Pool {
  std::mutex mutex;
  Worker *idle = nullptr;
  JobState *unused = nullptr;
  int threads = 0;
  int cpus = 0;

  Worker *makeWorker();
  void takeBack(Worker *&list) {
    while (Worker *worker = list) {
      list = worker->next;
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

Team::Team(int wanted) {
  if (wanted <= 1)
    return;
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
  while (members < wanted && pool->idle) {
    Worker *worker = pool->idle;
    pool->idle = worker->next;
    worker->next = borrowed;
    borrowed = worker;
    ++members;
  }
  if (!pool->cpus)
    pool->cpus = availableCpus();
  // With more threads than CPUs a spinning thread keeps the one it waits for from running.
  spins = members <= pool->cpus ? kSpins : 0;
  if (!borrowed)
    return;
  job = pool->unused;
  if (job) {
    pool->unused = job->next;
  } else if (!(job = new (std::align_val_t(alignof(JobState)), std::nothrow) JobState())) {
    pool->takeBack(borrowed);
    members = 1;
  }
}

Team::~Team() {
  if (!borrowed)
    return;
  Pool *pool = poolInstance();
  std::lock_guard<std::mutex> lock(pool->mutex);
  pool->takeBack(borrowed);
  job->next = pool->unused;
  pool->unused = job;
}

Barrier &Team::barrier() { return job->meeting; }

void Team::run(int count, Function function, void *data) {
  count = std::min(count, members);
  if (count <= 1) {
    function(data, 0, 1);
    return;
  }
  job->meeting.reset(count, spins);
  job->unfinished.store(count, std::memory_order_relaxed);
  uint32_t before = job->finished.load();
  unsigned mode = floatingPointMode();
  int member = 1;
  for (Worker *worker = borrowed; member < count; worker = worker->next) {
    worker->job = job;
    worker->function = function;
    worker->data = data;
    worker->member = member++;
    worker->members = count;
    worker->spins = spins;
    worker->floatingPointMode = mode;
    worker->ticket.add(1);
  }
  function(data, 0, count);
  if (job->unfinished.fetch_sub(1, std::memory_order_acq_rel) != 1)
    job->finished.waitWhile(before, spins);
}

int poolThreadCount() {
  Pool *pool = poolInstance();
  std::lock_guard<std::mutex> lock(pool->mutex);
  return pool->threads;
}

} // namespace stator::runtime
