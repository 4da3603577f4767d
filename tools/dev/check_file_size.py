"""Small files read best: warns over 450 lines, fails over 600. Exceptions stand here with their reason."""
import sys

from source_files import source_files

WARN, FAIL = 450, 600
EXEMPT = {}  # path: why it may be longer


def main(root):
    bad = 0
    for path in source_files(root, {".h", ".cpp", ".td", ".py", ".proto", ".cmake"}):
        name = path.relative_to(root).as_posix()
        lines = len(path.read_text(errors="replace").splitlines())
        if lines > FAIL and name not in EXEMPT:
            print(f"{name}: {lines} lines, more than {FAIL}: look for the seam")
            bad += 1
        elif lines > WARN:
            print(f"{name}: warning: {lines} lines, more than {WARN}")
    return bad != 0


sys.exit(main(sys.argv[1]))
