// The one place that knows which Catch2 this is (Debian 12 has 2.13), so that a move to version 3 is one edit.
#ifndef STATOR_TEST_UNIT_CATCH_H
#define STATOR_TEST_UNIT_CATCH_H
#include <catch2/catch.hpp>

#include <iostream>

/// Leaves the test case and has it counted as skipped, with its reason.
#define STATOR_SKIP(reason)                                                                                                               \
  do {                                                                                                                                    \
    std::cout << "SKIPPED: " << (reason) << std::endl;                                                                                    \
    SUCCEED("skipped");                                                                                                                   \
    return;                                                                                                                               \
  } while (false)

#endif // STATOR_TEST_UNIT_CATCH_H
