// What the tools allocate with, where mimalloc is installed: it takes the place of malloc, and huge
// pages spare a large module most of its page faults (ir/support/large_memory.h). In each tool and
// in no library, because it is the choice of a program.

#include <mimalloc.h>

namespace {

// Memory that is committed little by little has no huge pages: so each thread takes it as a whole.
void use_huge_pages() {
  mi_option_enable(mi_option_large_os_pages);
  mi_option_set(mi_option_eager_commit_delay, 0);
}

// Before the constructors of libraries, which allocate: what has been taken by then stays as it is.
[[gnu::section(".preinit_array"), gnu::used]] void (*const preinit)() = use_huge_pages;

} // namespace
