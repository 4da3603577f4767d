"""Gives malformed models to stator-compile and stator-check: check_hostile.py TABLE FOLDER SCRATCH-FOLDER

TABLE is JSON: for each file of FOLDER the options, the exit code and a piece of the message. Each tool has to say it within five seconds
(a refusal takes a tenth of one) and 200 MB of resident memory, without a trace of a crash; no file may appear for a refused model.
"""
import json
import os
import pathlib
import resource
import subprocess
import sys
import time

SECONDS, MEGABYTES = 5, 200


def run(command):
    """Exit code, output, seconds, peak of resident memory in MB."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1)))
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    return os.waitstatus_to_exitcode(status), output, time.monotonic() - start, usage.ru_maxrss >> 10


def problems_of(entry, tool, model, artifact):
    compiles = tool == "stator-compile"
    command = [tool, str(model), *entry["options"]] + (["-o", str(artifact)] if compiles else [])
    code, output, seconds, megabytes = run(command)
    # What is not supported is the answer of stator-check, not a failure of it.
    expected = 1 if not compiles and entry["code"] == 5 else entry["code"]
    if code != expected:
        yield f"exit code {code}, expected {expected}"
    if entry["message"] not in output:
        yield f"no `{entry['message']}`"
    for trace in ("Assertion", "Stack dump", "Sanitizer", "value() of a failed result", "internal error"):
        if trace in output:
            yield f"`{trace}` in the output"
    if seconds > SECONDS:
        yield f"{seconds:.1f} s, at most {SECONDS}"
    if megabytes > MEGABYTES:
        yield f"{megabytes} MB, at most {MEGABYTES}"
    if compiles and artifact.exists() != (entry["code"] == 0):
        yield "wrote a file" if artifact.exists() else "wrote no file"


def main(table, folder, scratch):
    folder, scratch = pathlib.Path(folder), pathlib.Path(scratch)
    scratch.mkdir(parents=True, exist_ok=True)
    entries = json.loads(pathlib.Path(table).read_text())
    missing = {path.name for pattern in ("*.pt", "*.pt2") for path in folder.glob(pattern)} - {entry["file"] for entry in entries}
    bad = len(missing)
    for name in sorted(missing):
        print(f"{name}: not in the table")
    for entry in entries:
        for tool in ("stator-compile", "stator-check"):
            artifact = scratch / (entry["file"] + ".stator")
            artifact.unlink(missing_ok=True)
            for problem in problems_of(entry, tool, folder / entry["file"], artifact):
                print(f"{tool} {entry['file']}: {problem}")
                bad += 1
    print(f"{len(entries)} models, {bad} problems")
    return bad != 0


sys.exit(main(*sys.argv[1:]))
