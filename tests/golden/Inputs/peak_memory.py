"""Runs a command and fails where its peak memory passes a limit: peak_memory.py MIB COMMAND..."""

import resource
import subprocess
import sys

status = subprocess.call(sys.argv[2:])
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
if peak > int(sys.argv[1]):
    sys.exit(f"{sys.argv[2]}: peak memory is {peak} MiB, expected at most {sys.argv[1]}")
sys.exit(status)
