"""System calls that code of a turn may use, by name with their numbers on x86-64 and on arm64.

An allowlist: a call that isn't here is denied, also one that a later kernel brings. The numbers are
the kernel's: ``asm/unistd_64.h`` for x86-64, ``asm-generic/unistd.h`` for arm64 (``-``: it has no such call).
"""

from __future__ import annotations

Numbers = dict[str, tuple[int | None, int | None]]


def _table(text: str) -> Numbers:
    rows = (item.split() for item in text.replace("\n", ",").split(",") if item.strip())
    return {name: tuple(None if n == "-" else int(n) for n in numbers) for name, *numbers in rows}  # type: ignore[misc]


FILES = _table(
    """
    read 0 63, write 1 64, readv 19 65, writev 20 66, pread64 17 67, pwrite64 18 68, preadv 295 69
    pwritev 296 70, preadv2 327 286, pwritev2 328 287, open 2 -, openat 257 56, creat 85 -
    close 3 57, close_range 436 436, stat 4 -, fstat 5 80, lstat 6 -, newfstatat 262 79, statx 332 291
    access 21 -, faccessat 269 48, faccessat2 439 439, lseek 8 62, fcntl 72 25, fsync 74 82
    fdatasync 75 83, ftruncate 77 46, fallocate 285 47, fadvise64 221 223, getdents 78 -
    getdents64 217 61, getcwd 79 17, chdir 80 49, fchdir 81 50, rename 82 -, renameat 264 38, renameat2 316 276
    mkdir 83 -, mkdirat 258 34, rmdir 84 -, link 86 -, linkat 265 37, unlink 87 -, unlinkat 263 35, symlink 88 -
    symlinkat 266 36, readlink 89 -, readlinkat 267 78, umask 95 166, dup 32 23, dup2 33 -, dup3 292 24
    pipe 22 -, pipe2 293 59, sendfile 40 71, copy_file_range 326 285, statfs 137 43, fstatfs 138 44
    getxattr 191 8, lgetxattr 192 9, fgetxattr 193 10, listxattr 194 11, llistxattr 195 12, flistxattr 196 13
    ioctl 16 29
    """
)
"""Contents and names of files: where they may be is Landlock's and the mounts' matter."""

ATTRIBUTES = _table(
    """
    chmod 90 -, fchmod 91 52, fchmodat 268 53, fchmodat2 452 452, utime 132 -, utimes 235 -, futimesat 261 -
    utimensat 280 88, truncate 76 45
    """
)
"""Modes, times and sizes of files by name. Landlock doesn't govern them (sizes: only since Linux 6.2), so without a
root of its own code must not have them."""

MEMORY = _table(
    """
    brk 12 214, mmap 9 222, munmap 11 215, mprotect 10 226, mremap 25 216, madvise 28 233, msync 26 227
    mincore 27 232
    """
)
"""Memory; ``mmap`` with an argument checked."""

WAITING = _table(
    """
    poll 7 -, ppoll 271 73, select 23 -, pselect6 270 72, epoll_create 213 -, epoll_create1 291 20
    epoll_ctl 233 21, epoll_wait 232 -, epoll_pwait 281 22, epoll_pwait2 441 441, futex 202 98
    futex_waitv 449 449, nanosleep 35 101, clock_nanosleep 230 115, pause 34 -, restart_syscall 219 128
    sched_yield 24 124
    """
)
"""Waiting and locks inside the process."""

TIME = _table(
    """
    clock_gettime 228 113, clock_getres 229 114, gettimeofday 96 169, time 201 -, times 100 153
    getitimer 36 102, setitimer 38 103, alarm 37 -
    """
)
"""Clocks and the process's own timers."""

SIGNALS = _table(
    """
    rt_sigaction 13 134, rt_sigprocmask 14 135, rt_sigreturn 15 139, rt_sigpending 127 136
    rt_sigtimedwait 128 137, rt_sigsuspend 130 133, sigaltstack 131 132
    """
)
"""Receiving signals. Sending any is denied, to itself too."""

PROCESSES = _table(
    """
    fork 57 -, vfork 58 -, clone 56 220, wait4 61 260, waitid 247 95, exit 60 93, exit_group 231 94
    set_tid_address 218 96, set_robust_list 273 99, rseq 334 293, membarrier 324 283, arch_prctl 158 -
    prctl 157 167, setpgid 109 154, getpid 39 172, getppid 110 173, gettid 186 178, getpgrp 111 -
    getpgid 121 155, getsid 124 156, getuid 102 174, geteuid 107 175, getgid 104 176, getegid 108 177
    getresuid 118 148, getresgid 120 150, getgroups 115 158, getpriority 140 141, sched_getaffinity 204 123
    sched_getparam 143 121, sched_getscheduler 145 120, sched_get_priority_max 146 125
    sched_get_priority_min 147 126, getcpu 309 168, getrusage 98 165, getrlimit 97 163, setrlimit 160 164
    prlimit64 302 261, uname 63 160, sysinfo 99 179, getrandom 318 278
    """
)
"""Forking, ending, asking about itself; ``clone``, ``prctl`` and ``prlimit64`` with arguments checked."""

HARNESS = _table(
    """
    recvmsg 47 212, recvfrom 45 207, sendto 44 206, getsockopt 55 209, getsockname 51 204
    """
)
"""What the head needs of the sockets it was given: it can make no others."""
