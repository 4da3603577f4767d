#!/usr/bin/env bash
# Installs the build into an empty folder, builds examples/cpp-service against it as a stranger would, and runs it on a model.
#   run.sh SOURCE_DIR BUILD_DIR CXX_COMPILER
set -euo pipefail
source=$1 build=$2 compiler=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/stator" >"$work/install.log"
"$work/stator/bin/stator" compile "$source/examples/digits/digits.onnx" -o "$work/digits.stator"

# A tree of its own, so that nothing of Stator's sources can be found by accident.
cp -r "$source/examples/cpp-service" "$work/service"
cmake -G Ninja -S "$work/service" -B "$work/service/build" -DCMAKE_PREFIX_PATH="$work/stator" -DCMAKE_CXX_COMPILER="$compiler" >"$work/configure.log" ||
  { cat "$work/configure.log"; exit 1; }
cmake --build "$work/service/build"
"$work/service/build/service" "$work/digits.stator" 2 20

# The installed tools run too, and the service needs nothing beyond the system.
"$work/stator/bin/stator" run "$work/digits.stator" --input=@"$source/examples/digits/ten_images.npy" \
  --expected_output=@"$source/examples/digits/ten_logits.npy"
if ldd "$work/service/build/service" "$work/stator/lib/libstator.so" | grep -E 'LLVM|MLIR|protobuf|dnnl'; then
  echo "the runtime must not link these" >&2
  exit 1
fi
