"""Compiles and runs a family of op cases and compares the results with PyTorch's.

usage: check_ops.py FAMILY SCRATCH

exported/FAMILY.pt2 has a node per op (tools/dev/refresh_exported_cases.py). ops/FAMILY.pt has a method per op; each is an entry of one artifact. FAMILY.cases says for each method which bound its results have to
keep and which inputs it takes; FAMILY.npz holds `inputs/NAME` and `METHOD/RESULT`. FAMILY.txt is what the methods were made from
(tools/dev/refresh_torch_cases.py): a result `output.3` is the fourth snippet of its method.

Shapes and element types must agree exactly, and NaN equals NaN. Every CPU level of this machine runs.
"""
import os
import shutil
import subprocess
import sys
import zipfile

LEVELS = ["x86-64-v2", "x86-64-v3", "x86-64-v4"]
NOT_SUPPORTED = 5  # exit code of the tools for what this machine or build cannot do


def run(*command, allowed=()):
    process = subprocess.run(command, capture_output=True, text=True)
    wrong = process.returncode != 0 and process.returncode not in allowed
    return process.returncode, f"$ {' '.join(command)}\n{process.stdout}{process.stderr}exit code {process.returncode}\n" if wrong else ""


def unpack(archive, scratch):
    """The arrays of each folder of the archive as one .npz; those of `inputs` as files."""
    folders = {}
    for name in archive.namelist():
        folders.setdefault(os.path.dirname(name), []).append(name)
    for folder, names in folders.items():
        if folder == "inputs":
            for name in names:
                with open(f"{scratch}/{os.path.basename(name)}", "wb") as file:
                    file.write(archive.read(name))
            continue
        with zipfile.ZipFile(f"{scratch}/{folder}.npz", "w") as part:
            for name in names:
                part.writestr(os.path.basename(name), archive.read(name))


def main():
    family, scratch = sys.argv[1:]
    here = os.path.dirname(os.path.abspath(__file__))
    is_exported = os.path.exists(f"{here}/exported/{family}.pt2")
    source = f"{here}/{'exported' if is_exported else 'ops'}/{family}"
    shutil.rmtree(scratch, ignore_errors=True)
    os.makedirs(scratch)
    with zipfile.ZipFile(f"{source}.npz") as archive:
        unpack(archive, scratch)
    with open(f"{source}.cases") as file:
        methods = {words[0]: (words[1], dict(word.split("=") for word in words[2:])) for words in map(str.split, file)}
    types = {name: text for _, inputs in methods.values() for name, text in inputs.items()}
    artifact = f"{scratch}/{family}.stator"
    # What is missing in a TorchScript file: the sizes, and which methods are wanted.
    options = [] if is_exported else [f"--method={method}" for method in methods] + [f"--input={name}={text}" for name, text in types.items()]
    code, wrong = run("stator-compile", f"{source}.pt2" if is_exported else f"{source}.pt", "-o", artifact, "--quiet", "--library=none", *options)
    if wrong:
        sys.exit(wrong)
    failed = runs = 0
    for method, (bound, inputs) in methods.items():
        tensors = [f"--input={name}=@{scratch}/{name}.npy" for name in inputs]
        for level in LEVELS:
            code, wrong = run("stator-run", artifact, f"--function={method}", *tensors, f"--expected_output=@{scratch}/{method}.npz",
                              f"--{bound}", f"--cpu-level={level}", allowed=(NOT_SUPPORTED,))
            runs += code == 0
            if wrong:
                failed += 1
                print(f"{method}: failed\n{wrong}")
    print(f"{family}: {runs} runs of {len(methods)} methods agree")
    sys.exit(failed != 0 or not runs)


main()
