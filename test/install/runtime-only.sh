#!/usr/bin/env bash
# The runtime configures, builds and installs by itself, without LLVM, and libstator.so stays what it promises to be: small, depending on
# the system only, exporting the C interface and nothing else.
#   runtime-only.sh SOURCE_DIR C_COMPILER CXX_COMPILER
set -euo pipefail
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# MLIR is made impossible to find, so that a stray use stops the configuration.
cmake -G Ninja -S "$source" -B "$work/build" -DSTATOR_BUILD_COMPILER=OFF -DSTATOR_BUILD_TESTS=OFF -DCMAKE_DISABLE_FIND_PACKAGE_MLIR=ON \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER="$2" -DCMAKE_CXX_COMPILER="$3" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cmake --build "$work/build" -j 2 >"$work/log" 2>&1 || { tail -50 "$work/log"; exit 1; }
cmake --install "$work/build" --strip --prefix "$work/stator" >"$work/log"

library=$(readlink -f "$work/stator/lib/libstator.so")
size=$(stat -c %s "$library")
echo "libstator.so: $size bytes, stripped"
if (( size > 2 * 1024 * 1024 )); then
  echo "libstator.so is larger than 2 MiB" >&2
  exit 1
fi

needed=$(objdump -p "$library" | awk '$1 == "NEEDED" { print $2 }')
echo "needs:" $needed
if grep -vE '^(libstdc\+\+|libgcc_s|libc|libm|libpthread|libdl|ld-linux-[a-z0-9-]+)\.so' <<<"$needed"; then
  echo "libstator.so needs more than the system" >&2
  exit 1
fi
if nm -D --defined-only "$library" | awk '{ print $3 }' | grep -vE '^(stator_|$)'; then
  echo "libstator.so exports more than the C interface" >&2
  exit 1
fi
for file in "$library" "$work"/stator/bin/*; do
  if nm -D "$file" | grep -E '(4llvm|4mlir)'; then
    echo "$file refers to LLVM" >&2
    exit 1
  fi
done
