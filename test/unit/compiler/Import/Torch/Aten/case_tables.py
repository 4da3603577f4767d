"""What the scripts that write tables of calls (*.cases) share: a call is run by PyTorch 1.13 and becomes a line, see AtenCases.h."""
import math
import os

import torch

T = torch.tensor
f16, bf16, f32, f64 = torch.float16, torch.bfloat16, torch.float32, torch.float64
i64, i32, i16, i8, u8, b1 = torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool
NAMES = {f16: "f16", bf16: "bf16", f32: "f32", f64: "f64", i64: "i64", i32: "i32", i16: "i16", i8: "i8", u8: "ui8", b1: "i1"}
CODES = {u8: 0, i8: 1, i16: 2, i32: 3, i64: 4, f16: 5, f32: 6, f64: 7, b1: 11, bf16: 15}
inf, nan = math.inf, math.nan
tables = {}
table = None


class Dynamic:
    """A tensor some of whose sizes are known only at run time: {axis: name}."""

    def __init__(self, value, names):
        self.value, self.names = value, names


class Constant:
    def __init__(self, value):
        self.value = value


def noise(*dims, seed=1, scale=1.0, dtype=f32):
    count = math.prod(dims)
    values = [((i * 7919 + seed * 104729) % 1000 / 500 - 1) * scale for i in range(count)]
    return T(values, dtype=f64).reshape(dims).to(dtype)


def number(x):
    if isinstance(x, bool):
        return str(int(x))
    if isinstance(x, float):
        short = "%.7g" % x
        return short if T(float(short), dtype=f32) == T(x, dtype=f32) else "%.9g" % x
    return str(x)


def literal(x, names=None):
    values = x.to(f64).reshape(-1).tolist() if x.dtype.is_floating_point else x.reshape(-1).tolist()
    sizes = ["%s:%d" % (names[a], s) if names and a in names else str(s) for a, s in enumerate(x.shape)]
    return "%s[%s]{%s}" % (NAMES[x.dtype], ",".join(sizes), " ".join(number(v) for v in values))


def argument(x):
    if isinstance(x, Dynamic):
        return literal(x.value, x.names)
    if isinstance(x, Constant):
        return "=" + literal(x.value)
    if isinstance(x, torch.Tensor):
        return literal(x)
    if isinstance(x, (list, tuple)):
        return "[" + ", ".join(argument(v) for v in x) + "]"
    if isinstance(x, str):
        return "'" + x + "'"
    if isinstance(x, torch.dtype):
        return str(CODES[x])
    if isinstance(x, float):
        text = repr(x)
        return text if any(c in text for c in ".en") else text + ".0"
    return repr(x)


def plain(x):
    if isinstance(x, (Dynamic, Constant)):
        return x.value.clone()
    if isinstance(x, (list, tuple)):
        return [plain(v) for v in x]
    return x.clone() if isinstance(x, torch.Tensor) else x


def call_text(name, arguments, keywords):
    return "%s(%s)" % (name, ", ".join([argument(a) for a in arguments] + ["%s=%s" % (k, argument(v)) for k, v in keywords.items()]))


def case(name, *arguments, tol=None, by=None, after=(), skip=(), **keywords):
    """after: positions of arguments that the call changes; skip: results that are not compared."""
    given, named = [plain(a) for a in arguments], {k: plain(v) for k, v in keywords.items()}
    if by is None:
        base, _, overload = name.partition(".")
        by = getattr(getattr(torch.ops.aten, base), overload or "default")
    try:
        results = by(*given, **named)
    except (RuntimeError, NotImplementedError, AttributeError, TypeError, IndexError) as error:
        half = next((t for t in (f16, bf16) if any(isinstance(x, torch.Tensor) and x.dtype == t for x in given)), None)
        if half and "not implemented for" in str(error):  # In f32, rounded once.
            with_floats = [x.to(f32) if isinstance(x, torch.Tensor) and x.dtype == half else x for x in given]
            results = by(*with_floats, **named)
            results = [r.to(half) for r in (results if isinstance(results, tuple) else [results])]
        else:
            raise SystemExit("%s: %s" % (call_text(name, arguments, keywords), error))
    results = list(results) if isinstance(results, (list, tuple)) else [results]
    texts = []
    for i, r in enumerate(results):
        texts.append("- " if i in skip else literal(r if isinstance(r, torch.Tensor) else T(r)))
    texts += ["@%d %s" % (i, literal(given[i])) for i in after]
    tables[table].append(("~%g " % tol if tol else "") + call_text(name, arguments, keywords) + " -> " + "; ".join(texts))


def refused(name, *arguments, says, **keywords):
    tables[table].append(call_text(name, arguments, keywords) + " ! " + says)


def begin(name):
    global table
    table = name
    tables[name] = []


def write(script):
    """Writes all tables next to this file, naming the script that makes them."""
    for name, lines in tables.items():
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name), "w") as f:
            f.write("# Written by %s; see AtenCases.h.\n" % script + "\n".join(lines) + "\n")
        print(name, len(lines))
