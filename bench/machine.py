"""What measuring on a shared, virtual machine needs."""

import mmap
import os


def touch_memory(size):
    """A virtual machine gives memory that is free for a while back to its host, and whoever touches it
    next pays for getting it: so no tool is the first to touch `size` bytes. In a process of its own,
    whose peak memory no tool inherits."""
    if (process := os.fork()) == 0:
        memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        memory.madvise(mmap.MADV_HUGEPAGE)  # those that are still whole, or they stay untouched
        for page in range(0, size, mmap.PAGESIZE):
            memory[page] = 1
        os._exit(0)
    os.waitpid(process, 0)
