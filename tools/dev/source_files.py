"""Which files the lints look at: everything that git tracks or would track, so that build folders are never read."""
import pathlib
import subprocess


def source_files(root, suffixes):
    """Returns the paths below `root` with one of `suffixes`, sorted."""
    root = pathlib.Path(root)
    try:
        listing = subprocess.run(["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                                 check=True, capture_output=True).stdout.decode().split("\0")
        paths = [root / name for name in listing if name]
    except (OSError, subprocess.CalledProcessError):  # an exported tree without git
        paths = [path for path in root.rglob("*") if not any(part.startswith(("build", ".git")) for part in path.relative_to(root).parts)]
    return sorted(path for path in paths if path.suffix in suffixes and path.is_file())
