"""Writes the tables of operators that move elements (views, joins, indexing, creation) and of recurrent layers, attention and quantisation.
Needs PyTorch 1.13, like make_cases.py, whose helpers it uses. Operators that are newer are given their definition.
"""
import math
import os

HERE = os.path.dirname(os.path.abspath(__file__))
exec(open(os.path.join(HERE, "make_cases.py")).read().rsplit("\nfor make in ", 1)[0])
tables.clear()
F_ = torch.nn.functional
M = torch.arange(12, dtype=f32).reshape(3, 4)
C = torch.arange(24, dtype=f32).reshape(2, 3, 4)
V = T([1.0, -2.0, 3.0, 4.0])


def dyn(x, *axes):
    return Dynamic(x, {a: "nmk"[a] for a in axes})


def views():
    begin("View.cases")
    for x in [C, dyn(C, 0), dyn(C, 0, 1)]:
        case("view", x, [2, -1])
        case("view", x, [-1, 4])
        case("transpose.int", x, 0, -1)
        case("permute", x, [2, 0, 1])
        case("unsqueeze", x, -1)
        case("flatten.using_ints", x, 1, 2)
        case("slice.Tensor", x, 1, 1, 3, 1)
        case("slice.Tensor", x, -1, -3, 2**62, 2)
        case("slice.Tensor", x, 2, None, -1)
        case("slice.Tensor", x)
        case("select.int", x, 1, -1)
        case("diagonal", x, 1, 1, 2)
        case("as_strided", plain(x), [2, 3], [1, 4], 2)
        case("unfold", x, 2, 3, 1)
    case("unfold", C, 2, 2, 2)
    case("unfold", dyn(C, 2), 2, 2, 2)
    case("unfold", T(3.0), 0, 1, 1)
    case("reshape", C, [4, 6])
    case("unflatten.int", C, 2, [2, -1], by=lambda x, d, s: x.reshape(2, 3, 2, 2))
    case("_unsafe_view", C, [6, 4])
    case("view_as", C, torch.zeros(4, 6))
    case("t", M)
    case("t", V)
    case("numpy_T", M)
    case("mT", C)
    case("movedim.intlist", C, [0, 2], [2, 0])
    case("movedim.int", C, 0, -1)
    case("squeeze", C.reshape(2, 1, 12, 1))
    case("squeeze.dim", C.reshape(2, 1, 12, 1), 1)
    case("squeeze.dim", C, 1)
    case("squeeze.dims", C.reshape(2, 1, 12, 1), [1, 3, 0], by=lambda x, d: x.squeeze(3).squeeze(1))
    case("expand", V, [2, -1])
    case("expand", dyn(M, 0), [2, -1, 4])
    case("expand", M[:, :1], [3, 2])
    case("expand_as", V, M)
    case("broadcast_tensors", [V, M[:, :1]])
    case("narrow", M, 1, -3, 2)
    case("narrow.Tensor", M, 1, T(1), 2)
    case("select.int", M, 0, T(2), by=lambda x, d, i: x.select(d, int(i)))
    case("split.Tensor", M, 3, 1)
    case("split_with_sizes", M, [1, 2, 1], 1)
    case("chunk", V, 3)
    case("chunk", dyn(torch.cat([V, V]), 0), 2, by=lambda x, n: list(x.chunk(n)))
    case("tensor_split.sections", T([0.0, 1, 2, 3, 4]), 3)
    case("tensor_split.indices", T([0.0, 1, 2, 3, 4]), [1, 3])
    case("hsplit.int", M, 2)
    case("unbind.int", M, 1)
    case("view.dtype", T([-1, 5], dtype=i8), u8)
    case("as_strided", M, [3, 3], [1, 1])
    case("as_strided", M, [2, 2, 2], [6, 2, 0], 1)
    case("slice_scatter", M, T([[-1.0, -2.0]]), 1, 1, 3, by=lambda x, s, d, a, b: torch.cat([x[:, :1], s.expand(3, 2), x[:, 3:]], 1))
    case("slice_scatter", M, torch.zeros(3, 2), 1, 0, 4, 2)
    case("slice_scatter", dyn(M, 1), torch.zeros(3, 2), 1, 1, 3)
    case("select_scatter", M, torch.zeros(4), 0, -1)
    case("select_scatter", dyn(M, 0), torch.zeros(4), 0, 1)
    case("diagonal_scatter", M, torch.zeros(3), 1)
    case("diagonal_scatter", M.t().contiguous(), torch.zeros(2), -1, 1, 0)
    case("as_strided_scatter", M, torch.zeros(2, 2), [2, 2], [4, 1], 1)
    case("as_strided_scatter", M, torch.zeros(2, 2), [2, 2], [5, 2], 0)
    refused("view", C, [-1, -1], says="two sizes are -1")
    refused("select.int", M, 0, 3, says="index 3 is out of range for axis 0 with size 3")
    refused("slice.Tensor", M, 0, 0, 2, 0, says="the step is 0, expected at least 1")
    refused("view.dtype", M, i32, says="the bits of f32 elements seen as i32")
    refused("split.Tensor", dyn(M, 0), 2, 0, says="their number is not known when the model is compiled")
    refused("unbind.int", dyn(M, 0), 0, says="give it a fixed size")
    refused("as_strided", M, [2], [-1], 3, says="the stride -1, expected none below 0")
    refused("split.Tensor", torch.zeros(0, 3), 0, 1, says="parts of size 0")
    refused("imag", M, says="complex numbers are not supported")
    refused("resize_", M, [4, 4], says="whose new elements are undefined")
    refused("expand", M, [4], says="a tensor of rank 2 cannot be expanded to 1 sizes")


def reshapes():
    begin("Reshape.cases")
    case("cat", [M, T([[1, 2, 3, 4]])])
    case("cat", [T([]), M, T([True])[:0]], by=lambda xs: M)
    case("cat", [dyn(M, 0), dyn(M, 0)], -1)
    case("stack", [V, V + 1], -1)
    case("hstack", [M, M])
    case("hstack", [V, V])
    case("vstack", [V, M])
    case("dstack", [V, V])
    case("column_stack", [V, V + 1])
    case("flip", C, [0, -1])
    case("fliplr", M)
    case("flipud", M)
    case("roll", M, [1], [1])
    case("roll", M, [-1, 6], [0, 1])
    case("roll", M, [5])
    case("roll", dyn(M, 0), [1], [0])
    case("roll", dyn(M, 0), [7], [0])
    for k in range(-1, 4):
        case("rot90", M, k, [0, 1])
    case("repeat", V, [2, 2])
    case("repeat", dyn(M, 0), [2, 1])
    case("tile", M, [2])
    case("repeat_interleave.self_int", M, 2, 1)
    case("repeat_interleave.self_int", M, 2)
    case("repeat_interleave.self_Tensor", M, Constant(T([1, 0, 2])), 0)
    case("repeat_interleave.self_Tensor", M, T([1, 0, 2]), 0, output_size=3)
    case("repeat_interleave.Tensor", Constant(T([1, 0, 2])))
    refused("repeat_interleave.self_Tensor", M, T([1, 0, 2]), 0, says="give output_size")
    for indexing in ["ij", "xy"]:
        case("meshgrid.indexing", [T([1.0, 2.0]), T([3.0, 4.0, 5.0])], indexing=indexing)
    case("cartesian_prod", [T([1, 2]), T([3, 4, 5])])
    case("block_diag", [M, V, T(9.0)])
    for name in ["tril", "triu"]:
        case(name, dyn(C, 0), 1)
        case(name, M, -1)
    case("tril_indices", 3, 4, 1, dtype=i32)
    case("triu_indices", 3, 4, 1)
    for offset in [-1, 0, 2]:
        case("diag", M, offset)
        case("diag", V, offset)
        case("diag_embed", M, offset, 0, 2)
    case("diagflat", M[:2, :2], 1)
    case("trace", M.to(i32))
    case("eye.m", 2, 3)
    case("kron", M[:2, :2], T([[1, 2]]))
    case("combinations", V, 2)
    case("combinations", V, 2, True)
    case("vander", T([1, 2, 3]), 4)
    case("atleast_2d", V)
    case("atleast_3d", M)


def indexing():
    begin("Indexing.cases")
    i, j = T([0, -1, 1]), T([[2], [0]])
    case("index.Tensor", M, [i])
    case("index.Tensor", M, [None, T([0, -1])])
    case("index.Tensor", M, [T([0, 2]), T([1, -1])])
    case("index.Tensor", C, [T([1, 0]), None, T([0, 3])])
    case("index.Tensor", C, [None, T([1, 0]), T([0, 3])])
    case("index.Tensor", C, [None, j, T([0, 3, 1])])
    case("index.Tensor", dyn(C, 0, 1), [T([1, 0]), T([-1, 2])])
    case("index.Tensor", M, [Constant(T([True, False, True]))])
    case("index.Tensor", C, [None, Constant(T([[True, False, False, True], [False] * 4, [False, True, False, False]]))])
    refused("index.Tensor", M, [T([True, False, True])], says="whose number depends on data; use torch.where")
    refused("index.Tensor", M, [i, i, i], says="indices for 3 axes of a tensor of rank 2")
    case("index_put", M, [i], T(-1.0))
    case("index_put", M, [T([0, 2, 0])], V, True)
    case("index_put", M, [None, T([0, -1])], T([[5.0, 6.0]]))
    case("index_put", C, [T([1, 0]), None, T([0, 3])], T([9.0, 8.0, 7.0]))
    case("index_put", C, [None, T([1, 1]), T([0, 0])], T([[1.0, 2.0], [3.0, 4.0]]), True)
    case("index_put", M, [M > 5], T(0.0))
    case("index_put", M, [T([True, False, True])], V)
    case("index_put", M, [T([True, False, True])], T([[1.0, 2, 3, 4], [5, 6, 7, 8]]))
    case("index_put", M, [None, T([True, False, True, False])], T([[1.0], [2.0], [3.0]]))
    case("index_put", M, [M > 8], T([-1.0, -2.0, -3.0]))
    case("index_put", M, [M > 5], T(1.0), True)
    case("index_select", M, 1, T([1, 1, -0]))
    case("gather", M, 1, T([[0, 1], [3, 2]]))
    case("take", M, T([[0, -1], [5, 2]]))
    case("take_along_dim", M, T([[2, 0, 1, 1]]), 0)
    case("put", M, T([0, -1]), T([7.0, 8.0]))
    case("masked_fill.Scalar", M, M > 5, -1.5)
    case("masked_fill.Scalar", T([1, 2, 3]), T([True, False, True]), 7)
    case("masked_fill.Tensor", M, T([True, False, True, False]), T(3))
    case("masked_scatter", M, M > 8, T([5.0, 6.0, 7.0, 8.0]))
    case("masked_select", Constant(M), Constant(M > 8))
    refused("masked_select", M, M > 8, says="whose number depends on data")
    index, source = T([[0, 2, 1, 0], [2, 1, 0, 0]]), noise(3, 4)
    case("scatter.src", M, 0, index, source)
    case("scatter.value", M, 1, T([[0], [2]]), 7.5)
    case("scatter.reduce", M, 0, index, source, reduce="multiply")
    case("scatter_add", M, 0, index, source)
    for reduce in ["sum", "prod", "mean", "amax", "amin"]:
        for include in [True, False]:
            case("scatter_reduce.two", M, 0, index, source, reduce, include_self=include)
    case("scatter_reduce.two", T([5, -5, 7]), 0, T([0, 1, 1]), T([2, -2, 3]), "mean", include_self=True)
    case("index_add", M, 0, T([0, 2, 0]), noise(3, 4), alpha=2)
    case("index_add", M, 1, T([3, 3]), noise(3, 2))
    case("index_copy", M, 1, T([3, -0]), noise(3, 2))
    case("index_fill.int_Scalar", M, 1, T([3, -3]), -1, by=lambda x, d, i, v: x.index_fill(d, i % 4, v))
    case("index_fill.int_Tensor", T([1, 2, 3]), 0, T([1]), T(2.5), by=lambda x, d, i, v: x.index_fill(d, i, int(v)))
    case("embedding", M, T([[0, 2], [1, 1]]), 1)
    for mode in [0, 1, 2]:
        for offsets in [Constant(T([0, 2])), T([0, 1])]:
            case("embedding_bag", M, T([0, 2, 1, 1]), offsets, False, mode, skip=[1, 2, 3])
        case("embedding_bag.padding_idx", M, T([0, 2, 1, 1]), T([0, 3, 3]), False, mode, False, None, False, 1, skip=[1, 3] if mode else [1, 2, 3])
    case("_embedding_bag", M, T([0, 2, 1]), T([0, 1, 3]), False, 0, False, T([0.5, 2.0, -1.0]), True, skip=[1, 2, 3])
    case("one_hot", T([[0, 2], [1, 1]]), 3)
    refused("one_hot", T([0, 2]), says="pass num_classes")
    for right in [True, False]:
        case("searchsorted.Tensor", T([1.0, 2.0, 2.0, 5.0]), T([[2.0, 0.0], [5.0, 9.0]]), right=right)
        case("searchsorted.Tensor", T([[1, 3], [2, 4]]), T([[3, 0], [4, 9]]), right=right, out_int32=True)
        case("bucketize.Tensor", T([[0.5, 2.0], [nan, 7.0]]), T([1.0, 2.0, 5.0]), right=right)
    case("isin.Tensor_Tensor", T([[1, 2], [3, 4]]), T([2, 4, 9]))
    case("isin.Tensor_Scalar", T([1, 2]), 2, invert=True)
    case("nonzero", Constant(T([[0, 1], [2, 0]])))
    case("where", Constant(T([[0, 1], [2, 0]])))
    refused("nonzero", M, says="depends on the values of a tensor")
    refused("_unique2", M, says="depends on the values of a tensor")
    case("bincount", Constant(T([1, 3, 1])), None, 2)
    refused("bincount", T([1, 3]), says="use one_hot")


def creation():
    begin("Creation.cases")
    by = lambda f: lambda *a, **k: f(*a, **{key: value for key, value in k.items()})
    case("zeros", [2, 3], dtype=i64)
    case("ones", [2], by=torch.ones)
    case("full", [2], 3, by=torch.full)
    case("full", [2], True, by=torch.full)
    case("full", [2], 2.5, dtype=i32, by=torch.full)
    case("full_like", M.to(i32), 2.7)
    case("zeros_like", dyn(M, 0), dtype=b1)
    case("new_full", M, [2], 7)
    case("new_ones", T([1]), [2], dtype=f64)
    case("scalar_tensor", 3, by=lambda v: T(3.0))
    case("tensor", [[1, 2], [3, 4]], by=T)
    case("tensor", [1, 2.5, True], by=T)
    case("tensor", [True, False], by=T)
    case("tensor", [[1, 2]], dtype=f16, by=T)
    case("tensor.float", 2.5, by=T)
    refused("tensor", [[1, 2], [3]], says="lists of different lengths")
    case("arange", 5, by=torch.arange)
    case("arange.start", 1, 2.2, by=torch.arange)
    case("arange.start_step", 5, -2, -3, by=torch.arange)
    case("arange.start_step", 0.1, 1.0, 0.3, by=torch.arange)
    case("arange", 3, dtype=f32, by=torch.arange)
    case("arange", 300.0, by=torch.arange)
    refused("arange.start", 3, 1, says="a range from")
    refused("arange", T(3), says="must be known when the model is compiled")
    case("linspace", -1.0, 2.0, 7, by=torch.linspace)
    case("linspace", 3, 3, 1, by=torch.linspace)
    case("logspace", 0.0, 2.0, 3, 2.0, by=torch.logspace)
    case("hann_window", 5, by=torch.hann_window)
    case("hann_window.periodic", 5, False, by=torch.hann_window)
    case("hamming_window.periodic_alpha_beta", 4, True, 0.5, 0.4, by=torch.hamming_window, tol=1e-5)
    case("blackman_window", 6, by=torch.blackman_window, tol=1e-5)
    case("bartlett_window.periodic", 6, False, by=torch.bartlett_window)
    case("kaiser_window.beta", 6, True, 8.0, by=lambda n, p, b: torch.kaiser_window(n, p, b), tol=1e-5)
    refused("rand", [2], says="random numbers are drawn")
    refused("bernoulli_.float", M, 0.5, says="model.eval()")


def conversion():
    begin("Conversion.cases")
    wide = T([-1.5, 300.0, 2.5, 0.0])
    for dtype in [i64, i32, i16, i8, u8, b1, f16, bf16, f64]:
        case("to.dtype", wide, dtype)
    case("to.dtype", T([-1, 300]), u8)
    case("to.dtype_layout", wide, dtype=i64)
    case("_to_copy", wide, dtype=i32)
    case("type_as", wide, T([1]))
    case("to.other", wide, T([1], dtype=f16))
    case("clone", dyn(M, 0))
    case("copy", M, T([1, 2, 3, 4]), by=lambda x, s: s.to(x.dtype).expand(3, 4))
    case("copy_", M, T([1, 2, 3, 4]), after=[0])
    case("fill_.Scalar", M, 2.5, after=[0])
    case("fill_.Tensor", T([1, 2]), T(7.9), after=[0])
    case("zero_", M, after=[0])
    case("fill_diagonal_", torch.zeros(5, 2), 1, True, after=[0])
    case("fill_diagonal_", torch.zeros(2, 2, 2), 3, after=[0])
    case("fill.Scalar", M, 2, by=lambda x, v: torch.full_like(x, v))
    case("prims::convert_element_type", M, i32, by=lambda x, t: x.to(t))
    case("prims::broadcast_in_dim", V, [2, 4, 3], [1], by=lambda x, s, d: x.reshape(1, 4, 1).expand(2, 4, 3))
    refused("copy_", V, M, says="a tensor of rank 2 copied into one of rank 1")


def recurrent():
    begin("Recurrent.cases")
    x, h0, c0 = noise(4, 2, 3), noise(4, 2, 5, seed=2), noise(4, 2, 5, seed=3)

    def weights(gates, layers, directions, biases):
        ps = []
        for layer in range(layers):
            for d in range(directions):
                width = 3 if layer == 0 else 5 * directions
                ps += [noise(gates * 5, width, seed=7 + layer + d, scale=0.5), noise(gates * 5, 5, seed=9 + d, scale=0.5)]
                ps += [noise(gates * 5, seed=11 + d), noise(gates * 5, seed=12)] if biases else []
        return ps

    for layers, directions, biases, first in [(1, 1, True, False), (2, 2, True, True), (2, 1, False, True)]:
        n = layers * directions
        y = x.transpose(0, 1).contiguous() if first else x
        flags = [biases, layers, 0.0, False, directions == 2, first]
        case("lstm.input", dyn(y, 0, 1), [h0[:n], c0[:n]], weights(4, layers, directions, biases), *flags, tol=1e-5) if n == 1 else case(
            "lstm.input", y, [h0[:n], c0[:n]], weights(4, layers, directions, biases), *flags, tol=1e-5)
        case("gru.input", y, h0[:n], weights(3, layers, directions, biases), *flags, tol=1e-5)
        case("rnn_tanh.input", y, h0[:n], weights(1, layers, directions, biases), *flags, tol=1e-5)
        case("rnn_relu.input", y, h0[:n], weights(1, layers, directions, biases), *flags, tol=1e-5)
    case("lstm_cell", x[0], [h0[0], c0[0]], *weights(4, 1, 1, True), tol=1e-5)
    case("gru_cell", x[0], h0[0], *weights(3, 1, 1, True), tol=1e-5)
    case("rnn_tanh_cell", x[0], h0[0], *weights(1, 1, 1, False), tol=1e-5)
    for directions, biases in [(1, True), (2, False)]:
        ps = []
        for layer in range(2):
            for d in range(directions):
                ps += [noise(20, 3 if layer == 0 else 2 * directions, seed=7 + layer + d, scale=0.5), noise(20, 2, seed=9 + d, scale=0.5)]
                ps += [noise(20, seed=11 + d), noise(20, seed=12)] if biases else []
                ps += [noise(2, 5, seed=13 + d + layer)]
        n = 2 * directions
        case("lstm.input", x, [noise(n, 2, 2, seed=4), noise(n, 2, 5, seed=5)], ps, biases, 2, 0.0, False, directions == 2, False, tol=1e-5)
    refused("lstm.input", x, [h0[:1], c0[:1]], weights(4, 1, 1, True)[:3], True, 1, 0.0, False, False, False, says="3 weights, expected 4")
    refused("gru.input", x, h0[:2], weights(3, 2, 1, True), True, 2, 0.5, True, False, False, says="model.eval()")
    refused("gru.data", x[0], T([2]), h0[:1], weights(3, 1, 1, True), True, 1, 0.0, False, False, says="packed sequences")


def attention():
    begin("Attention.cases")
    q, k, v = noise(2, 4, 3, 2, seed=1), noise(2, 4, 5, 2, seed=2), noise(2, 4, 5, 3, seed=3)

    def sdpa(q, k, v, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
        if enable_gqa:
            k, v = (x.repeat_interleave(q.shape[-3] // x.shape[-3], -3) for x in (k, v))
        s = q.double() @ k.double().transpose(-1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)
        if is_causal:
            s = s.masked_fill(~torch.ones(s.shape[-2:], dtype=b1).tril(), -inf)
        if attn_mask is not None:
            s = s.masked_fill(~attn_mask, -inf) if attn_mask.dtype == b1 else s + attn_mask
        return (s.softmax(-1) @ v.double()).float()

    def flash(q, k, v, p=0.0, is_causal=False, attn_mask=None, scale=None):
        s = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
        return sdpa(q, k, v, attn_mask, is_causal=is_causal, scale=scale), torch.logsumexp(s if attn_mask is None else s + attn_mask, -1)

    keys = T([[True, True, False, True, False], [True, False, True, True, True]])
    name = "scaled_dot_product_attention"
    case(name, q, k, v, by=sdpa, tol=1e-5)
    case(name, dyn(q, 0), dyn(k, 0), dyn(v, 0), by=sdpa, tol=1e-5)
    case(name, q, k, v, keys[:, None, None, :], by=sdpa, tol=1e-5)
    case(name, q, k, v, noise(3, 5), by=sdpa, tol=1e-5)
    case(name, q, k, v, is_causal=True, scale=0.3, by=sdpa, tol=1e-5)
    case(name, q, k[:1], v[:1], by=sdpa, tol=1e-5)
    case(name, q[0, 0], k[0, 0], v[0, 0], by=sdpa, tol=1e-5)
    for extra in [{}, {"attn_mask": keys[:, None, None, :]}, {"is_causal": True}, {"attn_mask": noise(3, 5)}]:
        case(name, q, k[:, :2], v[:, :2], enable_gqa=True, by=sdpa, tol=1e-5, **extra)
    refused(name, q, k, v, None, 0.1, says="draws random numbers")
    case("_scaled_dot_product_flash_attention_for_cpu", q, k, v, attn_mask=noise(3, 5), by=flash, tol=1e-5)
    case("_scaled_dot_product_attention_math", q, k, v, by=lambda *a: [sdpa(*a), (q @ k.transpose(-1, -2) * 2 ** -0.5).softmax(-1)], tol=1e-5)
    x, d = noise(2, 3, 4), 4
    w, b, ow, ob = noise(12, 4, seed=3, scale=0.5), noise(12, seed=4), noise(4, 4, seed=5, scale=0.5), noise(4, seed=6)
    padding = T([[False, False, True], [False, False, False]])
    case("_native_multi_head_attention", x, x, x, 4, 2, w, b, ow, ob, None, True, True, tol=1e-5)
    case("_native_multi_head_attention", x, x, x, 4, 2, w, b, ow, ob, padding, False, True, 1, skip=[1], tol=1e-5)
    layer = [noise(4, seed=7) + 2, noise(4, seed=8), noise(4, seed=9) + 2, noise(4, seed=10), noise(6, 4, seed=11), noise(6, seed=12), noise(4, 6, seed=13), noise(4, seed=14)]
    for gelu in [False, True]:
        case("_transformer_encoder_layer_fwd", x, 4, 2, w, b, ow, ob, gelu, gelu, 1e-5, *layer, tol=1e-5)
    refused("to_padded_tensor", x, 0.0, says="only where nn.TransformerEncoder makes them")


def quantised():
    begin("Quantised.cases")
    x = T([[-3.3, 0.0, 0.24], [0.26, 1.49, 200.0]])
    Q = "quantized_decomposed::"

    def q(x, scale, zero, low, high, dtype):
        return torch.clamp(torch.round(x.float() * (1.0 / scale)) + zero, low, high).to(dtype)

    def d(x, scale, zero, low, high, dtype):
        return (x.float() - zero) * scale

    def along(f):
        return lambda x, s, z, axis, *rest: f(x, s.reshape([-1] + [1] * (x.dim() - axis - 1)), z.reshape([-1] + [1] * (x.dim() - axis - 1)), *rest)

    case(Q + "quantize_per_tensor", x, 0.5, -3, -128, 127, i8, by=q)
    case(Q + "quantize_per_tensor.tensor", x, T([0.5], dtype=f64), T([3]), 0, 255, u8, by=q)
    y = T([[-128, 5], [127, -1]], dtype=i8)
    case(Q + "dequantize_per_tensor", y, 0.25, 3, -128, 127, i8, by=d)
    case(Q + "dequantize_per_tensor.tensor", y, T([0.25], dtype=f64), T([3]), -128, 127, i8, by=lambda *a: d(*a).float())
    s, z = T([0.5, 0.25]), T([1, -2])
    case(Q + "quantize_per_channel", x, s, z, 0, -128, 127, i8, by=along(q))
    case(Q + "dequantize_per_channel", y, s, z, 1, -128, 127, i8, by=along(d))
    case(Q + "quantize_per_token", x, s[:, None], z[:, None], -128, 127, i8, by=q)
    case(Q + "choose_qparams.tensor", x, -128, 127, 1e-9, i8, by=lambda *a: [T([203.3 / 255], dtype=f32).double(), T([-128 + 4])], tol=1e-6)
    case("fake_quantize_per_tensor_affine", x, 0.5, 2, 0, 15)
    case("fake_quantize_per_channel_affine", x, s, z.to(i32), 0, -8, 7)
    case("_int_mm", y, y, by=lambda a, b: a.to(i32) @ b.to(i32))
    case("_weight_int8pack_mm", T([[1.0, 2.0]]), y, s, by=lambda a, w, s: (a @ w.float().t()) * s)
    refused("quantize_per_tensor", x, 0.5, 0, 13, says="torchao")


for make in [views, reshapes, indexing, creation, conversion, recurrent, attention, quantised]:
    make()
for name, lines in tables.items():
    with open(os.path.join(HERE, name), "w") as f:
        f.write("# Written by make_structure_cases.py; see AtenCases.h.\n" + "\n".join(lines) + "\n")
    print(name, len(lines))
