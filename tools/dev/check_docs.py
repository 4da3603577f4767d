"""Fails when a page points to something that is gone: relative links and their anchors, and paths in `code` that look like ours.

Commands in ```sh blocks are checked too when --bin=DIR names the folder of the built tools: the program must exist and know every
flag that the page shows.
"""
import functools
import re
import subprocess
import sys

from source_files import source_files

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
IMAGE = re.compile(r"!\[[^\]]*\]\(([^)\s]+)\)")
CODE_PATH = re.compile(r"`((?:serialization|runtime|dialects|passes|codegen|compiler|tools|test|docs|examples)/[A-Za-z0-9_./-]+)`")
BLOCK = re.compile(r"^```(?:sh|bash|console)\n(.*?)^```", re.M | re.S)
FLAG = re.compile(r"(?<![\w-])(--[A-Za-z][\w-]*)")


def anchors_of(path):
    """The ids that GitHub gives to a page's headings."""
    ids = set()
    for line in path.read_text().splitlines():
        if line.startswith("#"):
            text = re.sub(r"[^\w\- ]", "", line.lstrip("#").strip().lower())
            ids.add(text.replace(" ", "-"))
    return ids


@functools.lru_cache(maxsize=None)
def help_of(program):
    result = subprocess.run([program, "--help-hidden"], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    if result.returncode != 0:
        result = subprocess.run([program, "--help"], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    return result.stdout + result.stderr


def check_commands(text, bin_dir):
    """Yields a complaint for each `stator` command whose program or flag does not exist."""
    for block in BLOCK.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            words = line.lstrip("$ ").split("#")[0].split()
            if not words or words[0].split("/")[-1].split("-")[0] != "stator":
                continue
            name = words[0].split("/")[-1]
            if name == "stator" and len(words) > 1 and not words[1].startswith("-"):
                name = f"stator-{words[1]}"
            program = bin_dir / name
            if not program.exists():
                yield f"`{line.strip()}`: there is no program `{name}`"
                continue
            for flag in FLAG.findall(" ".join(words[1:])):
                if not re.search(re.escape(flag) + r"(?![\w-])", help_of(str(program))) and flag not in {"--help", "--version"}:
                    yield f"`{line.strip()}`: `{name} --help` does not know `{flag}`"


def main(root, bin_dir):
    import pathlib
    root = pathlib.Path(root)
    bad, pages = 0, source_files(root, {".md"})
    for page in pages:
        text = page.read_text()
        prose = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
        complaints = []
        for target in LINK.findall(prose) + IMAGE.findall(prose):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            file = (page.parent / path).resolve() if path else page
            if not file.exists():
                complaints.append(f"link to `{target}`, which does not exist")
            elif anchor and file.suffix == ".md" and anchor not in anchors_of(file):
                complaints.append(f"link to `{target}`: the page has no such heading")
        for path in CODE_PATH.findall(prose):
            if not any(root.glob(path.rstrip("./"))) and not any(mark in path for mark in "<*…"):
                complaints.append(f"names `{path}`, which does not exist")
        if bin_dir:
            complaints += check_commands(text, pathlib.Path(bin_dir))
        for complaint in complaints:
            print(f"{page.relative_to(root)}: {complaint}")
        bad += len(complaints)
    print(f"{len(pages)} pages, {bad} complaints")
    return bad != 0


arguments = [a for a in sys.argv[1:] if not a.startswith("--bin=")]
bins = [a[len("--bin="):] for a in sys.argv[1:] if a.startswith("--bin=")]
sys.exit(main(arguments[0], bins[0] if bins else None))
