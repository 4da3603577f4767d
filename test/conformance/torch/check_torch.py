"""Compiles a TorchScript or torch.export file and compares each result with stored references.

usage: check_torch.py MODEL.pt|MODEL.pt2 SCRATCH

Beside the model lies cases.json: for each file the options to compile it with and the cases that it takes, and for each case the inputs
and the expected outputs as .npy files, in order. A case may have several `calls` with the same inputs, between which the state is carried,
the `state` after the last of them, and what becomes of inputs that the model writes (`after`, extra outputs). The references come from
PyTorch's eager mode. Closeness is |d| <= 1e-5 + rtol * max|reference|, where rtol is 1e-4 unless the case says otherwise.
"""
import array
import ast
import json
import os
import subprocess
import sys
import zipfile

LEVELS = ["x86-64-v2", "x86-64-v3", "x86-64-v4"]
NOT_SUPPORTED = 5  # exit code of the tools for what this machine or build cannot do
CODES = {"<f4": "f", "<f8": "d", "<i8": "q", "<i4": "i", "|b1": "b", "|u1": "B"}


def run(*command, allowed=()):
    process = subprocess.run(command, capture_output=True, text=True)
    if process.returncode and process.returncode not in allowed:
        sys.exit(f"$ {' '.join(command)}\n{process.stdout}{process.stderr}exit code {process.returncode}")
    return process.returncode


def read_npy(data):
    """(shape, values) of a file of format 1.0."""
    length = int.from_bytes(data[8:10], "little")
    header = ast.literal_eval(data[10:10 + length].decode())
    return header["shape"], list(array.array(CODES[header["descr"]], data[10 + length:]))


def check_state(saved, folder, expected):
    with zipfile.ZipFile(saved) as archive:
        for name, file_name in expected.items():
            with open(f"{folder}/{file_name}", "rb") as file:
                shape, values = read_npy(file.read())
            got_shape, got = read_npy(archive.read(f"{name}.npy"))
            bound = 1e-5 + 1e-4 * max(map(abs, values), default=0)
            if got_shape != shape or any(abs(a - b) > bound for a, b in zip(got, values)):
                sys.exit(f"state {name}: {got_shape} {got[:8]}, expected {shape} {values[:8]}")


def check_case(folder, artifact, case, level, threads, scratch):
    inputs = [f"--input=@{folder}/{name}" for name in case["inputs"]]
    after = [f"--expected_output={name}=@{folder}/{path}" for name, path in case.get("after", {}).items()]
    calls, state = case.get("calls") or [case["outputs"]], []
    for number, outputs in enumerate(calls):
        tensors = [f"--expected_output=@{folder}/{name}" for name in outputs]
        saved = [f"--save-state={scratch}.{number}.npz"] if "state" in case or len(calls) > 1 else []
        code = run("stator-run", artifact, *inputs, *tensors, *after, *state, *saved, f"--rtol={case.get('rtol', 1e-4)}",
                   f"--cpu-level={level}", f"--threads={threads}", allowed=(NOT_SUPPORTED,))
        if code:
            return 0
        state = [f"--load-state={scratch}.{number}.npz"] if saved else []
    if "state" in case:
        check_state(f"{scratch}.{len(calls) - 1}.npz", folder, case["state"])
    return 1


def main():
    model, scratch = sys.argv[1:]
    folder, name = os.path.split(model)
    with open(os.path.join(folder, "cases.json")) as file:
        description = json.load(file)
    entry = description["files"][name]
    for number, options in enumerate(entry["options"]):
        for library in ("none", "onednn"):
            artifact = f"{scratch}.{library}.stator"
            run("stator-compile", model, "-o", artifact, f"--library={library}", "--quiet", *options["flags"])
            runs = sum(check_case(folder, artifact, description["cases"][case], level, threads, scratch)
                       for case in options["cases"] for level in LEVELS for threads in (1, 2))
            if library == "none" and not runs:
                sys.exit("no CPU level of the artifact runs on this machine")
            print(f"{name}: options {number}, --library={library}: {runs} runs agree with the references")


main()
