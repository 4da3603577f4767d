"""Writes docs/onnx-ops.md and docs/torch-ops.md from the tables of the importers; with --check, fails when a page is stale instead.

    write_op_tables.py SOURCE_DIR --bin=DIR [--check]

DIR holds stator-check, which prints the tables. Run it after adding an operator.
"""
import pathlib
import re
import subprocess
import sys

GENERATED = "<!-- Written by tools/dev/write_op_tables.py: do not edit. -->\n"

ONNX = """# ONNX operators

{generated}
Stator imports these {count} operators of ONNX's own domain (opsets 6 to 27; a form of another opset that differs is handled by its number):

{standard}

and, of the domain `com.microsoft`, {count_microsoft} that ONNX Runtime's optimiser and exporters for it write:

{microsoft}

Functions that a model brings along are expanded. `stator check model.onnx` names every node of a model that is not supported, with its reason: some
forms of an operator above may be refused too, for instance those whose shapes depend on data.
"""

TORCH = """# PyTorch operators

{generated}
TorchScript (`.pt`) and torch.export (`.pt2`) files share one table, with {count} overloads of {count_names} operators. Each has an in-place form too (`relu_`
for `relu`) where PyTorch has one. Operators outside of the table that only handle Python values (arithmetic on numbers, strings, lists, `len`, `range`) are
evaluated when the model is compiled, and control flow (`if`, `while`, `for`; `cond`, `while_loop`, `scan`, `map`) is kept where it depends on data: see
[compiling a PyTorch model](howto/compile-a-pytorch-model.md).

| Operator | Overloads |
|---|---|
{rows}

`stator check model.pt --input=...` names every use that is not supported, with its place and reason: some forms of an operator above may be refused too, for
instance those whose shapes depend on data. `stator check --list-operators=torch` prints the table with the full signatures.
"""


def wrapped(names):
    """A paragraph of names in code, in lines of at most 150 columns."""
    lines, line = [], ""
    for name in names:
        piece = f"`{name}`"
        if line and len(line) + len(piece) + 2 > 148:
            lines.append(line + ",")
            line = piece
        else:
            line += (", " if line else "") + piece
    return "\n".join(lines + [line])


def table_of(bin_dir, front_end):
    output = subprocess.run([bin_dir / "stator-check", f"--list-operators={front_end}"], capture_output=True, text=True, check=True)
    return output.stdout.splitlines()


def onnx_page(names):
    prefix = "com.microsoft."
    standard = [n for n in names if not n.startswith(prefix)]
    microsoft = [n[len(prefix):] for n in names if n.startswith(prefix)]
    return ONNX.format(generated=GENERATED, count=len(standard), standard=wrapped(standard), count_microsoft=len(microsoft), microsoft=wrapped(microsoft))


def torch_page(schemas):
    overloads = {}
    for schema in schemas:
        name, dot, overload = re.match(r"([^.(]+)(\.?)([^(]*)\(", schema).groups()
        overloads.setdefault(name, []).append(overload if dot else "default")
    rows = [f"| `{name}` | {', '.join(f'`{o}`' for o in sorted(set(all_)))} |" for name, all_ in sorted(overloads.items())]
    return TORCH.format(generated=GENERATED, count=len(schemas), count_names=len(overloads), rows="\n".join(rows))


def main(root, bin_dir, check):
    stale = 0
    for front_end, page in {"onnx": onnx_page, "torch": torch_page}.items():
        path = pathlib.Path(root) / f"docs/{front_end}-ops.md"
        text = page(table_of(pathlib.Path(bin_dir), front_end))
        if not check:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            print(f"{path.relative_to(root)} is stale: run tools/dev/write_op_tables.py {root} --bin={bin_dir}")
            stale += 1
    return stale != 0


options = [a for a in sys.argv[2:] if a != "--check"]
if len(options) != 1 or not options[0].startswith("--bin="):
    sys.exit(__doc__)
sys.exit(main(sys.argv[1], options[0][len("--bin="):], "--check" in sys.argv))
