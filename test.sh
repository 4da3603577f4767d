#!/usr/bin/env bash
# Installs what is missing, builds everything and runs every test. The last line is `N passed, N failed, N skipped`.
#   ./test.sh                     preset release, all tests
#   ./test.sh --preset asan       another preset of CMakePresets.json
#   ./test.sh -L unit             further arguments go to ctest
set -euo pipefail
cd "$(dirname "$0")"

preset=release
if [[ "${1:-}" == --preset ]]; then
  preset=$2
  shift 2
fi

tools/dev/install-packages.sh tests

jobs=$(nproc)
cmake --preset "$preset" -DSTATOR_BUILD_TESTS=ON
build=build-$preset
case $preset in
  dev) build=build ;;
  runtime-only) build=build-runtime ;;
esac
cmake --build "$build" -j "$jobs"

rm -f "$build"/test/lit-*.xml "$build/ctest.xml"
status=0
(cd "$build" && ctest -j "$jobs" --output-junit ctest.xml --test-output-size-passed 4096 --test-output-size-failed 65536 "$@") || status=$?
if [[ ! -s $build/ctest.xml ]]; then
  echo "ctest wrote no results (status $status)" >&2
  exit 1
fi
# Failures are told again in full, and CTest's whole suites counted test by test.
python3 tools/dev/summarize_tests.py "$build/ctest.xml" "$build/test"
