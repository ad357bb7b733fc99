#!/usr/bin/env python3
"""Runs a command on a terminal of its own and shows what it printed there, and its status."""

import os
import pty
import sys

shown = bytearray()
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
try:
    while data := os.read(fd, 1024):
        shown.extend(data)
except OSError:  # the other end is closed
    pass
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
print(shown.decode(errors="replace").replace("\r\n", "\n"), end="")
print("status", status)
