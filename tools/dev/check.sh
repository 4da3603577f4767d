#!/usr/bin/env bash
# The quick checks that need no build; the pre-commit hook and people run this. `ctest -L lint` runs these and more.
set -uo pipefail
cd "$(dirname "$0")/../.."
export PYTHONDONTWRITEBYTECODE=1
status=0
for script in check_layering check_file_size check_machine_paths check_docs; do
  output=$(python3 tools/dev/$script.py . 2>&1) || { echo "$output"; status=1; }
done
exit $status
