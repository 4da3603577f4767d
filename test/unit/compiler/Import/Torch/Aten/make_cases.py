"""Writes the tables of calls and results (*.cases) that the tests of this folder read. Needs PyTorch 1.13; run it without arguments.

Each table is a list of `case(operator, arguments..., keywords...)`. Newer operators are given the function that they stand for (`by`).
Inputs are numbers that can be read, not random ones, so that a failing line can be checked by hand.
"""
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


A, B = T([[1.5, -2.0, 0.25], [0.0, 3.0, -0.5]]), T([[2.0, 0.5, -1.0]])
I, J = T([[7, -7, 5], [-5, 0, 3]]), T([[2, 3, -2]])
F = T([True, False, True])
odd = T([0.0, -0.0, inf, -inf, nan, 1e-3, -2.5, 2.5])


def arithmetic():
    begin("Arithmetic.cases")
    for name in ["add", "sub", "mul", "div", "remainder", "fmod", "maximum", "atan2"]:
        case(name + (".Tensor" if hasattr(getattr(torch.ops.aten, name), "Tensor") else ""), A, B)
    for x, y in [(I, A), (A.to(f16), B), (A.to(bf16), T([2.5, -1.5, 4.0], dtype=f16)), (I.to(i32), T(3)), (I.to(u8) % 9, T([[-3, 2, 1]], dtype=i8)),
                 (A, T(2.5, dtype=f64)), (I, T(2.5, dtype=f64)), (F, T([1, 2, 3], dtype=i16)), (T(3), T(2.5)), (F, F), (T([]), T([[1.0]]))]:
        case("add.Tensor", x, y)
        case("mul.Tensor", x, y)
    case("add.Tensor", A, B, alpha=2)
    case("add.Tensor", I, J, alpha=-3)
    case("sub.Tensor", A.to(bf16), B.to(bf16), alpha=0.3)
    case("rsub.Scalar", A, 1, 2)
    case("rsub.Scalar", I, 2.5)
    case("mul.Scalar", I, 2.5, by=lambda x, s: x * s)
    case("mul.Scalar", A.to(f16), 0.1, by=lambda x, s: (x.to(f32) * s).to(f16))
    case("add.Tensor", F, 2, by=lambda x, s: x + s)
    case("add.Tensor", Constant(T(3)), Dynamic(A, {0: "n"}), by=lambda x, y: x + y)
    case("mul.Tensor", Dynamic(A, {0: "n", 1: "m"}), Dynamic(A + 1, {0: "n", 1: "m"}))
    refused("sub.Tensor", F, F, says="booleans cannot be subtracted")
    for mode in [None, "floor", "trunc"]:
        case("div.Tensor_mode", A, B, rounding_mode=mode)
        case("div.Tensor_mode", I, J, rounding_mode=mode)
        case("div.Scalar_mode", I, 2, rounding_mode=mode, by=lambda x, s, rounding_mode: torch.div(x, s, rounding_mode=rounding_mode))
    case("div.Tensor", I, J)
    case("div.Tensor", F, T([2, 2, 2]))
    case("floor_divide", I, J)
    case("floor_divide", A, B)
    case("floor_divide.Scalar", I, 2, by=torch.floor_divide)
    case("remainder.Tensor", I, J)
    case("remainder.Scalar_Tensor", 7, T([3, -3, 5]), by=torch.remainder)
    case("remainder.Scalar", A, -1.5)
    case("fmod.Tensor", I, J)
    case("fmod.Scalar", A, 1.5)
    for e in [0, 1, 2, 3, 0.5, -0.5, -1, -2, 2.5]:
        case("pow.Tensor_Scalar", A.abs() + 0.5, e)
    case("pow.Tensor_Scalar", I, 3)
    case("pow.Tensor_Scalar", I, 0.5)
    case("pow.Tensor_Tensor", I.abs(), T([[2, 0, 1]]))
    case("pow.Tensor_Tensor", T([2.0, 3.0]), T([3, 2]))
    case("pow.Tensor_Tensor", T([2.71875, 3.375], dtype=bf16), T(3.544))
    case("pow.Scalar", 2, T([1, 5, 0]))
    case("pow.Scalar", 2.0, T([1, 5, 0]))
    refused("pow.Tensor_Scalar", I, -1, says="integers to negative powers")
    case("addcmul", A, A, B, value=0.5)
    case("addcmul", I, I, J, value=2)
    case("addcdiv", A, A, B, value=0.5)
    case("lerp.Scalar", A, B, 0.25)
    case("lerp.Tensor", A, B, T([0.75]))
    case("hypot", T([3.0, 0.0, inf, -1e30]), T([4.0, 0.0, 1.0, 1e30]))
    case("copysign.Tensor", T([1.0, -2.0, 3.0]), T([-0.0, 0.0, -5.0]))
    case("xlogy.Tensor", T([0.0, 0.0, 2.0, 1.0]), T([0.0, nan, 3.0, -1.0]))
    case("logaddexp", T([1.0, inf, -inf, 100.0]), T([2.0, inf, -inf, 0.0]))
    for name in ["eq", "ne", "lt", "le", "gt", "ge"]:
        case(name + ".Tensor", odd, T([0.0, 0.0, inf, 0.0, nan, 1.0, -2.5, 3.0]))
        case(name + ".Scalar", I, 2.5)
    case("eq.Tensor", I, T([[7.0, -7.5, 5.0]]))
    for name in ["logical_and", "logical_or", "logical_xor"]:
        case(name, odd, T(1.0))
    for name in ["bitwise_and", "bitwise_or", "bitwise_xor"]:
        case(name + ".Tensor", I, J)
        case(name + ".Scalar", F, True, by=getattr(torch, name))
        case("__" + name[8:] + "__.Scalar", I, 6)
    for name in ["__lshift__", "__rshift__"]:
        case(name + ".Scalar", I, 1)
        case(name + ".Tensor", I.to(i32), T([[1, 2, 3]], dtype=i32))
    case("where.self", A > 0, A, B)
    case("where.self", A > 0, A, T(1, dtype=i64), by=torch.where)
    case("where.ScalarOther", A > 0, I, 0.5, by=torch.where)
    case("where.Scalar", A > 0, 1, 0, by=torch.where)
    case("where.Scalar", A > 0, 1.0, 0.0, by=torch.where)
    case("clamp", odd, -1, 2)
    case("clamp", I, min=-2.5)
    case("clamp", I, max=4)
    case("clamp.Tensor", A, T([0.0, -1.0, nan]), T(1.0))
    case("clamp_min", A, 0.5)
    case("clamp_max.Tensor", A, B)
    refused("clamp", A, says="neither a lower nor an upper bound")
    case("max.other", odd, T(0.5))
    case("fmax", odd, T(nan))
    case("fmin", odd, T(0.5))
    case("heaviside", odd[:4], T(0.5))
    case("isclose", T([1.0, 2.0, nan, inf]), T([1.000001, 2.1, nan, inf]), equal_nan=True)
    case("allclose", T([1.0, 2.0]), T([1.0, 2.1]))
    case("equal", A, A)
    case("equal", A, B)


def unary():
    begin("Unary.cases")
    unit = T([-0.9, -0.3, 0.0, 0.2, 0.7, 1.0])
    for name in ["abs", "neg", "sign", "floor", "ceil", "trunc", "round", "exp", "expm1", "sin", "cos", "tan", "sinh", "cosh", "tanh", "atan", "erf",
                 "sigmoid", "asinh", "exp2", "isnan", "isinf", "isfinite", "isposinf", "isneginf", "nan_to_num", "logical_not", "signbit"]:
        case(name, odd)
    for name in ["log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal"]:
        case(name, T([0.0, 0.5, 1.0, 8.0, -1.0, inf, nan]))
    for name in ["asin", "acos", "atanh", "erfinv", "erfc", "sinc", "frac", "square", "deg2rad"]:
        case(name, unit, tol=1e-5)
    case("angle", T([1.0, -2.0, 0.0, nan]))
    case("acosh", T([1.0, 2.0, 0.5]))
    for name in ["lgamma", "digamma", "special_entr", "special_ndtr"]:
        case(name, T([0.1, 0.5, 1.0, 2.5, 30.0, -0.3, -2.6, 0.0, inf, nan]), tol=1e-5)
    case("i0", T([0.0, 0.5, -3.0, 11.0, 13.0, 60.0]), tol=1e-5)
    case("special_ndtri", T([0.1, 0.5, 0.999, 0.0, 1.0]), tol=1e-5)
    for name in ["abs", "neg", "sign", "floor", "bitwise_not", "exp", "sigmoid", "isnan", "sqrt"]:
        case(name, T([0, 1, 4]))
    case("sqrt", T(True))
    case("bitwise_not", F)
    case("abs", T([-1.5], dtype=f16))
    case("exp", T([1.0, 5.0], dtype=bf16))
    case("log2", T([8.0, 5.0], dtype=f16))
    case("round.decimals", T([1.255, -3.14159, 1234.5]), decimals=2)
    case("round.decimals", T([1255.0, -3.0]), decimals=-2)
    case("logit", T([0.1, 0.5, 0.0]), 1e-3)
    case("nan_to_num", odd, 1.0, 2.0, -2.0)
    case("erfinv", T([1.0, -1.0, 2.0, 0.999, -1e-6]), tol=1e-5)
    case("neg", Dynamic(A, {0: "n"}))
    refused("neg", F, says="booleans")


def activation():
    begin("Activation.cases")
    wide = T([-8.0, -3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0, 6.5, 25.0])
    for name in ["relu", "relu6", "leaky_relu", "elu", "selu", "celu", "gelu", "silu", "mish", "softplus", "hardsigmoid", "hardswish", "hardtanh",
                 "hardshrink", "softshrink", "log_sigmoid"]:
        case(name, wide)
        if name in ("relu", "gelu", "silu", "softplus", "leaky_relu"):
            case(name, wide.to(bf16))
    case("relu", I)
    case("leaky_relu", wide, 0.2)
    case("elu", wide, 0.5, 2.0, 1.5)
    case("celu", wide, 2.0)
    case("gelu", wide, approximate="tanh")
    case("softplus", wide, 2.0, 3.0)
    case("hardtanh", wide, -2.0, 0.5)
    case("hardtanh", I, -2, 4)
    case("threshold", wide, 0.7, -1.0)
    case("softshrink", T([nan, 1.0]), by=lambda x: T([nan, 0.5]))
    case("prelu", noise(2, 3, 2), T([0.1, 0.2, 0.3]))
    case("prelu", noise(4), T([0.25]))
    case("rrelu", wide, 0.1, 0.3, False)
    case("glu", noise(2, 4))
    case("glu", noise(4, 3), 0)
    for dim in [0, 1, -1]:
        case("softmax.int", noise(2, 3, scale=5), dim)
        case("log_softmax.int", noise(2, 3, scale=5), dim)
    case("softmax.int", T(3.0), 0)
    case("softmax.int", T([1, 2, 3]), 0, f32)
    case("softmax.int", noise(3, dtype=f16), 0, f32)
    case("_softmax", noise(2, 3), 1, False)
    case("_log_softmax", noise(2, 3), -1, False)
    case("_safe_softmax", T([[-inf, -inf], [0.0, -inf]]), 1, by=lambda x, d: T([[0.0, 0.0], [1.0, 0.0]]))
    case("dropout", A, 0.5, False)
    case("native_dropout", A, 0.5, False)
    refused("dropout", A, 0.5, True, says="random numbers")
    refused("glu", noise(3), says="cannot be halved")


def reduction():
    begin("Reduction.cases")
    x, n = noise(2, 3, 4, scale=3), T([[3, -1, 4], [1, 5, -9]])
    for name in ["sum", "mean", "prod", "max", "min", "any", "all", "argmax", "argmin", "median", "std", "var"]:
        case(name, x)
    for name in ["sum", "prod", "max", "min", "any", "all", "argmax", "median"]:
        case(name, n)
    case("sum", F)
    case("sum", T(2.5))
    case("sum", T([], dtype=f32))
    case("mean", T([], dtype=f32))
    case("sum", noise(300, scale=100, dtype=f16))
    case("mean", noise(300, scale=100, dtype=bf16))
    case("sum", n, dtype=f32)
    case("sum.dim_IntList", x, [0, -1])
    case("sum.dim_IntList", x, [1], True)
    case("sum.dim_IntList", x, None, True)
    case("sum.dim_IntList", n.to(u8), [0])
    case("sum.dim_IntList", Dynamic(x, {0: "n", 2: "m"}), [0, 2])
    case("mean.dim", Dynamic(x, {1: "n"}), [1, 2], True)
    case("mean.dim", n, [0], dtype=f32)
    refused("mean", n, says="mean of integers")
    case("prod.dim_int", x, 1)
    case("amax", x, [1, 2])
    case("amin", x, [-1], True)
    case("amax", T([[1.0, nan], [2.0, 3.0]]), [1])
    for name in ["max", "min"]:
        case(name + ".dim", x, 1)
        case(name + ".dim", x, -1, True)
        case(name + ".dim", T([[1.0, nan, 3.0], [2.0, 2.0, 1.0]]), 1)
        case(name + ".dim", T(5.0), 0)
    case("argmax", x, 1, True)
    case("argmax", T([1, 5, 5, 2]))
    case("argmin", T([[2, 2], [1, 3]]), -1)
    case("argmax", x, None, True)
    case("aminmax", x, dim=1)
    case("any.dim", T([[0, 1], [0, 0]]), 1)
    case("any.dim", T([[0, 1], [0, 0]], dtype=u8), 0)
    case("all.dim", T([[True, True], [True, False]]), 0, True)
    case("any.dims", T([[[0.0, 1.0], [0.0, 0.0]]]), [0, 2], by=lambda x, d: x.bool().any(2).any(0))
    case("count_nonzero.dim_IntList", n * T([[0, 1, 1]]), [1])
    for p in [0, 1, 2, 3, inf, -inf, 0.5]:
        case("norm.Scalar", x, p)
        case("linalg_vector_norm", x, p, [0, 2], True)
    case("norm.ScalarOpt_dim", x, None, [1])
    case("linalg_norm", x[0], inf)
    case("linalg_matrix_norm", x, 1)
    case("linalg_matrix_norm.str_ord", x)
    refused("linalg_matrix_norm", x, 2, says="singular values")
    for name in ["var", "std", "var_mean", "std_mean"]:
        case(name + ".dim", x, [1], False, True)
        case(name + ".correction", x, [0, 2], correction=2)
    case("var.correction", Dynamic(x, {0: "n"}), [0], correction=0)
    case("logsumexp", x, [1])
    case("logsumexp", T([[-inf, -inf], [inf, 1.0]]), [1], True)
    case("nansum", T([1.0, nan, 2.0]))
    case("nanmean", T([[1.0, nan, 2.0], [nan, nan, nan]]), [1])
    for name in ["cumsum", "cumprod"]:
        case(name, x, 1)
        case(name, n, -1)
    case("cumsum", F, 0)
    case("cumsum", T(3.0), 0)
    case("cumsum", noise(50, scale=40, dtype=f16), 0)
    case("logcumsumexp", noise(6, scale=4), 0)
    for name in ["cummax", "cummin"]:
        case(name, T([[3.0, 1.0, 3.0, nan, 5.0], [2.0, 2.0, 7.0, 1.0, 0.0]]), 1)
        case(name, T([4, 4, -6, 9]), 0)
    case("sort", T([[3.0, nan, 1.0, 3.0], [0.0, -1.0, inf, 2.0]]))
    case("sort.stable", T([[3, 1, 2], [1, 1, 0]]), stable=True, dim=0, descending=True)
    case("sort", F)
    case("argsort", x, 1, True)
    case("topk", x, 2)
    case("topk", n, 1, 0, False)
    case("topk", T([1.0, nan, 2.0]), 2)
    case("kthvalue", x, 2, 1, True)
    case("median.dim", x, 2)
    case("median", T([1.0, nan, 2.0]))
    case("quantile", x, T([0.1, 0.5, 0.9]), 1, interpolation="linear")
    case("nanmedian", T([1.0, nan, 3.0, 2.0]))
    case("nanmedian.dim", T([[1.0, nan, 3.0, 2.0], [nan, nan, 0.5, nan]]), 1, True)
    case("mode", T([[1, 2, 2, 1, 3], [5, 4, 4, 3, 3]]))
    case("diff", x)
    case("diff", T([1, 4, 9, 16]), 2, 0, T([0]))
    case("quantile.scalar", x, 0.3, interpolation="nearest")
    refused("sum.dim_IntList", x, [3], says="dim")


def contraction():
    begin("Contraction.cases")
    x, w = noise(2, 3, seed=3), noise(4, 3, seed=5)
    case("linear", x, w, noise(4, seed=7))
    case("linear", noise(2, 5, 3), w)
    case("linear", noise(3), w)
    case("matmul", noise(3), noise(3, seed=2))
    case("matmul", noise(2, 1, 3, 4), noise(5, 4, 2, seed=2))
    case("matmul", Dynamic(noise(2, 3, 4), {0: "b", 1: "t"}), noise(4, 2, seed=2))
    case("mm", T([[1, 2], [3, 4]]), T([[5, 6], [7, 8]]))
    case("bmm", noise(2, 3, 4), noise(2, 4, 3, seed=2))
    case("mv", noise(2, 3), noise(3))
    case("dot", noise(3), noise(3, seed=4))
    case("addmm", noise(4), noise(2, 3), noise(3, 4), beta=0.5, alpha=2)
    case("addmm", T([nan]), noise(2, 3), noise(3, 4), beta=0)
    case("baddbmm", noise(2, 1, 3), noise(2, 3, 4), noise(2, 4, 3), beta=2)
    case("addbmm", noise(3, 3), noise(2, 3, 4), noise(2, 4, 3))
    case("addmv", noise(2), noise(2, 3), noise(3))
    case("outer", noise(2), noise(3))
    case("addr", noise(2, 3), noise(2), noise(3), alpha=0.5)
    case("einsum", "bij,bjk->bik", [noise(2, 3, 4), noise(2, 4, 2)])
    case("einsum", "ii->i", [noise(3, 3)])
    case("tensordot", noise(2, 3, 4), noise(4, 3, 5), [1, 2], [1, 0])
    case("inner", noise(2, 3), noise(4, 3))
    case("bilinear", noise(2, 3), noise(2, 4), noise(5, 3, 4), noise(5))
    for p in [0.0, 1.0, 2.0, 3.0, inf]:
        case("cdist", noise(3, 2), noise(4, 2, seed=9), p)
    case("cdist", noise(30, 2), noise(3, 2, seed=9), 2.0, tol=1e-3)
    case("cosine_similarity", noise(2, 3), noise(2, 3, seed=2))
    case("cosine_similarity", noise(2, 3), noise(3, seed=2), -1)
    case("pairwise_distance", noise(2, 3), noise(2, 3, seed=2))
    case("matrix_power", noise(3, 3), 5)
    case("matrix_power", noise(2, 2, 2), 0)
    case("_int_mm", T([[1, -100], [3, 4]], dtype=i8), T([[100, 6], [7, 8]], dtype=i8), by=lambda a, b: a.to(i32) @ b.to(i32))
    case("_weight_int8pack_mm", noise(2, 3), T([[1, -2, 3], [4, 5, -6]], dtype=i8), T([0.5, 0.25]), by=lambda x, w, s: x @ w.to(f32).t() * s)
    case("kron", noise(2, 3), noise(2, seed=2))
    case("renorm", noise(2, 3), 2, 0, 1.0)
    case("pdist", noise(4, 3))
    case("cov", noise(3, 5))
    case("corrcoef", noise(3, 5))
    case("cross", noise(2, 3), noise(2, 3, seed=2), 1)
    image = noise(1, 2, 5, 6)
    case("conv2d", image, noise(3, 2, 3, 3), noise(3), [2, 1], [1, 0], [1, 2])
    case("conv2d", image, noise(4, 1, 2, 2), None, [1], [1], [1], 2, by=lambda x, w, b, s, p, d, g: torch.conv2d(x, w, b, s * 2, p * 2, d * 2, g))
    case("conv2d", image[0], noise(3, 2, 3, 3))
    case("conv2d.padding", image, noise(3, 2, 2, 3), None, [1, 1], "same", [1, 2])
    case("conv2d.padding", image, noise(3, 2, 2, 3), None, [2, 2], "valid")
    refused("conv2d.padding", image, noise(3, 2, 2, 3), None, [2, 2], "same", says="with a stride of 2")
    case("conv1d", Dynamic(noise(1, 2, 7), {0: "b", 2: "t"}), noise(3, 2, 3), noise(3), [2], [1])
    case("conv3d", noise(1, 1, 3, 3, 3), noise(2, 1, 2, 2, 2), None, [1, 1, 1], [1, 0, 1])
    case("conv_transpose2d.input", noise(1, 4, 3, 3), noise(4, 2, 3, 3), noise(4), [2, 1], [1, 0], [1, 0], 2, [1, 2])
    case("conv_transpose1d", noise(1, 2, 4), noise(2, 3, 3), None, [3], [1], [2])
    case("convolution", image, noise(3, 2, 3, 3), noise(3), [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
    case("convolution", noise(1, 2, 3, 3), noise(2, 2, 3, 3), None, [2, 2], [1, 1], [1, 1], True, [1, 1], 1)
    case("_convolution", image, noise(3, 2, 3, 3), None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1, False, False, True, True)


def window():
    begin("Window.cases")
    image = noise(1, 2, 7, 6, scale=2)
    for name in ["max_pool2d", "max_pool2d_with_indices"]:
        case(name, image, [3, 3], [2, 2], [1, 1])
        case(name, image, [2, 3], [2, 2], [0, 1], [1, 1], True)
        case(name, image[0], [2, 2], [], [1, 0], [2, 2])
    case("max_pool2d_with_indices", Dynamic(image, {2: "h", 3: "w"}), [3, 3], [2, 2], [1, 1])
    case("max_pool1d", noise(2, 3, 8), [3], [2], [1])
    case("max_pool1d", noise(1, 1, 3), [4], [2], [0], [1], True)
    case("max_pool3d_with_indices", noise(1, 1, 4, 5, 4), [2, 2, 2], [2, 2, 2], [0, 1, 0], [1, 1, 1], True)
    for ceil in [False, True]:
        for include in [False, True]:
            case("avg_pool2d", image, [3, 3], [2, 2], [1, 1], ceil, include)
            case("avg_pool2d", image, [2, 4], [3, 3], [1, 2], ceil, include, 3)
    case("avg_pool1d", noise(2, 11), [2], [2], [0], True, False)
    case("avg_pool3d", noise(1, 1, 4, 4, 4), [2, 2, 2], [], [1, 1, 1], False, True, None)
    case("avg_pool2d", noise(1, 1, 4, 4, dtype=bf16), [2, 2])
    for sizes in [[1, 1], [3, 4], [7, 3], [7, 6], [10, 2]]:
        case("adaptive_avg_pool2d", image, sizes)
        case("adaptive_max_pool2d", image, sizes)
    case("adaptive_avg_pool2d", Dynamic(image, {2: "h", 3: "w"}), [1, 1])
    case("adaptive_avg_pool1d", noise(2, 3, 7), [3])
    case("adaptive_avg_pool3d", noise(1, 1, 3, 4, 5), [2, 3, 2])
    case("adaptive_avg_pool2d", Dynamic(image, {2: "h"}), [3, 3])
    case("adaptive_avg_pool2d", Dynamic(image, {2: "h", 3: "w"}), [4, 9])
    case("adaptive_max_pool2d", Dynamic(image, {2: "h", 3: "w"}), [3, 4])
    case("adaptive_max_pool2d", Dynamic(image, {2: "h", 3: "w"}), [1, 1])
    case("max_unpool3d", T([[[[[5.0]], [[6.0]]]]]), T([[[[[1]], [[7]]]]]), [2, 2, 2], [1, 2, 2], [0, 0, 0])
    case("max_unpool2d", T([[[[5.0, 6.0]]]]), T([[[[1, 7]]]]), [2, 4])
    small = noise(1, 1, 3, 4)
    for name in ["upsample_nearest2d", "_upsample_nearest_exact2d"]:
        case(name, small, [5, 7])
        case(name + ".vec", small, None, [2.0, 1.7])
        case(name, T([[[[1, 2], [3, 4]]]], dtype=u8), [3, 3])
    for corners in [False, True]:
        for name in ["upsample_bilinear2d", "upsample_bicubic2d"]:
            case(name, small, [5, 7], corners)
            case(name, small, [2, 3], corners)
            case(name + ".vec", small, None, corners, [2.0, 1.7], tol=1e-5)
        case("upsample_linear1d", noise(1, 2, 4), [7], corners)
        case("upsample_trilinear3d", noise(1, 1, 2, 3, 2), [3, 4, 5], corners)
    for sizes in [[2, 2], [5, 7], [2, 9]]:
        case("_upsample_bilinear2d_aa", small, sizes, False, tol=1e-5)
        case("_upsample_bicubic2d_aa", small, sizes, False, tol=1e-5)
    case("upsample_bilinear2d.vec", Dynamic(small, {2: "h", 3: "w"}), None, False, [2.0, 2.0])
    case("upsample_bilinear2d.vec", Dynamic(small, {2: "h", 3: "w"}), None, False, [1.7, 1.5], tol=1e-5)
    case("upsample_nearest2d.vec", Dynamic(small, {2: "h"}), [6, 8], None)
    grid = noise(1, 2, 3, 2, scale=1.3)
    for mode in range(3):
        for padding in range(3):
            case("grid_sampler", small, grid, mode, padding, padding == 1, tol=1e-5)
    case("affine_grid_generator", noise(1, 2, 3), [1, 1, 2, 3], False)
    for mode, pads in [("constant", [1, 2, 0, 1]), ("reflect", [2, 1, 1, 0]), ("replicate", [1, 2, 2, 1]), ("circular", [1, 2, 1, 1])]:
        case("pad", small, pads, mode)
    case("pad", small, [1, -1], "constant", 2.5)
    case("constant_pad_nd", T([1, 2, 3]), [2, 1], 7)
    case("constant_pad_nd", Dynamic(small, {2: "h"}), [-1, -2, 1, 1])
    case("reflection_pad1d", noise(1, 2, 4), [2, 1])
    case("replication_pad3d", noise(1, 1, 2, 2, 2), [1, 0, 0, 1, 1, 1])
    case("pixel_shuffle", noise(1, 8, 2, 3), 2)
    case("pixel_shuffle", noise(4, 2, 2), 2)
    case("pixel_unshuffle", noise(1, 2, 4, 6), 2)
    case("channel_shuffle", noise(1, 6, 1, 2), 3)
    case("unfold", noise(2, 7), 1, 3, 2)
    case("unfold", noise(5, 2), 0, 2, 1)
    case("im2col", noise(1, 2, 4, 5), [2, 3], [1, 2], [1, 0], [2, 1])
    case("col2im", noise(1, 8, 8), [4, 5], [2, 2], [1, 1], [0, 0], [2, 1])
    case("col2im", noise(1, 4, 9), [5, 5], [2, 2], [1, 1], [1, 1], [2, 2])


def normalisation():
    begin("Normalisation.cases")
    x, w, b, m, v = noise(2, 3, 4), T([1.0, 0.5, 2.0]), T([0.1, 0.2, 0.3]), T([0.1, -0.2, 0.3]), T([1.0, 2.0, 0.5])
    case("batch_norm", x, w, b, m, v, False, 0.1, 1e-5, True)
    case("batch_norm", x, None, None, m, v, False, 0.1, 1e-3, True)
    case("batch_norm", x, w, b, m, v, True, 0.1, 1e-5, True, after=[3, 4])
    case("batch_norm", noise(4, 3), w, b, None, None, True, 0.1, 1e-5, True)
    case("batch_norm", Dynamic(x, {0: "n"}), w, b, m, v, True, 0.3, 1e-5, True, after=[3, 4])
    case("native_batch_norm", x, w, b, m, v, True, 0.2, 1e-5, after=[3, 4])
    case("native_batch_norm", x, w, b, m, v, False, 0.2, 1e-5)

    def functional(x, w, b, m, v, training, momentum, eps):
        results = list(torch.ops.aten.native_batch_norm(x, w, b, m, v, training, momentum, eps))
        return results + [m, v]

    case("_native_batch_norm_legit_functional", x, w, b, m, v, True, 0.2, 1e-5, by=functional)
    case("_native_batch_norm_legit_no_training", x, w, b, m, v, 0.2, 1e-5, skip=[1, 2],
         by=lambda x, w, b, m, v, mo, e: torch.native_batch_norm(x, w, b, m, v, False, mo, e))
    refused("batch_norm", x, w, b, None, None, False, 0.1, 1e-5, True, says="no running statistics")
    case("layer_norm", x, [4], T([1.0, 2.0, 3.0, 4.0]), None)
    case("layer_norm", x, [3, 4])
    case("layer_norm", noise(2, 4, dtype=bf16), [4], by=lambda x, d: torch.layer_norm(x.float(), d).to(bf16))
    case("native_layer_norm", x, [4], None, T([1.0, 2.0, 3.0, 4.0]), 1e-5)
    case("group_norm", noise(2, 6, 2), 3, noise(6), noise(6, seed=2))
    case("native_group_norm", noise(2, 6, 2), noise(6), None, 2, 6, 2, 2, 1e-5)
    case("instance_norm", x, w, b, None, None, True, 0.1, 1e-5, True)
    case("instance_norm", x, w, b, m, v, True, 0.1, 1e-5, True, after=[3, 4])
    case("instance_norm", x, w, b, m, v, False, 0.1, 1e-5, True)
    rms = lambda x, d, w=None, e=None: x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + (1.1920929e-07 if e is None else e)) * (1 if w is None else w)
    case("rms_norm", x, [4], T([1.0, 2.0, 3.0, 4.0]), by=rms)
    case("rms_norm", x, [4], None, 0.1, by=rms)
    case("_weight_norm", noise(3, 2, 2), noise(3, 1, 1), 0)


def loss():
    begin("Loss.cases")
    x, y, p = noise(3, 4), noise(3, 4, seed=8), (noise(3, 4) + 1) / 2.01
    c, w = T([1, 3, 0]), T([1.0, 2.0, 0.5, 1.5])
    for r in range(3):
        for name in ["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "kl_div", "soft_margin_loss"]:
            case(name, x, y, r)
        case("binary_cross_entropy", p, (noise(3, 4, seed=8) + 1) / 2.01, None, r)
        case("binary_cross_entropy_with_logits", x, p, w, w, r)
        case("nll_loss", x, c, w, r, -100)
        case("nll_loss_nd", x, c, None, r, 3)
        case("nll_loss_forward", x, c, w, r, 3)
        case("cross_entropy_loss", x, c, w, r, 1)
        case("cross_entropy_loss", x, c, w, r, 1, 0.1)
        case("cross_entropy_loss", x, p, w, r, -100, 0.2)
        case("cosine_embedding_loss", x, y, T([1, -1, 1]), 0.1, r)
        case("triplet_margin_loss", x, y, p, 1.0, 2.0, 1e-6, True, r)
        case("margin_ranking_loss", x, y, x.sign(), 0.2, r)
        case("hinge_embedding_loss", x, T([1.0, -1.0, 1.0, -1.0]), 0.5, r)
        case("multi_margin_loss", x, c, 2, 0.5, w, r)
        case("multilabel_margin_loss", x, T([[3, 0, -1, 1], [1, -1, 2, 0], [-1, 0, 0, 0]]), r)
        case("poisson_nll_loss", x, p * 3, True, True, 1e-8, r)
    case("multi_margin_loss", noise(4), T(2))
    case("smooth_l1_loss", x, y, 1, 0.3)
    case("huber_loss", x, y, 2, 0.3)
    case("kl_div", x, y, 1, log_target=True)
    case("nll_loss2d", noise(2, 3, 2, 2), T([[[0, 1], [2, 0]], [[1, 1], [0, 2]]]))
    case("cross_entropy_loss", noise(4), T(2))
    case("binary_cross_entropy", T([0.0, 1.0]), T([1.0, 0.0]))


def backward():
    begin("Backward.cases")
    g, x = noise(2, 5, seed=2), noise(2, 5, scale=4)
    s = torch.softmax(x, 1)
    case("threshold_backward", g, x, 0)
    case("tanh_backward", g, x.tanh())
    case("sigmoid_backward", g, x.sigmoid())
    case("silu_backward", g, x)
    case("mish_backward", g, x)
    case("hardswish_backward", g, x)
    case("hardsigmoid_backward", g, x)
    case("hardtanh_backward", g, x, -1, 2)
    case("leaky_relu_backward", g, x, 0.1, False)
    case("elu_backward", g, 0.5, 2.0, 1.5, False, x)
    case("softplus_backward", g, x, 2, 3)
    case("gelu_backward", g, x)
    case("gelu_backward", g, x, approximate="tanh")
    case("log_sigmoid_backward", g, x, torch.exp(-x.abs()))
    case("hardshrink_backward", g, x, 0.5)
    case("glu_backward", noise(2, 2), noise(2, 4), 1)
    case("_softmax_backward_data", g, s, 1, f32)
    case("_log_softmax_backward_data", g, s.log(), -1, f32)
    for r in range(3):
        grad = g if r == 0 else T(2.0)
        case("mse_loss_backward", grad, x, g, r)
        case("smooth_l1_loss_backward", grad, x, g, r, 1.0)
        case("huber_loss_backward", grad, x, g, r, 0.5)
        c, w = T([1, 4]), T([1.0, 2.0, 0.5, 1.5, 3.0])
        case("nll_loss_backward", T([1.0, 2.0]) if r == 0 else T(2.0), x, c, w, r, 1, T(3.0))
    case("native_dropout_backward", g, x > 0, 2.0)
    case("native_layer_norm_backward", g, x, [5], *[t for t in torch.native_layer_norm(x, [5], None, None, 1e-5)[1:]], noise(5), noise(5),
         [True, True, True])
    y = noise(2, 4, 3)
    mean, rstd = torch.native_group_norm(y, None, None, 2, 4, 3, 2, 1e-5)[1:]
    case("native_group_norm_backward", noise(2, 4, 3, seed=4), y, mean, rstd, noise(4), 2, 4, 3, 2, [True, True, True])
    save = torch.native_batch_norm(y, None, None, None, None, True, 0.1, 1e-5)[1:]
    case("native_batch_norm_backward", noise(2, 4, 3, seed=4), y, noise(4), None, None, *save, True, 1e-5, [True, True, True])
    case("native_batch_norm_backward", noise(2, 4, 3, seed=4), y, noise(4), noise(4), noise(4) + 2, None, None, False, 1e-5, [True, True, True])
    image, weight = noise(2, 4, 6, 5), noise(6, 2, 3, 2)
    conv = dict(stride=[2, 1], padding=[1, 0], dilation=[1, 2])
    out = torch.conv2d(image, weight, None, groups=2, **conv)
    case("convolution_backward", noise(*out.shape, seed=3), image, weight, [6], [2, 1], [1, 0], [1, 2], False, [0, 0], 2, [True, True, True], tol=1e-5)
    weight = noise(4, 3, 3, 2)
    out = torch.conv_transpose2d(image, weight, None, [2, 1], [1, 0], [1, 0], 2)
    case("convolution_backward", noise(*out.shape, seed=3), image, weight, [6], [2, 1], [1, 0], [1, 1], True, [1, 0], 2, [True, True, True], tol=1e-5)
    out, where = torch.ops.aten.max_pool2d_with_indices(image, [3, 3], [2, 2], [1, 1])
    case("max_pool2d_with_indices_backward", noise(*out.shape), image, [3, 3], [2, 2], [1, 1], [1, 1], False, where)
    out = torch.ops.aten.avg_pool2d(image, [3, 2], [2, 2], [1, 0])
    case("avg_pool2d_backward", noise(*out.shape), image, [3, 2], [2, 2], [1, 0], False, True, None)
    case("_adaptive_avg_pool2d_backward", noise(2, 4, 3, 1), image)
    case("embedding_dense_backward", noise(2, 3, 2), T([[1, 0, 3], [1, 2, 1]]), 5, 2, False)
    case("select_backward", noise(2, 4), [2, 3, 4], 1, -2)
    case("slice_backward", noise(2, 2), [2, 6], 1, 1, 5, 2)


for make in [arithmetic, unary, activation, reduction, contraction, window, normalisation, loss, backward]:
    make()
for name, lines in tables.items():
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name), "w") as f:
        f.write("# Written by make_cases.py; see AtenCases.h.\n" + "\n".join(lines) + "\n")
    print(name, len(lines))
