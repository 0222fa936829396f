"""The filter of system calls: a program for the kernel's seccomp (seccomp(2), linux/filter.h, linux/seccomp.h).

The kernel runs it before every call and remembers calls that are always allowed, so that it costs
nanoseconds. It is made once, in the zygote; nobody can take it off again.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from turn_sandbox import kernel, syscalls

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}  # AUDIT_ARCH_*, linux/audit.h
X32 = 0x40000000  # __X32_SYSCALL_BIT, asm/unistd.h

# What a filter answers, linux/seccomp.h.
ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
DENIED, UNKNOWN = ERRNO | errno.EPERM, ERRNO | errno.ENOSYS

# Instructions, linux/bpf_common.h: load a word of struct seccomp_data, compare it, return.
LOAD, EQUAL, AT_LEAST, ANY_BIT, AND, RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
NUMBER_AT, ARCHITECTURE_AT, ARGUMENTS_AT = 0, 4, 16

SECCOMP_SET_MODE_FILTER = 1
CLONE3 = 435  # on both machines

NEW_NAMESPACES = 0x7E020000  # CLONE_NEW* of linux/sched.h but for CLONE_NEWTIME, which clone() doesn't take
CLONE_PTRACE, CLONE_PARENT = 0x00002000, 0x00008000  # linux/sched.h
MAP_SHARED, PROT_WRITE = 0x1, 0x2  # linux/mman.h; MAP_SHARED_VALIDATE has the same bit
O_TRUNC, O_ACCMODE = 0o1000, 0o3  # asm-generic/fcntl.h
FCNTLS = (0, 1, 2, 3, 4, 5, 6, 7, 1030, 1032)
"""F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, the locks, F_DUPFD_CLOEXEC, F_GETPIPE_SZ; not F_SETOWN, F_SETSIG."""

IOCTLS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
"""TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX of asm-generic/ioctls.h; not FIOSETOWN, FIOASYNC."""

PRCTLS = (3, 15, 16, 39, 0x53564D41)
"""PR_GET_DUMPABLE, PR_SET_NAME, PR_GET_NAME, PR_GET_NO_NEW_PRIVS, PR_SET_VMA (libc names its memory by it)."""


@dataclass(frozen=True)
class Instruction:
    """struct sock_filter: on a comparison go on ``then`` or ``otherwise`` instructions further."""

    code: int
    value: int
    then: int = 0
    otherwise: int = 0

    def packed(self) -> bytes:
        """Pack the filter as the kernel reads it."""
        return struct.pack("=HBBI", self.code, self.then, self.otherwise, self.value)


def program(attributes: bool, machine: str = "") -> bytes:
    """The filter.

    Args:
        attributes: whether what Landlock doesn't govern about files may be changed: not where code can name files
            outside.
        machine: ``uname -m``; this one's by default.

    Raises:
        OSError: the numbers of this machine aren't known here.
    """
    machine = machine or platform.machine()
    if machine not in ARCHITECTURES:
        raise OSError(errno.ENOSYS, f"no system call numbers are known for {machine}")
    return b"".join(instruction.packed() for instruction in _program(attributes, machine))


def _program(attributes: bool, machine: str) -> Iterator[Instruction]:
    column = kernel.MACHINES[machine]
    # A call by another architecture's numbers (int 0x80) would pass as another call.
    yield from (Instruction(LOAD, ARCHITECTURE_AT), Instruction(EQUAL, ARCHITECTURES[machine], then=1))
    yield from (Instruction(RETURN, KILL), Instruction(LOAD, NUMBER_AT))
    if machine == "x86_64":
        yield from (Instruction(AT_LEAST, X32, otherwise=1), Instruction(RETURN, DENIED))
    # libc then falls back to clone, whose flags can be read here; clone3's lie behind a pointer.
    yield from (Instruction(EQUAL, CLONE3, otherwise=1), Instruction(RETURN, UNKNOWN))
    groups = (syscalls.FILES, syscalls.MEMORY, syscalls.WAITING, syscalls.TIME, syscalls.SIGNALS)
    allowed = dict(pair for group in (*groups, syscalls.PROCESSES, syscalls.HARNESS) for pair in group.items())
    if attributes:
        allowed |= syscalls.ATTRIBUTES
    for name, numbers in allowed.items():
        number = numbers[column]
        if number is not None:
            body = list(_checked(name, attributes))
            yield Instruction(EQUAL, number, otherwise=len(body))
            yield from body
    yield Instruction(RETURN, DENIED)


def _checked(name: str, attributes: bool) -> Iterator[Instruction]:
    """Assemble the filter of the call ``name``; it always ends in a return. Upper halves of arguments don't count."""
    listed = {"fcntl": (1, FCNTLS), "ioctl": (1, IOCTLS), "prctl": (0, PRCTLS), "prlimit64": (0, (0,))}
    if name in listed:
        argument, values = listed[name]
        yield _load(argument)
        for value in values:
            yield from (Instruction(EQUAL, value, otherwise=1), Instruction(RETURN, ALLOW))
        yield Instruction(RETURN, DENIED)
    elif name == "clone":
        yield _load(0)
        yield Instruction(ANY_BIT, NEW_NAMESPACES | CLONE_PTRACE | CLONE_PARENT, otherwise=1)
        yield from (Instruction(RETURN, DENIED), Instruction(RETURN, ALLOW))
    elif name in ("open", "openat") and not attributes:
        # Opening for reading empties the file all the same if asked to, which Landlock denies only since Linux 6.2.
        yield from (_load(1 if name == "open" else 2), Instruction(AND, O_TRUNC | O_ACCMODE))
        yield from (Instruction(EQUAL, O_TRUNC, otherwise=1), Instruction(RETURN, DENIED), Instruction(RETURN, ALLOW))
    elif name == "mmap":
        # Memory that the head and the turn share would keep what a failed turn wrote.
        yield from (_load(3), Instruction(ANY_BIT, MAP_SHARED, otherwise=3))
        yield from (_load(2), Instruction(ANY_BIT, PROT_WRITE, otherwise=1))
        yield from (Instruction(RETURN, DENIED), Instruction(RETURN, ALLOW))
    else:
        yield Instruction(RETURN, ALLOW)


def _load(argument: int) -> Instruction:
    """The lower half of an argument: both machines are little-endian."""
    return Instruction(LOAD, ARGUMENTS_AT + 8 * argument)


def install(filter_program: bytes) -> None:
    """Put this process and all it will start under the filter. Needs ``no_new_privs``."""
    buffer = ctypes.create_string_buffer(filter_program, len(filter_program))
    # struct sock_fprog: number of instructions, padding, where they are.
    header = struct.pack("@HP", len(filter_program) // 8, ctypes.addressof(buffer))
    kernel.call("seccomp", SECCOMP_SET_MODE_FILTER, 0, header)
