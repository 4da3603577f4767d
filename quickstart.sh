#!/usr/bin/env bash
# From a bare Debian 12 to a trained model that recognises digits: installs what is missing, builds what this needs, compiles
# examples/digits/digits.onnx and runs it. Minutes the first time, seconds after that.
set -euo pipefail
cd "$(dirname "$0")"

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
[[ -t 1 ]] || say() { printf '\n%s\n' "$*"; }
build=build-release
artifact=out/digits.stator

say "1. Packages"
tools/dev/install-packages.sh
echo "all there"

say "2. Build"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Tests are left out here; test.sh turns them on in the same folder and reuses what was built.
if [[ ! -f $build/build.ninja ]]; then
  cmake --preset release -DSTATOR_BUILD_TESTS=OFF >"$log" 2>&1 || { cat "$log"; exit 1; }
fi
# A terminal gets ninja's one moving line, a log file only the last one.
if [[ -t 1 ]]; then
  cmake --build "$build" -j "$(nproc)" --target stator stator-compile stator-run stator-bench stator-inspect digits
else
  cmake --build "$build" -j "$(nproc)" --target stator stator-compile stator-run stator-bench stator-inspect digits >"$log" 2>&1 ||
    { tail -50 "$log"; exit 1; }
  tail -1 "$log"
fi

say "3. Compile the model: ONNX in, one file out"
mkdir -p out
echo "$build/bin/stator compile examples/digits/digits.onnx -o $artifact"
"$build/bin/stator" compile examples/digits/digits.onnx -o "$artifact"

say "4. Run it from C++ (examples/digits/digits.cpp)"
"$build/bin/digits" "$artifact" examples/digits/test_images.npy examples/digits/test_labels.npy

say "Next"
cat <<NEXT
  $build/bin/stator inspect $artifact
  $build/bin/stator run $artifact --input=@examples/digits/ten_images.npy
  $build/bin/stator bench $artifact --input=64x1x8x8xf32
NEXT
