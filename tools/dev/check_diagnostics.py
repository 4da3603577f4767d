"""Fails when an error that a user can cause is not caused by any test.

Messages are the string literals given to emitOpError/emitError in dialects/, passes/ and compiler/; a message counts as covered when its
longest literal piece stands somewhere below test/. Those that no test can reach are listed in test/lint/uncovered-diagnostics.txt, one
`path: message piece  # reason` a line.
"""
import pathlib
import re
import sys

from source_files import source_files

LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
MINIMUM = 8  # shorter pieces say nothing


def messages_of(text):
    """Yields (line number, longest literal piece) for each diagnostic with a literal text."""
    for match in re.finditer(r"emit(?:Op)?Error\s*\(", text):
        statement = text[match.end():text.find(";", match.end())]
        pieces = [piece for piece in LITERAL.findall(statement) if len(piece.strip()) >= MINIMUM]
        if pieces:
            yield text.count("\n", 0, match.start()) + 1, max(pieces, key=len).replace('\\"', '"').strip(" `:,;()")


def main(root):
    root = pathlib.Path(root)
    tests = "\n".join(p.read_text(errors="replace") for p in source_files(root, {".mlir", ".test", ".cpp", ".json", ".txt"})
                      if p.relative_to(root).parts[0] == "test" and p.name != "uncovered-diagnostics.txt")
    listed = set()
    exemptions = root / "test/lint/uncovered-diagnostics.txt"
    if exemptions.exists():
        for line in exemptions.read_text().splitlines():
            if line and not line.startswith("#"):
                if "  # " not in line:
                    print(f"test/lint/uncovered-diagnostics.txt: no reason given: {line}")
                    return 1
                listed.add(line.split("  # ")[0].strip())
    bad, used = 0, set()
    for path in source_files(root, {".cpp", ".h"}):
        name = path.relative_to(root).as_posix()
        if name.split("/")[0] not in {"dialects", "passes", "compiler"}:
            continue
        for number, message in messages_of(path.read_text(errors="replace")):
            key = f"{name}: {message}"
            if message in tests:
                continue
            if key in listed:
                used.add(key)
                continue
            print(f"{name}:{number}: no test causes: {message}")
            bad += 1
    for key in sorted(listed - used):
        print(f"test/lint/uncovered-diagnostics.txt: covered by now, or gone: {key}")
        bad += 1
    return bad != 0


sys.exit(main(sys.argv[1]))
