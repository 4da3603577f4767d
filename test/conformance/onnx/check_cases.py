"""Compiles and runs the node cases of one family and compares the results with those that ONNX gives.

usage: check_cases.py FAMILY SCRATCH

Closeness is |d| <= 1e-7 + 1e-3 * |reference|, the bounds of ONNX's own runner: the references were computed by NumPy in various
precisions and orders, so that tighter ones would test NumPy. Shapes and element types must agree exactly; NaN equals NaN.

A family with a folder of its own (contrib) is all that is in it, without constants.
"""
import json
import os
import subprocess
import sys


def run(*command):
    process = subprocess.run(command, capture_output=True, text=True)
    return "" if process.returncode == 0 else f"$ {' '.join(command)}\n{process.stdout}{process.stderr}exit code {process.returncode}\n"


def check(folder, constants, artifact):
    # An input that a shape depends on is bound to its value; the others are read when the model runs.
    bound = [f"--const={constant}" for constant in constants]
    wrong = run("stator-compile", f"{folder}/model.onnx", "-o", artifact, "--library=none", "--mcpu=host", "--quiet", *bound)
    if wrong:
        return wrong
    inputs = [f"--input=@{folder}/inputs.npz"] if os.path.exists(f"{folder}/inputs.npz") else []
    return run("stator-run", artifact, *inputs, f"--expected_output=@{folder}/outputs.npz", "--rtol=1e-3", "--atol=1e-7")


def main():
    family, scratch = sys.argv[1:]
    here = os.path.dirname(os.path.abspath(__file__))
    folder = f"{here}/{family}"
    if os.path.isdir(folder):
        cases = {name: [] for name in sorted(os.listdir(folder))}
    else:
        folder = f"{here}/cases"
        with open(f"{here}/cases.json") as file:
            cases = json.load(file)[family]
    failed = 0
    for name, constants in cases.items():
        wrong = check(f"{folder}/{name}", constants, f"{scratch}.stator")
        if wrong:
            failed += 1
            print(f"{name}: failed\n{wrong}")
    print(f"{family}: {len(cases) - failed} of {len(cases)} cases agree")
    sys.exit(failed != 0 or not cases)


main()
