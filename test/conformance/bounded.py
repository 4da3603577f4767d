"""Runs a command with limits: bounded.py SECONDS MEGABYTES COMMAND...

The limits are wide; they catch hangs and memory bombs, not slowness. The command's exit code is passed on; a signal or a time-out gives
a message and 99, which no tool uses.
"""
import resource
import subprocess
import sys

seconds, megabytes, command = float(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
limit = megabytes << 20
try:
    code = subprocess.run(command, timeout=seconds, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))).returncode
except subprocess.TimeoutExpired:
    code = -1
    print(f"{command[0]}: no end after {seconds} s")
if code < 0:
    print(f"{command[0]}: ended by signal {-code}")
sys.exit(99 if code < 0 else code)
