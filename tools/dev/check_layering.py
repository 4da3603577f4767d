"""Fails when a folder includes a header of a folder it must not know about.

Arrows point down: serialization knows nobody, the runtime knows no compiler. The table is the rule; docs/architecture.md explains it.
Only direct includes are read; that the runtime links without LLVM is shown by the `runtime-only` preset.
"""
import re
import sys

from source_files import source_files

# A name is a path prefix of what stands in the include. Installed headers are included as "stator/X.h"; PUBLIC says whose they are.
ALLOWED = {
    "serialization/Base": {"serialization/Base"},
    "serialization": {"serialization", "google", "protozero", "minizip"},
    "runtime": {"runtime", "serialization", "protozero", "minizip", "oneapi"},
    "dialects": {"dialects", "serialization/Base", "mlir", "llvm"},
    "passes": {"passes", "dialects", "serialization/Base", "mlir", "llvm"},
    "codegen": {"codegen", "dialects", "serialization", "mlir", "llvm", "lld"},
    "compiler": {"compiler", "codegen", "passes", "dialects", "serialization", "mlir", "llvm", "protozero", "nlohmann", "minizip"},
}
PUBLIC = {"serialization/Base/include": "serialization/Base", "runtime/include": "runtime", "compiler/include": "compiler"}
WATCHED = {"serialization", "runtime", "dialects", "passes", "codegen", "compiler", "tools", "test", "mlir", "mlir-c", "llvm", "llvm-c", "lld",
           "clang", "google", "protozero", "minizip", "nlohmann", "oneapi"}
INCLUDE = re.compile(r'^\s*#?\s*include\s*["<]([^">]+)[">]')


def owner_of(include, public_headers):
    """The folder that an include belongs to, as the table names it; None when nobody has to care."""
    if include in public_headers:
        return public_headers[include]
    return include if include.split("/")[0] in WATCHED and "/" in include else None


def main(root):
    files = source_files(root, {".h", ".cpp", ".td", ".inc"})
    names = {path: path.relative_to(root).as_posix() for path in files}
    public_headers = {name[len(folder) + 1:]: owner for name in names.values() for folder, owner in PUBLIC.items() if name.startswith(folder + "/")}
    bad = 0
    for path, name in names.items():
        folder = max((f for f in ALLOWED if name.startswith(f + "/")), key=len, default=None)
        if folder is None:
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            match = INCLUDE.match(line)
            owner = match and owner_of(match.group(1), public_headers)
            if owner and not any(owner == a or owner.startswith(a + "/") for a in ALLOWED[folder]):
                print(f"{name}:{number}: {folder}/ must not include `{match.group(1)}`")
                bad += 1
    print(f"{len(files)} files, {bad} includes against the layering")
    return bad != 0


sys.exit(main(sys.argv[1]))
