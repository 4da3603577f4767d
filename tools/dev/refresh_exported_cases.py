"""Makes test/conformance/torch/exported: .pt2 files whose nodes are the operators of exported graphs, with the outputs that PyTorch gives.

usage: refresh_exported_cases.py [FAMILY...]

FAMILY.txt lists calls such as `aten.add.Tensor(f, g, alpha=2)`, separated by `;;`, with the tensors of refresh_torch_cases.POOL; each call
becomes a node whose arguments have the names of the operator's schema, and its results become outputs. PyTorch itself runs the calls. The
files have the layout that PyTorch 2.15 writes, so that an old PyTorch is enough to make them; operators that it lacks are reported and
left out.
"""
import json
import os
import sys
import warnings
import zipfile

import torch

from refresh_torch_cases import NAMES, POOL, flatten, read_family, to_array, write_npz

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../test/conformance/torch/exported")
DTYPES = {torch.uint8: 1, torch.int8: 2, torch.int16: 3, torch.int32: 4, torch.int64: 5, torch.float16: 6, torch.float32: 7,
          torch.float64: 8, torch.bool: 12, torch.bfloat16: 13}


class Recorder:
    """Stands for `torch.ops.aten`; a call of aten.OP.OVERLOAD runs it and records a node."""

    def __init__(self, target="torch.ops.aten", op=None, program=None):
        self.target, self.op, self.program = target, op or torch.ops.aten, program or {"nodes": [], "values": {}, "names": {}, "keep": []}

    def __getattr__(self, name):
        return Recorder(f"{self.target}.{name}", getattr(self.op, name), self.program)

    def note(self, name, tensor):
        self.program["names"][id(tensor)] = name
        self.program["values"][name] = meta(tensor)
        self.program["keep"].append(tensor)

    def result(self, value):
        name = f"v{len(self.program['values'])}"
        self.note(name, value)
        return {"as_tensor": {"name": name}}

    def __call__(self, *positional, **keywords):
        schema = self.op._schema
        inputs = []
        for number, parameter in enumerate(schema.arguments):
            if number < len(positional):
                value = positional[number]
            elif parameter.name in keywords:
                value = keywords[parameter.name]
            else:
                continue
            kind = 2 if parameter.kwarg_only else 1
            inputs.append({"name": parameter.name, "arg": argument(value, str(parameter.type), self.program["names"]), "kind": kind})
        value = self.op(*positional, **keywords)
        if isinstance(value, list):
            outputs = [{"as_tensors": [self.result(element)["as_tensor"] for element in value]}]
        elif isinstance(value, tuple):
            outputs = [self.result(element) for element in value]
        else:
            outputs = [self.result(value)]
        self.program["nodes"].append({"target": self.target, "inputs": inputs, "outputs": outputs, "metadata": {},
                                      "is_hop_single_tensor_return": None, "name": outputs[0].get("as_tensor", {}).get("name", "list")})
        return value


def meta(tensor):
    sizes = [{"as_int": size} for size in tensor.shape]
    return {"dtype": DTYPES[tensor.dtype], "sizes": sizes, "requires_grad": False, "device": {"type": "cpu", "index": None},
            "strides": [{"as_int": stride} for stride in tensor.stride()], "storage_offset": {"as_int": 0}, "layout": 7}


def number(value):
    return value if abs(value) < float("inf") else "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"


def argument(value, type_text, names):
    """A value in the tagged form of the program's JSON."""
    if isinstance(value, torch.Tensor):
        return {"as_tensor": {"name": names[id(value)]}}
    if value is None:
        return {"as_none": True}
    if isinstance(value, torch.dtype):
        return {"as_scalar_type": DTYPES[value]}
    if isinstance(value, torch.device):
        return {"as_device": {"type": "cpu", "index": None}}
    if isinstance(value, torch.memory_format):
        return {"as_memory_format": 1 if value == torch.contiguous_format else 2}
    if isinstance(value, bool):
        return {"as_bool": value}
    if isinstance(value, int):
        return {"as_float": float(value)} if type_text in ("float", "Optional[float]") else {"as_int": value}
    if isinstance(value, float):
        return {"as_float": number(value)}
    if isinstance(value, str):
        return {"as_string": value}
    if "Optional[Tensor]" in type_text:
        return {"as_optional_tensors": [{"as_none": True} if item is None else {"as_tensor": {"name": names[id(item)]}} for item in value]}
    if "Tensor" in type_text or not value:
        return {"as_tensors": [{"name": names[id(item)]} for item in value]}
    if isinstance(value[0], bool):
        return {"as_bools": list(value)}
    if "float" in type_text:
        return {"as_floats": [number(float(item)) for item in value]}
    return {"as_ints": list(value)}


def leaf():
    return {"type": None, "context": None, "children_spec": []}


def build(calls, say):
    """(program, inputs, results) of the calls that PyTorch takes."""
    recorder, inputs, results = Recorder(), {}, {}
    pool = {name: tensor.clone() for name, tensor in POOL.items()}
    for name, tensor in pool.items():
        recorder.program["names"][id(tensor)] = name
    outputs = []
    for call in calls:
        before = len(recorder.program["nodes"])
        try:
            value = eval(call, {**pool, "aten": recorder, "torch": torch, "inf": float("inf"), "nan": float("nan")})
        except Exception as error:  # PyTorch has many.
            del recorder.program["nodes"][before:]
            say(f"{call}: {' '.join(str(error).split())[:160]}")
            continue
        found = {}
        flatten(value, "x", found)
        for tensor in found.values():
            results[f"output.{len(outputs)}"] = tensor.clone()
            outputs.append({"as_tensor": {"name": recorder.program["names"][id(tensor)]}})
    text = json.dumps([node["inputs"] for node in recorder.program["nodes"]])
    for name, tensor in pool.items():
        if f'"name": "{name}"}}' in text:
            inputs[name] = POOL[name]
            recorder.program["values"][name] = meta(tensor)
    return program_of(recorder.program, list(inputs), outputs), inputs, results


def program_of(recorded, inputs, outputs):
    def spec(count):
        return {"type": "builtins.tuple", "context": "null", "children_spec": [leaf() for _ in range(count)]}

    in_spec = [1, {"type": "builtins.tuple", "context": "null",
                   "children_spec": [spec(len(inputs)), {"type": "builtins.dict", "context": "[]", "children_spec": []}]}]
    signature = {"inputs": [], "outputs": [], "in_spec": json.dumps(in_spec), "out_spec": json.dumps([1, spec(len(outputs))]),
                 "forward_arg_names": inputs}
    arguments = [{"as_tensor": {"name": name}} for name in inputs]
    graph = {"inputs": arguments, "outputs": outputs, "nodes": recorded["nodes"], "tensor_values": recorded["values"], "sym_int_values": {},
             "sym_bool_values": {}, "is_single_tensor_return": False, "custom_obj_values": {}, "sym_float_values": {}}
    return {"graph_module": {"graph": graph, "signature": {"input_specs": [{"user_input": {"arg": value}} for value in arguments],
                                                           "output_specs": [{"user_output": {"arg": value}} for value in outputs]},
                             "module_call_graph": [{"fqn": "", "signature": signature}], "metadata": {}, "treespec_namedtuple_fields": {}},
            "opset_version": {"aten": 10}, "range_constraints": {}, "schema_version": {"major": 8, "minor": 20}, "verifiers": ["ATEN"],
            "torch_version": "2.15.0", "guards_code": []}


def save(program, path):
    records = {"data/weights/model_weights_config.json": '{"config": {}}', "data/constants/model_constants_config.json": '{"config": {}}',
               "models/model.json": json.dumps(program), "archive_format": "pt2", "archive_version": "0", ".data/version": "6\n",
               "byteorder": "little"}
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in records.items():
            archive.writestr(zipfile.ZipInfo(f"cases/{name}"), text, zipfile.ZIP_DEFLATED, 9)


def main():
    warnings.filterwarnings("ignore")
    for family in sys.argv[1:] or sorted(name[:-4] for name in os.listdir(HERE) if name.endswith(".txt")):
        calls = [call for _, listed in read_family(f"{HERE}/{family}.txt") for call in listed]
        program, inputs, results = build(calls, lambda text: print(f"{family}: left out: {text}"))
        save(program, f"{HERE}/{family}.pt2")
        write_npz(f"{HERE}/{family}.npz", {**{f"inputs/{name}": to_array(value) for name, value in inputs.items()},
                                           **{f"forward/{path}": to_array(value) for path, value in results.items()}})
        rtol = max([{torch.float16: 2e-3, torch.bfloat16: 2e-2}.get(value.dtype, 1e-4) for value in results.values()])
        specs = [f"{name}={'x'.join([*map(str, tensor.shape), NAMES[tensor.dtype]])}" for name, tensor in inputs.items()]
        with open(f"{HERE}/{family}.cases", "w") as file:
            file.write(" ".join(["forward", f"rtol={rtol}", *specs]) + "\n")
        print(f"{family}: {len(program['graph_module']['graph']['nodes'])} nodes, {len(results)} results")


if __name__ == "__main__":
    main()
