"""Writes a large or a strange text: make_module.py SHAPE N."""

import sys


def loops(n):
    """n loops, one in the other."""
    yield "func @f {\n"
    for i in range(n):
        yield f"for %i{i} in 0..1 {{\n"
    yield 'opaque "k"()\n'
    for _ in range(n):
        yield "}\n"
    yield "}\n"


def work_in_loops(n):
    """n loops, one in the other, with casts, accesses and writes at every depth."""
    yield "func @f {\n  tensor $x : float32[8, 4] sbuf\n  tensor $t : bfloat16[8, 4] sbuf\n"
    yield "  tensor $o : float32[8, 4] dram output\n  tensor $u : float32[8, 4] sbuf const = splat(2.0)\n"
    for i in range(n):
        yield f"for %i{i} in 0..2 {{\n"
        yield f"  %a{i} = activation exp $x : bfloat16[8, 4]\n"
        yield f"  %b{i} = tensor_copy %a{i} : float32[8, 4]\n"
        yield f"  activation exp $x[%i{i} * 2 : 2, 0 : 4] -> $t[%i{i} * 2 : 2, 0 : 4]\n"
        yield f"  %c{i} = tensor_copy $t : float32[8, 4]\n"
        yield f"  %d{i} = tensor_tensor add %c{i}, %a{i} : float32[8, 4]\n"
        yield f"  %e{i} = tensor_tensor multiply %d{i}, $u : float32[8, 4]\n"
        yield f"  tensor_tensor add %b{i}, %e{i} -> $x\n"
        yield f"  %dead{i} = activation exp %b{i} : float32[8, 4]\n"
    yield "}\n" * n
    yield "  store $x -> $o\n}\n"


def chain(n):
    """n casts in a row, to and fro."""
    yield "func @f {\n  tensor $x : float32[8, 4] sbuf input\n  tensor $y : float32[8, 4] dram output\n"
    yield "  %v0 = activation exp $x : float32[8, 4]\n"
    for i in range(n):
        dtype = "float32" if i % 2 else "bfloat16"
        yield f"  %v{i + 1} = tensor_copy %v{i} : {dtype}[8, 4]\n"
    yield f"  store %v{n} -> $y\n}}\n"


def memcasts(n):
    """n DMA casts in a row, to and fro."""
    yield "func @f {\n  tensor $y : float32[8, 4] dram output\n"
    for i in range(n):
        yield f"  tensor $t{i} : {'float32' if i % 2 else 'bfloat16'}[8, 4] dram\n"
    yield "  %a = iota : float32[8, 4]\n  store %a -> $t0\n"
    for i in range(n - 1):
        yield f"  offloaded_memcast $t{i} -> $t{i + 1}\n"
    yield f"  %l = load $t{n - 1} : float32[8, 4]\n  store %l -> $y\n}}\n"


def dead_chain(n):
    """n values in a row that nobody needs, and as many tensors."""
    yield "func @f {\n"
    for i in range(n):
        yield f"  tensor $t{i} : float32[4] sbuf\n"
    yield "  %v0 = iota : float32[4]\n"
    for i in range(n):
        yield f"  %v{i + 1} = activation exp %v{i} : float32[4]\n"
    yield f"  tensor_copy %v{n} -> $t0\n"
    for i in range(n - 1):
        yield f"  tensor_copy $t{i} -> $t{i + 1}\n"
    yield "}\n"


def calls(n):
    """n functions, each of which calls the next."""
    for i in range(n):
        yield f"func @f{i} {{\n  call @f{i + 1}()\n}}\n\n"
    yield f"func @f{n} {{\n}}\n"


def recursion(n):
    """n functions in a ring."""
    for i in range(n):
        yield f"func @f{i} {{\n  call @f{(i + 1) % n}()\n}}\n"


def users(n):
    """One value with n users, casts all of them."""
    yield "func @f {\n  tensor $x : float32[8, 4] sbuf input\n  tensor $y : float32[8, 4] dram output\n"
    yield "  %a = activation exp $x : bfloat16[8, 4]\n"
    for i in range(n):
        yield f"  %c{i} = tensor_copy %a : float32[8, 4]\n  store %c{i} -> $y\n"
    yield "}\n"


def operands(n):
    yield 'func @f {\n  tensor $t : float32[4] sbuf\n  %a = iota : float32[4]\n  opaque "k"('
    yield ", ".join(["%a", "$t", "$t[0 : 2]"] * (n // 3))
    yield ")\n}\n"


def attributes(n):
    yield 'func @f {\n  opaque "k"() {'
    yield ", ".join(f"a{i} = {i}" for i in range(n))
    yield "}\n}\n"


def lists(n):
    yield 'func @f {\n  opaque "k"() {k = ' + "[" * n + "]" * n + "}\n}\n"


def open_lists(n):
    yield 'func @f {\n  opaque "k"() {k = ' + "[" * n


def open_subscripts(n):
    yield 'func @f {\n  opaque "k"($x' + "[" * n


def open_braces(n):
    yield "func @f " + "{" * n


def open_parentheses(n):
    yield 'func @f {\n  opaque "k"' + "(" * n


def rank(n):
    yield "func @f {\n  tensor $x : float32[" + ", ".join(["1"] * n) + "] sbuf\n}\n"


def long_line(n):
    yield "func @f {" + " " * n + "frobnicate }\n"


def long_word(n):
    yield "func @f {\n  " + "x" * n + "\n}\n"


def long_name(n):
    yield "func @" + "x" * n + " {\n}\n"


def long_string(n):
    yield 'func @f {\n  opaque "' + "x" * n + "\n}\n"


def long_number(n):
    yield "func @f {\n  tensor $x : float32[" + "1" * n + "] sbuf\n}\n"


def long_fraction(n):
    """Just above a tie of bfloat16, which the last digit decides."""
    yield "func @f {\n  %a = memset 1.00390625" + "0" * n + "1 : bfloat16[1]\n}\n"


def errors(n):
    yield "func @f {\n" + "  frobnicate\n" * n + "}\n"


def undefined_values(n):
    yield "func @f {\n"
    for i in range(n):
        yield f"  %a{i} = tensor_copy %b{i} : float32[4]\n"
    yield "}\n"


if __name__ == "__main__":
    sys.stdout.writelines(globals()[sys.argv[1]](int(sys.argv[2])))
