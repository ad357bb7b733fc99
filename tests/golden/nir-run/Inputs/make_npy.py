"""Writes a .npy file: make_npy.py FILE DESCR SHAPE STRUCT_FORMAT NUMBER... [--fortran]."""

import struct
import sys

path, descr, shape, form, *numbers = sys.argv[1:]
fortran = "--fortran" in numbers
values = [float(n) if form in "efd" else int(n) for n in numbers if n != "--fortran"]
header = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n".encode()
with open(path, "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
    file.write(struct.pack(f"<{len(values)}{form}", *values))
