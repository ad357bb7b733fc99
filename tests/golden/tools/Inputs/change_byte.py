#!/usr/bin/env python3
"""Writes FILE with the byte at OFFSET changed: change_byte.py FILE OFFSET."""

import sys

data = bytearray(open(sys.argv[1], "rb").read())
data[int(sys.argv[2])] ^= 0x5A
sys.stdout.buffer.write(data)
