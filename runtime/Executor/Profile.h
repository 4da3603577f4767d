// Where a session's runs write down what their instructions took. Absent when nobody asked: then a run does not look at the clock.
#ifndef STATOR_RUNTIME_EXECUTOR_PROFILE_H
#define STATOR_RUNTIME_EXECUTOR_PROFILE_H

#include "stator/c/runtime.h"

#include <cstdint>
#include <ctime>
#include <vector>

namespace stator::runtime {

/// What an instruction has taken so far, and what it did.
struct ProfileCounter {
  uint64_t calls = 0;
  uint64_t nanoseconds = 0;
  uint64_t operations = 0;
  uint64_t bytes = 0;
};

/// What one run reports to. Both lists belong to the session and have their final size before the run, so that it allocates nothing.
struct ProfileSink {
  ProfileCounter *counters = nullptr;                ///< One per instruction; null when nothing is to be measured.
  std::vector<stator_trace_event> *events = nullptr; ///< Filled up to its capacity; may be null.
};

inline uint64_t profileClock() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

} // namespace stator::runtime

#endif // STATOR_RUNTIME_EXECUTOR_PROFILE_H
