#!/usr/bin/env python3
"""What each optimisation is worth: compiles models without it, one by one, and times both.

    tools/bench/ablation.py --threads 1 --models DIR --only resnet18_b1,vit

The names come from `stator compile --list-optimisations`; the math modes `exact` and `fast` are measured too. Where an artifact is the same
with and without, nothing is timed. The others take turns with the full one, `--rounds` times; what counts is the least of the rounds'
medians, since other processes only ever add time. A figure is the time without divided by the time with: 1.20 says that the optimisation saves a sixth.
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

from compare_peers import wait_until_quiet

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(options, tool, *arguments):
    done = subprocess.run([options.build / "bin" / tool, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"ablation.py: error: {tool} {' '.join(map(str, arguments))}: {done.stderr.strip()[:500]}")
    return done.stdout


def variants(options):
    """Label to flags."""
    names = [line.split()[0] for line in run(options, "stator-compile", "--list-optimisations").splitlines() if line.strip()]
    result = {name: [f"--disable={name}"] for name in names}
    return result | {"--math=exact": ["--math=exact"], "--math=fast": ["--math=fast"]}


def time_of(options, artifact, threads):
    text = run(options, "stator-bench", artifact, f"--threads={threads}", f"--duration={options.seconds}", "--iterations=3", "--warmUp=50",
               "--json")
    return json.loads(text)["latency_ms"]["p50"]


def measure(options, model, flags, scratch):
    """The full artifact's milliseconds, and per label time without / time with, or 1 where the artifact is the same."""
    def compiled(label, extra):
        path = scratch / f"{label.strip('-').replace('=', '-')}.stator"
        run(options, "stator-compile", model, "-o", path, "--quiet", "--mcpu=host", "--library=none", *extra)
        return path

    full = compiled("full", [])
    content, different = full.read_bytes(), {}
    for label, extra in flags.items():
        path = compiled(label, extra)
        # The flags are no part of an artifact: equal code, plan and weights are equal bytes.
        if path.read_bytes() != content:
            different[label] = path
        else:
            path.unlink()
    times = {label: [] for label in ["full", *different]}
    for _ in range(options.rounds if different else 1):
        for label, path in {"full": full, **different}.items():
            wait_until_quiet(options.patience)
            times[label].append(time_of(options, path, options.threads))
    for path in scratch.iterdir():
        path.unlink()
    base = min(times["full"])
    return base, {label: min(times[label]) / base if label in different else 1.0 for label in flags}


def geomean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog="\n".join(__doc__.splitlines()[2:]),
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=pathlib.Path, metavar="MODEL.onnx")
    parser.add_argument("--models", type=pathlib.Path, metavar="DIR", help="all *.onnx of a folder")
    parser.add_argument("--only", default="", metavar="TEXT,...", help="only models whose name holds one of these")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--patience", type=float, default=3, metavar="SECONDS",
                        help="how long a measurement waits for other processes to be quiet (default 3)")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build-release", metavar="DIR", help="where Stator is built")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the figures to a file too")
    options = parser.parse_args()
    if not (options.build / "bin" / "stator-compile").exists():
        parser.error(f"`{options.build}` has no bin/stator-compile: build it, or name the build directory with --build")
    if options.models and not options.models.is_dir():
        parser.error(f"`{options.models}` is not a folder")
    models = options.files + (sorted(options.models.glob("*.onnx")) if options.models else [])
    models = [model for model in models if any(part in model.stem for part in options.only.split(","))]
    if not models:
        parser.error("no models: give files, or a folder with --models")
    flags, results = variants(options), {}
    with tempfile.TemporaryDirectory(prefix="stator-ablation-") as scratch:
        for model in models:
            base, worth = measure(options, model, flags, pathlib.Path(scratch))
            results[model.stem] = {"ms": base, "worth": worth}
            shown = ", ".join(f"{label} {value:.2f}" for label, value in worth.items() if value != 1.0)
            print(f"{model.stem}: {base:.3f} ms; {shown or 'nothing applies'}", flush=True)
    print(f"\n| without | {' | '.join(results)} | geomean |\n|---|{'---|' * (len(results) + 1)}")
    for label in flags:
        values = [result["worth"][label] for result in results.values()]
        cells = [f"{value:.2f}" if value != 1.0 else "" for value in values]
        print(f"| {label} | {' | '.join(cells)} | {geomean(values):.3f} |")
    if options.json:
        options.json.write_text(json.dumps({"threads": options.threads, "models": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
