#!/usr/bin/env python3
"""Times Stator and ONNX Runtime on the same ONNX models, side by side.

usage: compare_onnxruntime.py [--threads N] [--rounds N] [--seconds S] [--library none|onednn|auto] [--tools DIR] MODEL.onnx[:INPUT.npy,...]...

Needs Python with numpy and onnxruntime (pip install numpy onnxruntime, best in an environment of its own). Both sides get the same
inputs: the given files, or random ones of the model's shapes, with 1 for sizes that the model leaves open. The two take turns, `rounds`
times, each for at least `seconds`; what counts is the median over the rounds of each round's median, so a disturbance of the machine
hits both. ONNX Runtime runs with all graph optimisations, as many intra-op threads as are asked for, and inputs bound beforehand where
its API allows.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy
import onnxruntime

NUMPY_TYPES = {"tensor(float)": "float32", "tensor(double)": "float64", "tensor(int64)": "int64", "tensor(int32)": "int32",
               "tensor(bool)": "bool", "tensor(float16)": "float16", "tensor(uint8)": "uint8", "tensor(int8)": "int8"}


def random_input(value):
    shape = [size if isinstance(size, int) else 1 for size in value.shape]
    kind = numpy.dtype(NUMPY_TYPES[value.type])
    generator = numpy.random.default_rng(0)
    if kind.kind == "f":
        return generator.standard_normal(shape).astype(kind)
    return generator.integers(0, 2, shape).astype(kind)


def time_onnxruntime(session, feeds, seconds):
    times, end = [], time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        session.run(None, feeds)
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e3


def time_stator(tools, artifact, files, threads, seconds):
    command = [f"{tools}/stator-bench", artifact, f"--threads={threads}", f"--duration={seconds}", "--iterations=3", "--json"]
    result = subprocess.run(command + [f"--input=@{file}" for file in files], capture_output=True, text=True)
    if result.returncode:
        sys.exit(result.stderr)
    return json.loads(result.stdout)["latency_ms"]["p50"]


def compare(model, options, scratch):
    path, _, given = model.partition(":")
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads, settings.inter_op_num_threads = options.threads, 1
    session = onnxruntime.InferenceSession(path, settings, providers=["CPUExecutionProvider"])
    files = given.split(",") if given else []
    feeds = {}
    for index, value in enumerate(session.get_inputs()):
        if index >= len(files):
            files.append(f"{scratch}/{index}.npy")
            numpy.save(files[index], random_input(value))
        feeds[value.name] = numpy.load(files[index])
    artifact = f"{scratch}/model.stator"
    result = subprocess.run([f"{options.tools}/stator-compile", path, "-o", artifact, "--quiet", f"--library={options.library}"])
    if result.returncode:
        sys.exit(result.returncode)
    theirs, ours = [], []
    for _ in range(options.rounds):
        theirs.append(time_onnxruntime(session, feeds, options.seconds))
        ours.append(time_stator(options.tools, artifact, files, options.threads, options.seconds))
    return statistics.median(theirs), statistics.median(ours)


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--library", default="none")
    parser.add_argument("--tools", default=os.path.join(here, "../../build-release/bin"))
    options = parser.parse_args()
    print(f"onnxruntime {onnxruntime.__version__}, {options.threads} thread(s), --library={options.library}, medians in ms")
    print(f"{'model':40} {'onnxruntime':>12} {'stator':>12} {'ratio':>7}")
    with tempfile.TemporaryDirectory() as scratch:
        for model in options.models:
            theirs, ours = compare(model, options, scratch)
            name = os.path.basename(model.partition(":")[0])
            print(f"{name:40} {theirs:12.4f} {ours:12.4f} {theirs / ours:7.2f}", flush=True)


main()
