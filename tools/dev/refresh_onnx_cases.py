"""Makes test/conformance/onnx/cases from the backend tests of an installed `onnx` package.

usage: refresh_onnx_cases.py BIN_FOLDER [NODE_FOLDER]

BIN_FOLDER holds stator-compile: which inputs of a case must be constants is found by trying. NODE_FOLDER is the place of the cases when
it is not the installed package's. Needs the Python packages onnx and numpy.
"""
import glob
import json
import os
import shutil
import subprocess
import sys

import numpy
import onnx
from onnx import numpy_helper

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../test/conformance/onnx")
NOT_SUPPORTED = 5


def load(pattern):
    paths = sorted(glob.glob(pattern), key=lambda path: int(path.rsplit("_", 1)[1][:-3]))
    arrays = [numpy_helper.to_array(onnx.load_tensor(path)) for path in paths]
    # NumPy has no bf16; the tools read f32 for it.
    return [array.astype(numpy.float32) if array.dtype.name == "bfloat16" else array for array in arrays]


def as_text(name, array):
    return f"{name}=" + ",".join(str(value).lower() if array.dtype.kind == "b" else repr(value.item()) for value in array.reshape(-1))


def choose_constants(compiler, model, inputs):
    """The first choice with which the model compiles: no constants, integers but the first input, all small ones but it, all of them."""
    later = list(inputs.items())[1:]
    choices = [[], [name for name, array in later if array.dtype.kind in "iub"], [name for name, array in later if array.size <= 64],
               [name for name, array in inputs.items() if array.dtype.kind in "iub"], list(inputs)]
    for choice in choices:
        constants = [as_text(name, inputs[name]) for name in choice]
        command = [compiler, model, "--stop-after=plan", "--library=none", "--quiet", "--no-crash-reproducer"]
        process = subprocess.run(command + [f"--const={text}" for text in constants], capture_output=True, text=True)
        if process.returncode == 0:
            return choice, constants
        if process.returncode != NOT_SUPPORTED:
            break
    sys.exit(f"{model}: {process.stderr}")


def main():
    compiler = os.path.join(sys.argv[1], "stator-compile")
    source = sys.argv[2] if len(sys.argv) > 2 else os.path.join(os.path.dirname(onnx.__file__), "backend/test/data/node")
    with open(f"{HERE}/families.json") as file:
        families = json.load(file)
    shutil.rmtree(f"{HERE}/cases", ignore_errors=True)
    result = {}
    for family, names in families.items():
        result[family] = {}
        for name in names:
            folder, target = f"{source}/test_{name}", f"{HERE}/cases/{name}"
            os.makedirs(target)
            shutil.copyfile(f"{folder}/model.onnx", f"{target}/model.onnx")
            graph = onnx.load(f"{folder}/model.onnx").graph
            defaults = {tensor.name for tensor in graph.initializer}
            names_in = [value.name for value in graph.input if value.name not in defaults]
            inputs = dict(zip(names_in, load(f"{folder}/test_data_set_0/input_*.pb")))
            outputs = dict(zip([value.name for value in graph.output], load(f"{folder}/test_data_set_0/output_*.pb")))
            choice, constants = choose_constants(compiler, f"{target}/model.onnx", inputs)
            rest = {key: array for key, array in inputs.items() if key not in choice}
            if rest:
                numpy.savez_compressed(f"{target}/inputs.npz", **rest)
            numpy.savez_compressed(f"{target}/outputs.npz", **outputs)
            result[family][name] = constants
    with open(f"{HERE}/cases.json", "w") as file:
        lines = [f'  "{family}": {{\n' + ",\n".join(f"    {json.dumps(name)}: {json.dumps(c)}" for name, c in cases.items()) + "\n  }"
                 for family, cases in result.items()]
        file.write("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{sum(len(cases) for cases in result.values())} cases in {len(result)} families")


main()
