// What the tools allocate with, where mimalloc is installed: it takes the place of malloc, and huge
// pages spare a large module most of its page faults (ir/large_memory.h). In each tool and in no
// library, because it is the choice of a program.

#include <mimalloc.h>

namespace {

void use_huge_pages() { mi_option_enable(mi_option_large_os_pages); }

// Before the constructors of libraries, which allocate: what has been taken by then stays as it is.
[[gnu::section(".preinit_array"), gnu::used]] void (*const preinit)() = use_huge_pages;

} // namespace
