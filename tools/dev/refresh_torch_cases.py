"""Makes test/conformance/torch/ops: scripted modules of one op family each, with inputs and the outputs that PyTorch gives.

usage: refresh_torch_cases.py [FAMILY...]

A family is one TorchScript archive with one method per op; a method returns a tuple of everything that the op is asked for. The lists of
cases are in test/conformance/torch/ops/FAMILY.txt:

    method: snippet ;; snippet ;; ...

A snippet is statements separated by `;`, the last of which is an expression: one element of the result. `\\n` and `\\t` stand for a
new line and for four blanks. Its names are the inputs of POOL below and its own variables, which are the single letters k, p, q, r, y and
z. Lines that begin with a blank continue the line before.

What PyTorch refuses is reported and left out. Needs torch; the committed cases were made with torch 1.13.
"""
import io
import os
import re
import sys
import warnings
import zipfile

import numpy
import torch
import torch.nn.functional as F
import math

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../test/conformance/torch/ops")
NAMES = {torch.float32: "f32", torch.float64: "f64", torch.float16: "f16", torch.bfloat16: "bf16", torch.int64: "i64", torch.int32: "i32",
         torch.int16: "i16", torch.int8: "i8", torch.uint8: "u8", torch.bool: "i1"}


def make_pool():
    random = numpy.random.default_rng(1)

    def real(*shape):
        return torch.from_numpy(random.standard_normal(shape).astype(numpy.float32))

    def whole(low, high, *shape):
        return torch.from_numpy(random.integers(low, high, shape))

    inf, nan = float("inf"), float("nan")
    return {
        # Two matrices, a row, a column, a scalar and nothing, in f32.
        "f": real(2, 3), "g": real(2, 3), "row": real(3), "col": real(2, 1), "s": torch.tensor(1.75), "none": real(0, 3),
        "pos": real(2, 3).abs() + 0.1, "unit": torch.tensor([[-0.9, -0.5, -0.1], [0.2, 0.6, 0.99]]),
        "half": torch.tensor([[-2.5, -1.5, -0.5], [0.5, 1.5, 2.5]]), "odd": torch.tensor([nan, inf, -inf, 0.0, -0.0, 3.0, -7.0, 1e-30]),
        "many": torch.linspace(-8.0, 8.0, 33),
        # Integers with zeros and negatives, without, small ones, and other widths: ia i32, ib i16, ic i8, ua u8, da f64, ha f16.
        "i": torch.tensor([[-7, 0, 5], [7, -3, 2]]), "j": torch.tensor([[2, -3, 3], [-2, 5, -1]]), "n": torch.tensor([0, 1, 2]),
        "si": torch.tensor(3), "ia": torch.tensor([[-7, 0, 5], [7, -3, 2]], dtype=torch.int32), "ib": torch.tensor([300, -300, 7], dtype=torch.int16),
        "ic": torch.tensor([-128, 127, 3], dtype=torch.int8), "ua": torch.tensor([200, 255, 3], dtype=torch.uint8),
        "da": real(2, 3).double(), "ha": real(2, 3).half(), "bf": real(2, 3).bfloat16(),
        "b": torch.tensor([[True, False, True], [False, False, True]]), "c": torch.tensor([True, False, True]), "sb": torch.tensor(True),
        # Larger ones: a matrix, a batch, sequences, images, volumes.
        "m": real(4, 5), "v": real(5), "bm": real(3, 4, 5), "bn": real(3, 5, 2), "seq": real(2, 3, 7), "img": real(2, 4, 7, 9),
        "vol": real(1, 2, 5, 6, 7), "sq": real(4, 4), "t3": real(2, 3, 4), "idx": whole(0, 4, 6), "idx2": whole(0, 5, 4, 3),
        "neg": torch.tensor([-1, 0, 2, -4]), "ids": whole(0, 4, 2, 5), "tie": torch.tensor([[3.0, 1.0, 3.0, 2.0], [0.0, 5.0, 5.0, 5.0]]),
        "asc": torch.tensor([-1.0, 0.0, 0.5, 0.5, 2.0]),
        # Weights.
        "w1": real(6, 3, 3), "w2": real(6, 4, 3, 3), "wg": real(8, 2, 3, 3), "wd": real(4, 1, 3, 3), "w3": real(3, 2, 3, 2, 3), "b6": real(6), "b8": real(8),
        "b4": real(4), "p4": real(4).abs() + 0.5, "wt": real(4, 3, 3, 2), "wtg": real(4, 2, 3, 3), "w1t": real(3, 5, 4), "w3t": real(2, 3, 2, 3, 2),
        "lin": real(6, 5), "emb": real(4, 3),
        # Recurrent: [time, batch, features] and the weights of one or two directions of a cell of 4.
        "rx": real(5, 2, 3), "h0": real(1, 2, 4), "c0": real(1, 2, 4), "h2": real(2, 2, 4), "c2": real(2, 2, 4),
        "wih": real(16, 3) * 0.5, "whh": real(16, 4) * 0.5, "bih": real(16) * 0.5, "bhh": real(16) * 0.5, "wih2": real(16, 3) * 0.5,
        "whh2": real(16, 4) * 0.5, "bih2": real(16) * 0.5, "bhh2": real(16) * 0.5, "gih": real(12, 3) * 0.5, "ghh": real(12, 4) * 0.5,
        "gbi": real(12) * 0.5, "gbh": real(12) * 0.5, "tih": real(4, 3) * 0.5, "thh": real(4, 4) * 0.5, "x2": real(2, 3), "hx": real(2, 4), "cx": real(2, 4),
        # Attention and losses.
        "q3": real(2, 5, 8), "k3": real(2, 5, 8), "qkv": real(24, 8) * 0.4, "qkvb": real(24) * 0.3, "pw": real(8, 8) * 0.4, "b8b": real(8),
        "f1": real(16, 8) * 0.4, "f1b": real(16), "f2": real(8, 16) * 0.4, "mask": torch.tensor([[False, False, False, True, True], [False] * 5]),
        "amask": torch.ones(5, 5).triu(1).bool(), "logits": real(4, 5), "cls": torch.tensor([1, 0, 4, 2]), "ign": torch.tensor([1, -100, 4, 2]),
        "prob": torch.rand(4, 5, generator=torch.Generator().manual_seed(1)) * 0.9 + 0.05, "grid": real(2, 5, 6, 2) * 0.6,
    }


POOL = make_pool()


def read_family(path):
    lines = []
    with open(path) as file:
        for line in file.read().splitlines():
            if line.startswith(" ") and lines:
                lines[-1] += " " + line.strip()
            elif line.strip() and not line.startswith("#"):
                lines.append(line.strip())
    for line in lines:
        method, _, text = line.partition(":")
        yield method.strip(), [part.strip() for part in text.split(";;") if part.strip()]


def fresh_module():
    """A module whose type no other shares, so that methods can be added to it."""
    return type("Family", (torch.jit.ScriptModule,), {})()


def define(module, text):
    module._actual_script_module.define(text)  # The outer `define` would look up `F` and `math` in torch's own file.


def names_in(text):
    return [name for name in POOL if re.search(rf"(?<![\w.\"]){name}(?!\w)(?!=[^=])", text)]


def source(method, snippets):
    """The method's text; the variables of a snippet get its number, because one variable has one type in a whole function."""
    body, results = [], []
    for number, snippet in enumerate(snippets):
        *statements, result = [re.sub(r"(?<![\w.\"])([kpqryz])(?![\w\"])(?!=[^=])", rf"\1_{number}", part) if part else part
                               for part in (piece.strip() for piece in snippet.replace("\\n", "\n").replace("\\t", "    ").split(";"))]
        body += statements
        results.append(result)
    inputs = names_in("\n".join(body + results))
    lines = "\n".join(body).split("\n") if body else []
    return inputs, f"def {method}(self, {', '.join(f'{name}: Tensor' for name in inputs)}):\n" + "".join(
        f"    {line}\n" for line in lines) + f"    return ({', '.join(results)},)\n"


def flatten(value, path, found):
    if isinstance(value, torch.Tensor):
        found[path] = value
    elif isinstance(value, (tuple, list)):
        for number, element in enumerate(value):
            flatten(element, f"{path}.{number}", found)
    elif isinstance(value, bool):
        found[path] = torch.tensor(value)
    elif isinstance(value, int):
        found[path] = torch.tensor(value)
    elif isinstance(value, float):
        found[path] = torch.tensor(value, dtype=torch.float64)
    else:
        raise TypeError(f"a result of type {type(value)}")


def run(module, method, inputs):
    with torch.no_grad(), torch.jit.optimized_execution(False):
        found = {}
        flatten(getattr(module, method)(*[POOL[name].clone() for name in inputs]), "output", found)
        return found


def accepted(method, snippets, say):
    """The snippets that PyTorch takes alone."""
    good = []
    for snippet in snippets:
        try:
            inputs, text = source(method, [snippet])
            module = fresh_module()
            define(module, text)
            run(module, method, inputs)
            good.append(snippet)
        except Exception as error:  # PyTorch has many.
            say(f"{method}: {snippet}: {' '.join(str(error).split())[:200]}")
    return good


def to_array(tensor):
    tensor = tensor.detach()
    return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).contiguous().numpy()


def write_npz(path, arrays):
    """Deterministic, compressed."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            buffer = io.BytesIO()
            numpy.lib.format.write_array(buffer, array, version=(1, 0))
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), buffer.getvalue(), zipfile.ZIP_DEFLATED, 9)


def save(module, path):
    """torch.jit.save without the debug records, which are most of a small archive."""
    buffer = io.BytesIO()
    torch.jit.save(module, buffer)
    with zipfile.ZipFile(buffer) as source_archive, zipfile.ZipFile(path, "w") as archive:
        for name in source_archive.namelist():
            if not name.endswith(".debug_pkl"):
                archive.writestr(zipfile.ZipInfo(name), source_archive.read(name), zipfile.ZIP_DEFLATED, 9)


def make_family(family):
    module, arrays, inputs_of, used, count = fresh_module(), {}, {}, {}, 0
    for method, snippets in read_family(f"{HERE}/{family}.txt"):
        snippets = accepted(method, snippets, lambda text: print(f"{family}: left out: {text}"))
        if not snippets:
            continue
        inputs, text = source(method, snippets)
        define(module, text)
        inputs_of[method] = inputs
        results = run(module, method, inputs)
        rtol = max([{torch.float16: 2e-3, torch.bfloat16: 2e-2}.get(value.dtype, 0) for value in results.values()], default=0)
        inputs_of[method] = (inputs, rtol)
        arrays.update({f"{method}/{path}": to_array(value) for path, value in results.items()})
        used.update({name: POOL[name] for name in inputs})
        count += len(snippets)
    save(module, f"{HERE}/{family}.pt")
    write_npz(f"{HERE}/{family}.npz", {**{f"inputs/{name}": to_array(value) for name, value in used.items()}, **arrays})
    with open(f"{HERE}/{family}.cases", "w") as file:
        for method, (inputs, rtol) in inputs_of.items():
            specs = [f"{name}={'x'.join([*map(str, POOL[name].shape), NAMES[POOL[name].dtype]])}" for name in inputs]
            file.write(" ".join([method, f"rtol={rtol or 1e-4}", *specs]) + "\n")
    print(f"{family}: {len(inputs_of)} methods, {count} snippets, {len(arrays)} results, "
          f"{os.path.getsize(f'{HERE}/{family}.pt') + os.path.getsize(f'{HERE}/{family}.npz')} bytes")


def main():
    warnings.filterwarnings("ignore")
    families = sys.argv[1:] or sorted(name[:-4] for name in os.listdir(HERE) if name.endswith(".txt"))
    for family in families:
        make_family(family)


if __name__ == "__main__":
    main()
