# Settings of all lit suites. A test's RUN lines find the built tools, FileCheck and `not` in PATH. `REQUIRES:` may name `onednn`, a CPU
# level that this machine has (`x86-64-v3`, `x86-64-v4`) or `unsanitized`.
import os

import lit.formats

config.name = "stator"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "CMakeLists.txt"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = config.stator_exec_root
config.environment["PATH"] = os.pathsep.join([config.stator_tools_dir, config.llvm_tools_dir, os.environ["PATH"]])
config.environment["FILECHECK_OPTS"] = "-enable-var-scope"
for name in ("HOME", "LANG", "ASAN_OPTIONS", "UBSAN_OPTIONS", "STATOR_CPU_LEVEL", "STATOR_DISABLE_ONEDNN"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
config.substitutions.append(("%source", config.stator_source_dir))
config.substitutions.append(("%tools", config.stator_tools_dir))
config.substitutions.append(("%examples", os.path.join(config.stator_source_dir, "examples")))
config.available_features.update(config.stator_features.split())
flags = set()
if os.path.exists("/proc/cpuinfo"):
    with open("/proc/cpuinfo") as cpuinfo:
        flags = set(next((line for line in cpuinfo if line.startswith("flags")), "").split())
for level, needed in {"x86-64-v2": {"sse4_2", "popcnt"}, "x86-64-v3": {"avx2", "fma", "bmi2", "f16c"},
                      "x86-64-v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}}.items():
    if needed <= flags:
        config.available_features.add(level)
