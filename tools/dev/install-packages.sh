#!/usr/bin/env bash
# Installs what Stator needs from Debian 12's own packages; does nothing when all of it is there.
#   tools/dev/install-packages.sh          to build and use Stator
#   tools/dev/install-packages.sh tests    and to run its tests
set -euo pipefail

# LLVM 22 is in bookworm and bookworm-security. clang-22 is the default compiler, g++ brings the standard library.
packages=(
  clang-22 lld-22 g++ cmake ninja-build ccache
  llvm-22-dev llvm-22-tools libmlir-22-dev mlir-22-tools liblld-22-dev
  zlib1g-dev libzstd-dev libxml2-dev
  libprotobuf-dev protobuf-compiler libprotozero-dev libminizip-dev libxxhash-dev nlohmann-json3-dev
  libdnnl-dev
)
if [[ "${1:-}" == tests ]]; then
  # python3 runs lit, which comes with llvm-22-tools, and the lint scripts; the sanitizers' runtime is clang's.
  packages+=(catch2 python3 unzip binutils libonnx-testdata libclang-rt-22-dev llvm-22)
fi

missing=()
installed=$(dpkg-query -W -f='${db:Status-Abbrev} ${Package}\n' 2>/dev/null | awk '$1 == "ii" { print $2 }')
for package in "${packages[@]}"; do
  grep -qxF -- "$package" <<<"$installed" || missing+=("$package")
done
if (( ${#missing[@]} == 0 )); then
  exit 0
fi

echo "installing: ${missing[*]}"
if [[ $(id -u) == 0 ]]; then
  sudo=()
elif command -v sudo >/dev/null; then
  sudo=(sudo)
else
  echo "install-packages.sh: run as root, or install these packages by hand" >&2
  exit 1
fi
# A package list that is older than the mirror asks for files that are gone, so it is renewed first.
# A source that cannot be reached matters only if a package is then missing, which the next line reports.
"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -q </dev/null || true
"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}" </dev/null
