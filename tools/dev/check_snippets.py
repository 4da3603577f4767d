"""Compiles the C++ in the documentation: every ```cpp block of README.md and docs/ that includes an installed header must be a program.

    check_snippets.py SOURCE_DIR COMPILER FLAGS...
"""
import pathlib
import re
import subprocess
import sys

BLOCK = re.compile(r"^```cpp\n(.*?)^```", re.M | re.S)


def main(root, compiler, *flags):
    root = pathlib.Path(root)
    bad = count = 0
    for page in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
        for block in BLOCK.findall(page.read_text()):
            if '#include "stator/' not in block:
                continue
            count += 1
            result = subprocess.run([compiler, "-std=c++17", "-Wall", "-fsyntax-only", *flags, "-x", "c++", "-"], input=block, text=True,
                                    capture_output=True)
            if result.returncode != 0:
                print(f"{page.relative_to(root)}: a snippet does not compile:\n{result.stderr}")
                bad += 1
    print(f"{count} snippets, {bad} that do not compile")
    return bad != 0 or count == 0


sys.exit(main(*sys.argv[1:]))
