"""The layers by themselves: the filter's program, the table of system calls, the folders that can be read."""

from __future__ import annotations

import os
import re
import site
import struct
import sys
import sysconfig
from errno import ENOSYS, EPERM
from pathlib import Path

import pytest

from turn_sandbox import kernel, namespaces, seccomp, syscalls
from turn_sandbox.linux import LINUX

GROUPS = ("FILES", "ATTRIBUTES", "MEMORY", "WAITING", "TIME", "SIGNALS", "PROCESSES", "HARNESS")
ALL = {name: numbers for group in GROUPS for name, numbers in getattr(syscalls, group).items()}
MACHINES = ("x86_64", "aarch64")
ALLOW, DENY, UNKNOWN, KILL = seccomp.ALLOW, seccomp.ERRNO | EPERM, seccomp.ERRNO | ENOSYS, seccomp.KILL


def answer(program: bytes, architecture: int, number: int, *arguments: int) -> int:
    """What the kernel would answer: runs the program as Documentation/networking/filter says."""
    data = struct.pack("<iIQ6Q", number, architecture, 0, *(*arguments, *[0] * (6 - len(arguments))))
    word, at = 0, 0
    while True:
        code, then, otherwise, value = struct.unpack_from("=HBBI", program, 8 * at)
        at += 1
        if code == 0x06:
            return value
        if code == 0x54:
            word &= value
            continue
        if code == 0x20:
            word = struct.unpack_from("<I", data, value)[0]
        else:
            holds = {0x15: word == value, 0x35: word >= value, 0x45: bool(word & value)}[code]
            at += then if holds else otherwise


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("read", (0,), ALLOW),
        ("openat", (), ALLOW),
        ("fchmod", (), ALLOW),
        ("clone", (0x01200011,), ALLOW),  # what fork() asks for
        ("clone", (0x3D0F00,), ALLOW),  # what a thread asks for
        ("clone", (0x10000011,), DENY),  # a user namespace
        ("clone", (0x8011,), DENY),  # a sibling of the head
        ("mmap", (0, 4096, 3, 0x22), ALLOW),  # private, writable
        ("mmap", (0, 4096, 1, 0x01), ALLOW),  # shared, for reading
        ("mmap", (0, 4096, 3, 0x21), DENY),  # shared and writable
        ("mmap", (0, 4096, 2, 0x03), DENY),  # MAP_SHARED_VALIDATE
        ("fcntl", (3, 4), ALLOW),
        ("fcntl", (3, 8), DENY),  # F_SETOWN
        ("ioctl", (3, 0x541B), ALLOW),
        ("ioctl", (3, 0x5412), DENY),  # TIOCSTI
        ("prctl", (4, 1), DENY),  # PR_SET_DUMPABLE
        ("prlimit64", (0, 9), ALLOW),
        ("prlimit64", (1, 9), DENY),
    ],
)
def test_the_filter_answers(machine: str, name: str, arguments: tuple[int, ...], expected: int) -> None:
    number = ALL[name][kernel.MACHINES[machine]]
    assert number is not None
    found = answer(seccomp.program(True, machine), seccomp.ARCHITECTURES[machine], number, *arguments)
    assert found == expected


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("openat", (-100, 0, 0o1000), DENY),  # O_RDONLY | O_TRUNC
        ("openat", (-100, 0, 0o1001), ALLOW),  # O_WRONLY | O_TRUNC: Landlock's matter
        ("openat", (-100, 0, 0o2000), ALLOW),
        ("fchmod", (), DENY),
        ("utimensat", (), DENY),
        ("truncate", (), DENY),
        ("ftruncate", (), ALLOW),
    ],
)
def test_without_a_root_of_its_own_less_is_allowed(
    machine: str, name: str, arguments: tuple[int, ...], expected: int
) -> None:
    number = ALL[name][kernel.MACHINES[machine]]
    assert number is not None
    wide = [argument & 0xFFFFFFFFFFFFFFFF for argument in arguments]
    assert answer(seccomp.program(False, machine), seccomp.ARCHITECTURES[machine], number, *wide) == expected


@pytest.mark.parametrize("machine", MACHINES)
def test_what_is_not_listed_is_denied(machine: str) -> None:
    program, architecture = seccomp.program(False, machine), seccomp.ARCHITECTURES[machine]
    allowed = {numbers[kernel.MACHINES[machine]] for name, numbers in ALL.items() if name not in syscalls.ATTRIBUTES}
    for number in range(600):
        if number not in allowed:
            assert answer(program, architecture, number) == (UNKNOWN if number == 435 else DENY), number
    assert answer(program, architecture, 0x40000000 | 39) == DENY
    assert answer(program, 0x40000003, 20) == KILL  # i386's numbers
    assert len(program) // 8 < 4096  # BPF_MAXINSNS


@pytest.mark.parametrize(
    ("header", "column"), [("x86_64-linux-gnu/asm/unistd_64.h", 0), ("asm-generic/unistd.h", 1)], ids=MACHINES
)
def test_numbers_are_the_kernels(header: str, column: int) -> None:
    path = Path("/usr/include", header)
    if not path.exists():
        pytest.skip(f"{path} isn't installed")
    text = re.sub(r"__NR3264_fstatat\b", "__NR_newfstatat", path.read_text())
    official = {name: int(n) for name, n in re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)\s*$", text, re.MULTILINE)}
    for name, numbers in {**ALL, **kernel.NUMBERS}.items():
        if name in official:
            assert numbers[column] == official[name], name
        else:  # arm64 has no such call, or the header is older than the call
            assert numbers[column] is None or numbers[column] >= 449, name


def test_a_machine_without_numbers_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OSError, match="no system call numbers are known for riscv64"):
        seccomp.program(True, "riscv64")
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    with pytest.raises(OSError, match=r"unshare: no such call is known for .* on riscv64"):
        kernel.unshare(0)


@pytest.mark.skipif(not LINUX, reason="only Linux confines")
def test_a_refusal_names_the_call() -> None:
    with pytest.raises(OSError, match=r"\[Errno \d+\] umount2: "):
        kernel.call("umount2", b"/no/such/mount", 0)


def test_what_can_be_read_is_pythons_and_the_systems(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A prefix may hold anything, a home does: neither is readable as a whole, nor is where the kit lies."""
    paths = namespaces.readable()
    for wanted in ("stdlib", "purelib"):
        assert any(os.path.realpath(sysconfig.get_path(wanted)).startswith(os.path.realpath(path)) for path in paths)
    closed = {"/", "/etc", "/home", "/root", "/tmp", "/var", sys.prefix, sys.base_prefix, str(Path.home()), os.getcwd()}
    assert not closed & set(paths)
    assert not any(a != b and a.startswith(b + "/") for a in paths for b in paths)
    monkeypatch.setattr(site, "getusersitepackages", lambda: str(tmp_path))
    assert str(tmp_path) in namespaces.readable()
