"""Runs the commands that a page shows: every `stator ...` line of an sh block behind a comment of this form must succeed.

    <!-- run: model.pt=image.pt example.npy=image.npy -->

The block runs in a folder of its own, where model.pt is a copy of FIXTURES/image.pt.

    run_doc_commands.py PAGE --bin=DIR --fixtures=DIR --work=DIR
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

BLOCK = re.compile(r"^<!-- run:(.*?)-->\n+```sh\n(.*?)^```", re.M | re.S)


def run_block(files, commands, fixtures, work, environment):
    """The complaint about the first command that fails, or None."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    for pair in files.split():
        name, _, source = pair.partition("=")
        shutil.copy(fixtures / source, work / name)
    for line in commands.replace("\\\n", " ").splitlines():
        if not line.startswith("stator "):
            continue
        result = subprocess.run(["bash", "-c", line], cwd=work, env=environment, capture_output=True, text=True, timeout=300)
        if result.returncode != 0:
            return f"`{line}` ends with {result.returncode}:\n{result.stdout[-2000:]}{result.stderr[-2000:]}"
    return None


def main(page, options):
    text = pathlib.Path(page).read_text()
    environment = dict(os.environ, PATH=options["bin"] + os.pathsep + os.environ["PATH"])
    blocks = BLOCK.findall(text)
    bad = 0
    for number, (files, commands) in enumerate(blocks):
        complaint = run_block(files, commands, pathlib.Path(options["fixtures"]), pathlib.Path(options["work"]) / str(number), environment)
        if complaint:
            print(f"{page}: {complaint}")
            bad += 1
    print(f"{len(blocks)} blocks, {bad} that fail")
    return bad != 0 or not blocks


OPTIONS = dict(argument[2:].partition("=")[::2] for argument in sys.argv[2:])
sys.exit(main(sys.argv[1], OPTIONS))
