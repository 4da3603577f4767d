# Settings of all lit suites. A test's RUN lines find the built tools, FileCheck and `not` in PATH.
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
config.substitutions.append(("%examples", os.path.join(config.stator_source_dir, "examples")))
config.available_features.update(config.stator_features.split())
