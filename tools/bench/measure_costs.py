#!/usr/bin/env python3
"""Measures own kernels against oneDNN and writes the tables that the compiler chooses by.

    tools/bench/measure_costs.py --build build-release --output dialects/Target/costs

For each CPU level that this machine runs: `kernels --costs` (build the target stator_bench_kernels first) times every shape of the grid, own
kernel and oneDNN in turns, one thread, oneDNN limited to the level's instructions. Of `--repeats` such runs the median counts; each run
gives the best of `--rounds` short ones, since other processes only ever add time. Times are rounded to three digits. The order is that of
the grid: equal figures give equal files.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

LEVELS = {"x86-64-v2": "SSE41", "x86-64-v3": "AVX2", "x86-64-v4": "AVX512_CORE"}  # As oneDNN calls them.
KINDS = {"matmul": "Matmul", "convolution": "Convolution", "depthwise": "Depthwise"}


def machine():
    with open("/proc/cpuinfo") as cpuinfo:
        fields = dict(line.split(":", 1) for line in cpuinfo.read().split("\n\n")[0].splitlines() if ":" in line)
    fields = {key.strip(): value.strip() for key, value in fields.items()}
    return f"{fields.get('model name', 'unknown')}, family {fields.get('cpu family')}, model {fields.get('model')}"


def rounded(value):
    digits = len(str(int(value))) - 3
    return int(round(value, -digits)) if digits > 0 else int(round(value))


def measure(kernels, level, rounds, scratch):
    environment = dict(os.environ, ONEDNN_MAX_CPU_ISA=LEVELS[level], DNNL_MAX_CPU_ISA=LEVELS[level], OMP_NUM_THREADS="1")
    file = pathlib.Path(scratch) / "costs.json"
    done = subprocess.run([kernels, "--costs", f"--level={level}", f"--rounds={rounds}", f"--json={file}"], env=environment,
                          capture_output=True, text=True)
    if done.returncode == 2:
        return None  # This machine cannot run the level.
    if done.returncode:
        sys.exit(f"measure_costs.py: error: kernels failed for {level}: {done.stderr.strip()}")
    return json.loads(file.read_text())["cases"]


def table(level, runs):
    lines = [f"// Measured by tools/bench/measure_costs.py on {machine()}; one thread, {level}.",
             "// kind, rows, depth, columns, taps, stride, grouped, nanoseconds of the own kernel and of oneDNN"]
    for cases in zip(*runs):
        first = cases[0]
        if any("library_us" not in case for case in cases):
            continue
        own, library = (rounded(statistics.median(case[key] * 1e3 for case in cases)) for key in ("own_us", "library_us"))
        isGrouped = "true" if first["kind"] == "convolution" and first["groups"] > 1 else "false"
        lines.append(f"{{Kind::{KINDS[first['kind']]}, {first['rows']}, {first['depth']}, {first['columns']}, {first['taps']}, "
                     f"{first['stride']}, {isGrouped}, {own}, {library}}},")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog="\n".join(__doc__.splitlines()[2:]),
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build-release"), metavar="DIR")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("dialects/Target/costs"), metavar="DIR")
    parser.add_argument("--levels", default=",".join(LEVELS), metavar="LEVEL,...")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=10)
    options = parser.parse_args()
    levels = options.levels.split(",")
    for level in levels:
        if level not in LEVELS:
            parser.error(f"unknown level `{level}`, expected one of {', '.join(LEVELS)}")
    kernels = options.build / "bin" / "kernels"
    if not kernels.exists():
        parser.error(f"`{kernels}` is not there: build the target stator_bench_kernels, or name the build directory with --build")
    if not options.output.is_dir():
        parser.error(f"`{options.output}` is not a folder")
    with tempfile.TemporaryDirectory() as scratch:
        for level in levels:
            runs = [measure(kernels, level, options.rounds, scratch) for _ in range(max(1, options.repeats))]
            if None in runs:
                print(f"{level}: this machine cannot run it; its table stays")
                continue
            path = options.output / f"{level}.inc"
            path.write_text(table(level, runs))
            print(f"{path}: {len(runs[0])} shapes")


if __name__ == "__main__":
    main()
