// The one main() of all unit tests.
#define CATCH_CONFIG_MAIN
#include "test/unit/Catch.h"
