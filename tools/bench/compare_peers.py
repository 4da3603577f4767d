#!/usr/bin/env python3
"""Times Stator, ONNX Runtime and OpenVINO on the same ONNX models, side by side.

    tools/bench/compare_peers.py --models DIR --threads 1,2
    tools/bench/compare_peers.py --threads 2 --library none,auto model.onnx

Each runtime has a process of its own per model; all stay resident and take turns, `--rounds` times, each for at least `--seconds` and three
steps, in an order that rotates. What counts is the median over the rounds of each round's median, so that a disturbance of the machine hits
all. `ratio` is the time of the faster peer divided by ours. Inputs: the arrays in_0, in_1, ... of MODEL.npz beside MODEL.onnx, else made up
from the model's shapes, with 1 for sizes that it leaves open (`--dim N=4` sets them). Outputs are compared with out_0, ... of that file,
else with those of the first peer.

The peers come from PyPI into a virtual environment below the build directory, which is made at the first call; --python names another
interpreter that has numpy, onnxruntime and openvino. A peer that is not there is left out.
"""
import argparse
import json
import math
import os
import pathlib
import platform
import select
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PEERS = ("onnxruntime", "openvino")
PACKAGES = ("numpy", *PEERS)
LEAST_STEPS = 3


def fail(message):
    print(f"compare_peers.py: error: {message}", file=sys.stderr)
    sys.exit(2)


def default_build():
    for name in ("build-release", "build"):
        if (ROOT / name / "bin" / "stator-compile").exists():
            return ROOT / name
    return ROOT / "build-release"


def ready_python(options):
    """The interpreter that has the peers; makes its environment when it is not there."""
    if options.python:
        return options.python
    venv = options.venv or options.build / "bench-venv"
    python = venv / "bin" / "python"
    if not python.exists():
        print(f"installing {', '.join(PACKAGES)} into {venv}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        for package in PACKAGES:  # One by one: a peer that does not install is a peer less.
            done = subprocess.run([python, "-m", "pip", "install", "--quiet", package])
            if done.returncode and package == "numpy":
                shutil.rmtree(venv)
                fail("numpy cannot be installed")
    return python


def parse_arguments():
    def numbers(text):
        values = [int(part) for part in text.split(",")]
        if min(values) < 1:
            raise ValueError(text)
        return values

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog="\n".join(__doc__.splitlines()[5:]),
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=pathlib.Path, metavar="MODEL.onnx")
    parser.add_argument("--models", type=pathlib.Path, metavar="DIR", help="all *.onnx of a folder")
    parser.add_argument("--only", default="", metavar="TEXT,...", help="only models whose name holds one of these")
    parser.add_argument("--threads", type=numbers, default=[1], metavar="N,...", help="default 1")
    parser.add_argument("--rounds", type=int, default=5, help="default 5")
    parser.add_argument("--seconds", type=float, default=0.3, help="per runtime and round (default 0.3)")
    parser.add_argument("--patience", type=float, default=5, metavar="SECONDS",
                        help="how long a round waits for other processes to be quiet (default 5)")
    parser.add_argument("--library", default="none", metavar="none,auto,onednn", help="how we are compiled; the first counts (default none)")
    parser.add_argument("--flags", default="", help="further flags of stator compile, for example '--math=fast'")
    parser.add_argument("--peers", default=",".join(PEERS), help="default %(default)s")
    parser.add_argument("--dim", action="append", default=[], metavar="NAME=N", help="size of inputs that are made up")
    parser.add_argument("--tolerance", type=float, default=1e-3, help="of the largest output (default 1e-3)")
    parser.add_argument("--build", type=pathlib.Path, default=default_build(), metavar="DIR", help="where Stator is built")
    parser.add_argument("--venv", type=pathlib.Path, metavar="DIR", help="the peers' environment (default BUILD/bench-venv)")
    parser.add_argument("--python", type=pathlib.Path, metavar="FILE", help="an interpreter that has the peers; nothing is installed")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write all figures to a file too")
    options = parser.parse_args()
    models = list(options.files)
    if options.models:
        if not options.models.is_dir():
            fail(f"`{options.models}` is not a folder")
        models += sorted(options.models.glob("*.onnx"))
    options.models = [m for m in models if any(part in m.stem for part in options.only.split(","))]
    if not options.models:
        fail("no models: give files, or a folder with --models")
    for model in options.models:
        if not model.is_file():
            fail(f"`{model}` is not there")
    options.libraries, options.peers = options.library.split(","), [peer for peer in options.peers.split(",") if peer]
    for library in options.libraries:
        if library not in ("none", "auto", "onednn"):
            fail(f"unknown library `{library}`, expected none, auto or onednn")
    for peer in options.peers:
        if peer not in PEERS:
            fail(f"unknown peer `{peer}`, expected {' or '.join(PEERS)}")
    if not (options.build / "bin" / "stator-compile").exists():
        fail(f"`{options.build}` has no bin/stator-compile: build it, or name the build directory with --build")
    options.dims = dict(pair.split("=", 1) for pair in options.dim)
    return options


class Worker:
    def __init__(self, python, label, settings):
        self.label = label
        command = [str(python), str(pathlib.Path(__file__).with_name("peer_worker.py")), json.dumps(settings)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.record = self.hear(600)
        self.isReady = self.record.pop("event") == "ready"
        self.medians = []

    def hear(self, patience):
        if not select.select([self.process.stdout], [], [], patience)[0]:
            self.process.kill()
            return {"event": "failed", "error": f"no answer within {patience} s"}
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"event": "failed", "error": f"ended with {self.process.wait()}"}

    def ask(self, text, patience=600):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()
        return self.hear(patience)

    def measure(self, seconds):
        reply = self.ask(f"run {seconds} {LEAST_STEPS}")
        if reply["event"] != "times":
            self.isReady, self.record["error"] = False, reply["error"]
            return
        self.medians.append(reply["median_ms"])

    def finish(self):
        if self.isReady:
            self.record["peak_mb"] = self.ask("quit", 30).get("peak_mb")
        if self.medians:
            self.record["median_ms"] = statistics.median(self.medians)
            self.record["round_medians_ms"] = self.medians
        self.process.stdin.close()
        self.process.wait()
        return self.record


def busy_share(seconds=0.1):
    """The share of all CPUs that is in use while nothing of ours runs."""
    def read():
        with open("/proc/stat") as file:
            fields = [int(field) for field in file.readline().split()[1:9]]
        return sum(fields), fields[3] + fields[4]

    total, idle = read()
    time.sleep(seconds)
    later, idle_later = read()
    return 1 - (idle_later - idle) / max(1, later - total)


def wait_until_quiet(patience):
    """Returns what other processes still used in the end."""
    end = time.monotonic() + patience
    while (share := busy_share()) > 0.1 and time.monotonic() < end:
        pass
    return round(share, 2)


def run_tool(options, tool, *arguments):
    done = subprocess.run([options.build / "bin" / tool, *map(str, arguments)], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else None, done.stderr.strip()


def compile_model(options, model, library, artifact):
    start = time.perf_counter()
    output, errors = run_tool(options, "stator-compile", model, "-o", artifact, "--quiet", "--mcpu=host", f"--library={library}",
                              *options.flags.split())
    seconds = time.perf_counter() - start
    return ({"compile_s": seconds} if output is not None else {"failed": errors[:500]})


NUMPY = {"f32": "float32", "f64": "float64", "f16": "float16", "i64": "int64", "i32": "int32", "i16": "int16", "i8": "int8", "ui8": "uint8",
         "i1": "bool"}


def describe(options, artifact):
    """What the artifact says of itself: inputs for made-up arrays, and bytes of weights and arena."""
    text, _ = run_tool(options, "stator-inspect", artifact, "--json")
    manifest = json.loads(text)
    method = manifest["methods"][0]
    inputs = []
    for value in method["inputs"]:
        dims = [int(dim) if str(dim).isdigit() else int(options.dims.get(dim, 1)) for dim in value["dims"]]
        inputs.append({"type": NUMPY.get(value["type"], "float32"), "dims": dims})
    stored = {(p["entry"], p["offset_bytes"]): p["size_bytes"] for p in manifest["parameters"]}
    return {"method": method["name"], "requirements": manifest["requirements"], "inputs": inputs, "weights_mb": sum(stored.values()) / 2**20,
            "arena_mb": (method["arena_bytes"]["max"] or 0) / 2**20, "live_peak_mb": method["live_peak_bytes"] / 2**20}


def run_memory(options, artifact, description, threads):
    """Peak resident megabytes of a process that does nothing but run the model."""
    dims = [f"--dim={name}={size}" for name, size in options.dims.items()]
    text, _ = run_tool(options, "stator-bench", artifact, f"--threads={threads}", "--iterations=2", "--duration=0", "--warmUp=0", "--json", *dims)
    return json.loads(text)["peak_resident_bytes"] / 2**20 if text else None


def measure_model(options, python, model, threads, scratch):
    """A record per runtime, by label: a peer's name, or `stator` with the library."""
    records, ours = {}, {}
    for library in options.libraries:
        artifact = scratch / f"{model.stem}-{library}.stator"
        label = f"stator-{library}"
        if not artifact.exists():
            compiled = compile_model(options, model, library, artifact)
            artifact.with_suffix(".txt").write_text(json.dumps(compiled))
        records[label] = json.loads(artifact.with_suffix(".txt").read_text())
        if "failed" not in records[label]:
            ours[label] = artifact
    data = model.with_suffix(".npz")
    description = describe(options, next(iter(ours.values()))) if ours else {"inputs": []}
    common = {"threads": threads, "model": str(model), "inputs_file": str(data) if data.exists() else None,
              "inputs": description["inputs"], "expected": str(data) if data.exists() else None,
              "library": str(options.build / "lib" / "libstator.so"), "method": description.get("method", "forward")}
    workers = []

    def start(label, **settings):
        worker = Worker(python, label, {**common, **settings})
        workers.append(worker)
        if worker.isReady and not common["expected"]:
            common["expected"] = str(scratch / "expected.npz")
            worker.ask("save " + common["expected"])

    for peer in options.peers if data.exists() or ours else []:
        start(peer, peer=peer)
    same, plain = {}, None  # Where no library step was chosen, artifacts differ in texts alone.
    for label, artifact in ours.items():
        weights = describe(options, artifact)
        if not weights["requirements"]:
            if plain:
                same[label] = plain
                continue
            plain = label
        start(label, peer="stator", artifact=str(artifact))
        records[label] |= {key: weights[key] for key in ("weights_mb", "arena_mb", "live_peak_mb")}
        records[label]["run_mb"] = run_memory(options, artifact, description, threads)
    running = [worker for worker in workers if worker.isReady]
    busy = []
    for round_ in range(options.rounds):
        busy.append(wait_until_quiet(options.patience))
        for index in range(len(running)):
            worker = running[(index + round_) % len(running)]
            if worker.isReady:
                worker.measure(options.seconds)
    for worker in workers:
        records.setdefault(worker.label, {}).update(worker.finish())
        records[worker.label]["others_busy"] = busy
    for label, earlier in same.items():
        records[label] |= {**records[earlier], "compile_s": records[label]["compile_s"], "same_as": earlier}
    if not data.exists() and pathlib.Path(scratch / "expected.npz").exists():
        (scratch / "expected.npz").unlink()
    return records


def geomean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


def machine():
    model = platform.processor()
    with open("/proc/cpuinfo") as cpuinfo:
        for line in cpuinfo:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    return {"cpu": model, "cores": len(os.sched_getaffinity(0)), "system": platform.platform()}


def main():
    options = parse_arguments()
    python = ready_python(options)
    versions, _ = run_tool(options, "stator-compile", "--version")
    here = machine()
    print(f"{here['cpu']}, {here['cores']} CPUs, {here['system']}\n{(versions or '').strip().splitlines()[0] if versions else ''}")
    print(f"medians over {options.rounds} rounds of {options.seconds} s, in ms; ratio: the faster peer / ours ({options.libraries[0]})\n")
    labels = [*options.peers, *(f"stator-{library}" for library in options.libraries)]
    print(f"{'model':24} {'threads':>7} " + " ".join(f"{label:>12}" for label in labels) +
          f" {'ratio':>6} {'error':>8} {'compile s':>9} {'load ms':>8} {'run MB':>7}")
    rows, wrong, seen = [], 0, {}
    with tempfile.TemporaryDirectory(prefix="stator-compare-") as folder:
        for model in options.models:
            for threads in options.threads:
                records = measure_model(options, python, model, threads, pathlib.Path(folder))
                ours = records[f"stator-{options.libraries[0]}"]
                peers = [records[peer]["median_ms"] for peer in options.peers if "median_ms" in records.get(peer, {})]
                row = {"model": model.stem, "threads": threads, "runtimes": records}
                if peers and "median_ms" in ours:
                    row["ratio"] = min(peers) / ours["median_ms"]
                rows.append(row)
                times = " ".join(f"{r['median_ms']:12.3f}" if "median_ms" in (r := records.get(label, {})) else f"{'-':>12}" for label in labels)
                numbers = [f"{row['ratio']:6.2f}" if "ratio" in row else f"{'-':>6}"]
                for key, form in (("error", "8.1e"), ("compile_s", "9.1f"), ("load_ms", "8.2f"), ("run_mb", "7.0f")):
                    numbers.append(format(ours[key], form) if isinstance(ours.get(key), float) else "-".rjust(int(form.split(".")[0])))
                print(f"{model.stem:24} {threads:7} {times} {' '.join(numbers)}", flush=True)
                for label, record in records.items():
                    seen.setdefault(label, record.get("version"))
                    complaint = record.get("failed") or (record.get("error") if isinstance(record.get("error"), str) else None)
                    if complaint:
                        print(f"    {label}: {complaint}")
                        wrong += label.startswith("stator")
                    elif isinstance(record.get("error"), float) and not record["error"] <= options.tolerance:
                        print(f"    {label}: differs by {record['error']:.1e} of the largest output")
                        wrong += label.startswith("stator")
            for artifact in pathlib.Path(folder).iterdir():
                artifact.unlink()
    print("\nversions: " + ", ".join(f"{label} {version}" for label, version in seen.items() if version))
    for threads in options.threads:
        ratios = [row["ratio"] for row in rows if row["threads"] == threads and "ratio" in row]
        if ratios:
            print(f"geomean of the ratios, {threads} thread(s): {geomean(ratios):.3f} over {len(ratios)} models")
        if {"none", "auto"} <= set(options.libraries):
            both = [(r["runtimes"]["stator-auto"], r["runtimes"]["stator-none"]) for r in rows if r["threads"] == threads]
            shares = [a["median_ms"] / n["median_ms"] for a, n in both if "median_ms" in a and "median_ms" in n]
            if shares:
                value = geomean(shares)
                print(f"--library=none reaches {value:.3f} of auto, {threads} thread(s): {'holds' if value >= 0.95 else 'MISSED'} (0.95)")
    if options.json:
        options.json.write_text(json.dumps({"machine": here, "versions": seen, "seconds": options.seconds, "rounds": options.rounds,
                                            "flags": options.flags, "rows": rows}, indent=1) + "\n")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
