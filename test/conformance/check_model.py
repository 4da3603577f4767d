"""Compiles a model in every way that the machine offers and compares each result with stored references.

usage: check_model.py MODEL.onnx SCRATCH

Beside the model lies cases.json: inputs and expected outputs as .npy files (those marked dynamic_only have other sizes than a static
model takes), and for dynamic models a list of sizes at which one artifact must agree with an artifact compiled for these sizes alone.
The references come from PyTorch in f32. Closeness is |d| <= 1e-5 + 1e-4 * max|reference|, the default of stator-run: sums are taken in
another order, and exp, tanh and erf are polynomials of a few ulp.
"""
import json
import os
import subprocess
import sys

LEVELS = ["x86-64-v2", "x86-64-v3", "x86-64-v4"]
NOT_SUPPORTED = 5  # exit code of the tools for what this machine or build cannot do


def run(*command, allowed=()):
    process = subprocess.run(command, capture_output=True, text=True)
    if process.returncode and process.returncode not in allowed:
        sys.exit(f"$ {' '.join(command)}\n{process.stdout}{process.stderr}exit code {process.returncode}")
    return process.returncode


def check_cases(folder, artifact, cases):
    """Every level that the machine has, at one and two threads. Returns how many runs there were."""
    runs = 0
    for case in cases:
        tensors = [f"--input=@{folder}/{name}" for name in case["inputs"]]
        tensors += [f"--expected_output=@{folder}/{name}" for name in case["outputs"]]
        for level in LEVELS:
            for threads in ("1", "2"):
                code = run("stator-run", artifact, *tensors, f"--cpu-level={level}", f"--threads={threads}", allowed=(NOT_SUPPORTED,))
                runs += code == 0
    return runs


def main():
    model, scratch = sys.argv[1:]
    folder, name = os.path.split(model)
    with open(os.path.join(folder, "cases.json")) as file:
        description = json.load(file)
    is_dynamic = ".dyn." in name
    cases = [case for case in description["cases"] if is_dynamic or not case.get("dynamic_only")]

    for library in ("none", "onednn"):
        artifact = f"{scratch}.{library}.stator"
        run("stator-compile", model, "-o", artifact, f"--library={library}", "--quiet")
        runs = check_cases(folder, artifact, cases)
        if library == "none" and not runs:
            sys.exit("no CPU level of the artifact runs on this machine")
        print(f"{name}: --library={library}: {runs} runs agree with the references")

    for sizes in description.get("sweep", {}).get(name, []):
        static = f"{scratch}.static.stator"
        dims = [f"--dim={symbol}={size}" for symbol, size in sizes.items()]
        run("stator-compile", model, "-o", static, "--library=none", "--cpu-levels=x86-64-v2", "--quiet", *dims)
        run("stator-compare", f"{scratch}.none.stator", static, "--cpu-level=x86-64-v2", *dims)
        print(f"{name}: {sizes}: the dynamic artifact agrees with a static one")


main()
