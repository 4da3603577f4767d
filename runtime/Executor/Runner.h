// Executes the steps of a prepared program. No checks, no allocations: what can go wrong was found when the program was built.
#ifndef STATOR_RUNTIME_EXECUTOR_RUNNER_H
#define STATOR_RUNTIME_EXECUTOR_RUNNER_H

#include "runtime/Devices/Cpu/ThreadPool.h"
#include "runtime/Executor/Program.h"
#include "runtime/Executor/Session.h"

namespace stator::runtime {

/// One run: borrows workers, sets the floating-point mode, and restores both at its end.
class Runner {
public:
  Runner(const Program &program, bool flushDenormals, const ProfileSink &profile);
  ~Runner();

  Status run() { return runSteps(program.steps()); }

private:
  Status runSteps(const std::vector<Step> &steps);
  Status runStep(const Step &step);
  Status runMeasured(const Step &step);
  void runKernel(const Step &step);

  const Program &program;
  ProfileSink profile;
  unsigned callersFloatingPointMode;
  Team team;
};

} // namespace stator::runtime

#endif // STATOR_RUNTIME_EXECUTOR_RUNNER_H
