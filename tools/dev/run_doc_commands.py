"""Runs the commands that pages show: every `stator ...` line of an sh block behind a comment of this form must succeed.

    <!-- run: model.pt=test/tools/Inputs/howto/image.pt -->

The block runs in a folder of its own, where model.pt is a copy of that file of the repository. Each page needs such a block.

    run_doc_commands.py SOURCE_DIR --bin=DIR --work=DIR PAGE...
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

BLOCK = re.compile(r"^<!-- run:(.*?)-->\n+```sh\n(.*?)^```", re.M | re.S)


def run_block(files, commands, root, work, environment):
    """The complaint about the first command that fails, or None."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    for pair in files.split():
        name, _, source = pair.partition("=")
        shutil.copy(root / source, work / name)
    for line in commands.replace("\\\n", " ").splitlines():
        if not line.startswith("stator "):
            continue
        result = subprocess.run(["bash", "-c", line], cwd=work, env=environment, capture_output=True, text=True, timeout=300)
        if result.returncode != 0:
            return f"`{line}` ends with {result.returncode}:\n{result.stdout[-2000:]}{result.stderr[-2000:]}"
    return None


def main(root, options, pages):
    root, bad = pathlib.Path(root), 0
    environment = dict(os.environ, PATH=options["bin"] + os.pathsep + os.environ["PATH"])
    for page in pages:
        blocks = BLOCK.findall((root / page).read_text())
        complaints = [] if blocks else ["no block of commands is run"]
        for number, (files, commands) in enumerate(blocks):
            work = pathlib.Path(options["work"]) / page.replace("/", "-") / str(number)
            complaints += filter(None, [run_block(files, commands, root, work, environment)])
        for complaint in complaints:
            print(f"{page}: {complaint}")
        print(f"{page}: {len(blocks)} blocks, {len(complaints)} that fail")
        bad += len(complaints)
    return bad != 0


OPTIONS = dict(a[2:].partition("=")[::2] for a in sys.argv[2:] if a.startswith("--"))
sys.exit(main(sys.argv[1], OPTIONS, [a for a in sys.argv[2:] if not a.startswith("--")]))
