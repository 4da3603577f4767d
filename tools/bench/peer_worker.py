"""One runtime, one model, one process: what compare_peers.py starts, and talks to in lines of JSON.

    peer_worker.py SETTINGS     (a JSON object: peer, threads, model, artifact, library, inputs, expected)

Gets ready, prints {"event": "ready", ...}, then answers `run SECONDS LEAST`, `save FILE` and `quit` on stdin. All runtimes are called from
Python with their inputs bound beforehand, so that the call costs each of them about the same.
"""
import ctypes
import json
import os
import resource
import sys
import time

import numpy

PROTOCOL = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # What libraries print must not reach the protocol.

TYPES = ["", "float32", "float64", "float16", "", "int64", "int32", "int16", "int8", "uint8", "bool"]  # stator_element_type


def say(**message):
    print(json.dumps(message), file=PROTOCOL, flush=True)


def resident_megabytes(key="VmRSS"):
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith(key + ":"):
                return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class OnnxRuntime:
    """All graph optimisations, sequential execution, as many intra-op threads as asked for."""

    def __init__(self, settings):
        import onnxruntime

        self.version = onnxruntime.__version__
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = settings["threads"], 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.log_severity_level = 4
        start = time.perf_counter()
        self.session = onnxruntime.InferenceSession(settings["model"], options, providers=["CPUExecutionProvider"])
        self.load_seconds = time.perf_counter() - start

    def bind(self, inputs):
        feeds = dict(zip([value.name for value in self.session.get_inputs()], inputs))
        self.step = lambda: self.session.run(None, feeds)

    def outputs(self):
        return self.step()


class OpenVino:
    """Latency hint, and f32 as the precision hint: without it the plug-in may compute in bf16 or f16."""

    def __init__(self, settings):
        import openvino

        self.version = openvino.__version__
        self.openvino = openvino
        core = openvino.Core()
        config = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": settings["threads"], "INFERENCE_PRECISION_HINT": "f32"}
        start = time.perf_counter()
        self.model = core.compile_model(settings["model"], "CPU", config)
        self.load_seconds = time.perf_counter() - start
        self.request = self.model.create_infer_request()

    def bind(self, inputs):
        self.inputs = inputs  # Shared, not copied.
        for index, array in enumerate(inputs):
            self.request.set_input_tensor(index, self.openvino.Tensor(array, shared_memory=True))
        self.step = self.request.infer

    def outputs(self):
        self.step()
        return [numpy.array(self.request.get_output_tensor(index).data) for index in range(len(self.model.outputs))]


class View(ctypes.Structure):
    """stator_tensor_view"""

    _fields_ = [("data", ctypes.c_void_p), ("size_bytes", ctypes.c_size_t), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("rank", ctypes.c_int32), ("element_type", ctypes.c_int32)]


class SessionOptions(ctypes.Structure):
    """The head of stator_session_options; the library takes what struct_size covers."""

    _fields_ = [("struct_size", ctypes.c_size_t), ("threads", ctypes.c_int32), ("flush_denormals", ctypes.c_int32)]


class Stator:
    """The C interface of libstator."""

    def __init__(self, settings):
        self.library = library = ctypes.CDLL(settings["library"])
        library.stator_version.restype = library.stator_status_get_message.restype = ctypes.c_char_p
        library.stator_session_outputs.restype = ctypes.POINTER(View)
        for name in ("stator_module_load", "stator_session_create", "stator_session_run"):
            getattr(library, name).restype = ctypes.c_void_p
        library.stator_module_find_method.restype = ctypes.c_size_t
        self.version = library.stator_version().decode()
        module, self.session = ctypes.c_void_p(), ctypes.c_void_p()
        start = time.perf_counter()
        self.check(library.stator_module_load(settings["artifact"].encode(), None, ctypes.byref(module)))
        self.load_seconds = time.perf_counter() - start
        options = SessionOptions(ctypes.sizeof(SessionOptions), settings["threads"], 0)
        self.check(library.stator_session_create(module, ctypes.byref(options), ctypes.byref(self.session)))
        self.method = ctypes.c_size_t(library.stator_module_find_method(module, settings.get("method", "forward").encode()))

    def check(self, status):
        if status:
            raise RuntimeError(self.library.stator_status_get_message(ctypes.c_void_p(status)).decode())

    def bind(self, inputs):
        self.inputs = inputs
        self.shapes = [(ctypes.c_int64 * max(1, array.ndim))(*array.shape) for array in inputs]
        views = (View * max(1, len(inputs)))()
        for view, array, shape in zip(views, inputs, self.shapes):
            view.data, view.size_bytes, view.shape = array.ctypes.data, array.nbytes, shape
            view.rank, view.element_type = array.ndim, TYPES.index(array.dtype.name)
        run, session, method, count = self.library.stator_session_run, self.session, self.method, ctypes.c_size_t(len(inputs))
        none, zero = ctypes.c_void_p(), ctypes.c_size_t(0)

        def step():
            if status := run(session, method, views, count, none, zero):
                self.check(status)

        self.step = step

    def outputs(self):
        self.step()
        count = ctypes.c_size_t()
        views = self.library.stator_session_outputs(self.session, ctypes.byref(count))
        arrays = []
        for view in views[: count.value]:
            kind = numpy.dtype(TYPES[view.element_type])
            shape = [view.shape[axis] for axis in range(view.rank)]
            bytes_ = ctypes.string_at(view.data, int(numpy.prod(shape, dtype=numpy.int64)) * kind.itemsize) if view.data else b""
            arrays.append(numpy.frombuffer(bytes_, kind).reshape(shape))
        return arrays


def arrays_of(path, prefix):
    with numpy.load(path) as data:
        names = sorted((name for name in data if name.startswith(prefix)), key=lambda name: int(name[len(prefix):]))
        return [numpy.ascontiguousarray(data[name]) for name in names]


def made_up_inputs(values):
    """The same for every process: normal numbers, and integers that are valid as an index or a mask of whatever size."""
    generator = numpy.random.default_rng(0)
    inputs = []
    for value in values:
        kind = numpy.dtype(value["type"])
        if kind.kind == "f":
            inputs.append(generator.standard_normal(value["dims"]).astype(kind))
        else:
            inputs.append(generator.integers(0, 2, value["dims"]).astype(kind))
    return inputs


def difference(outputs, expected):
    """The largest difference as a share of the largest expected value, over all outputs."""
    if len(outputs) != len(expected):
        raise RuntimeError(f"{len(outputs)} outputs, expected {len(expected)}")
    error = scale = 0.0
    for ours, theirs in zip(outputs, expected):
        if ours.shape != theirs.shape:
            raise RuntimeError(f"an output of shape {list(ours.shape)}, expected {list(theirs.shape)}")
        if theirs.size:
            error = max(error, float(numpy.abs(ours.astype("float64") - theirs.astype("float64")).max()))
            scale = max(scale, float(numpy.abs(theirs.astype("float64")).max()))
    return error / scale if scale else error


def measure(step, seconds, least):
    step()  # Threads awake, caches warm.
    times, begin = [], time.perf_counter()
    while len(times) < least or time.perf_counter() - begin < seconds:
        start = time.perf_counter()
        step()
        times.append(time.perf_counter() - start)
    times.sort()
    return times[len(times) // 2], len(times)


def main():
    settings = json.loads(sys.argv[1])
    if settings["inputs_file"]:
        inputs = arrays_of(settings["inputs_file"], "in_")
    else:
        inputs = made_up_inputs(settings["inputs"])
    before = resident_megabytes()
    try:
        peer = {"stator": Stator, "onnxruntime": OnnxRuntime, "openvino": OpenVino}[settings["peer"]](settings)
    except ImportError as error:
        return say(event="missing", error=str(error))
    except Exception as error:  # Whatever a runtime says about a model is a result.
        return say(event="failed", error=f"{type(error).__name__}: {str(error)[:500]}")
    try:
        peer.bind(inputs)
        outputs = peer.outputs()
        error = difference(outputs, arrays_of(settings["expected"], "out_")) if settings["expected"] else None
    except Exception as failure:
        return say(event="failed", error=f"{type(failure).__name__}: {str(failure)[:500]}")
    say(event="ready", version=peer.version, load_ms=peer.load_seconds * 1e3, error=error)
    for line in sys.stdin:
        command, *rest = line.split()
        if command == "quit":
            break
        if command == "save":
            numpy.savez(rest[0], **{f"out_{index}": array for index, array in enumerate(outputs)})
            say(event="saved")
        else:
            outputs = None
            median, count = measure(peer.step, float(rest[0]), int(rest[1]))
            say(event="times", median_ms=median * 1e3, runs=count)
    say(event="bye", peak_mb=resident_megabytes("VmHWM") - before)


main()
