// Waiting for a word to change: a bounded spin, because the next piece of work usually comes within microseconds, then sleep in the
// kernel, because a spinning thread steals time from everybody else. Every waiter of this folder goes through here.
#ifndef STATOR_RUNTIME_DEVICES_CPU_FUTEX_H
#define STATOR_RUNTIME_DEVICES_CPU_FUTEX_H

#include <atomic>
#include <climits>
#include <cstdint>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace stator::runtime {

inline void pauseCpu() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/// A counter that threads wait on. The number of sleepers is kept, so that a wake-up without sleepers costs no system call.
class WaitableCounter {
public:
  uint32_t load() const { return value.load(std::memory_order_acquire); }

  /// Changes the value and wakes everybody who sleeps; with `wakeSleepers` false, only those who spin notice.
  void add(uint32_t delta, bool wakeSleepers = true) {
    value.fetch_add(delta);
    if (wakeSleepers)
      wake();
  }

  /// Returns when the value differs from `old`, and gives it.
  uint32_t waitWhile(uint32_t old, int spins) {
    for (int i = 0; i < spins; ++i) {
      uint32_t now = load();
      if (now != old)
        return now;
      pauseCpu();
    }
    // Sequentially consistent on both sides: either the waker sees the sleeper, or the sleeper sees the new value.
    sleepers.fetch_add(1);
    uint32_t now;
    while ((now = value.load()) == old)
      syscall(SYS_futex, reinterpret_cast<uint32_t *>(&value), FUTEX_WAIT_PRIVATE, old, nullptr, nullptr, 0);
    sleepers.fetch_sub(1);
    return now;
  }

private:
  void wake() {
    if (sleepers.load() != 0)
      syscall(SYS_futex, reinterpret_cast<uint32_t *>(&value), FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
  }

  static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t), "a futex is a plain 32-bit word");
  std::atomic<uint32_t> value{0};
  std::atomic<uint32_t> sleepers{0};
};

} // namespace stator::runtime

#endif // STATOR_RUNTIME_DEVICES_CPU_FUTEX_H
