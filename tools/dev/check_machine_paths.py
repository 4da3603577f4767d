"""Fails when a committed text names a path, host or user of somebody's machine: the tree must work wherever it is cloned."""
import re
import sys

from source_files import source_files

TEXT = {".h", ".cpp", ".c", ".td", ".py", ".md", ".cmake", ".txt", ".json", ".sh", ".in", ".mlir", ".test", ".proto", ".yml", ".cfg", ""}
BAD = re.compile(r"(?<![\w.])/(?:home|Users|root|work|mnt)/[\w.-]+|\b10\.\d+\.\d+\.\d+\b|\b192\.168\.\d+\.\d+\b")
# The distribution's own LLVM may be named where it is looked for.
EXEMPT = {"tools/dev/check_machine_paths.py"}


def main(root):
    bad = 0
    for path in source_files(root, TEXT):
        name = path.relative_to(root).as_posix()
        if name in EXEMPT:
            continue
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            match = BAD.search(line)
            if match:
                print(f"{name}:{number}: names `{match.group(0)}`, a path of one machine")
                bad += 1
    return bad != 0


sys.exit(main(sys.argv[1]))
