"""Landlock: which files a process and its children may open, for good (landlock(7), linux/landlock.h).

It holds without any privilege and cannot be lifted. It doesn't govern ``stat``, ``chmod``, ``utime`` or UDP:
the system call filter and the namespaces do.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable

from turn_sandbox import kernel

CREATE_RULESET_VERSION = 1
RULE_PATH_BENEATH = 1

# Rights of LANDLOCK_ACCESS_FS_*, by bit.
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, REMOVE_DIR, REMOVE_FILE = (1 << bit for bit in range(6))
MAKE_CHAR, MAKE_DIR, MAKE_REG, MAKE_SOCK, MAKE_FIFO, MAKE_BLOCK, MAKE_SYM = (1 << bit for bit in range(6, 13))
FIRST = (1 << 13) - 1
"""All rights of the first version."""

REFER, TRUNCATE, IOCTL_DEV = (1 << bit for bit in range(13, 16))
SINCE = {2: REFER, 3: TRUNCATE, 5: IOCTL_DEV}
"""Rights that came after the first version, by the version that brought them."""

NET_SINCE, NET_TCP = 4, 0b11  # LANDLOCK_ACCESS_NET_BIND_TCP, LANDLOCK_ACCESS_NET_CONNECT_TCP
SCOPE_SINCE, SCOPES = 6, 0b11  # LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET, LANDLOCK_SCOPE_SIGNAL

LOOK = READ_FILE | READ_DIR
OWN = LOOK | WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | MAKE_SYM | MAKE_FIFO | REFER | TRUNCATE
FILE_RIGHTS = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
"""Rights that mean something for a file; the kernel refuses others in a rule about one."""


def version() -> int:
    """Version of the kernel's Landlock.

    Raises:
        OSError: it has none, or none that is switched on.
    """
    return kernel.call("landlock_create_ruleset", None, 0, CREATE_RULESET_VERSION)


def restrict(readable: Iterable[str], own: Iterable[str], versions: int) -> None:
    """From now on open only what is below ``readable``, and change only what is below ``own``.

    No other rights are left, so no program can be started, no TCP port used, no process outside signalled, as far
    as ``versions`` of the kernel's Landlock knows. Needs ``no_new_privs``.

    Args:
        readable: folders and files that may be read.
        own: folders that may be changed.
        versions: version of the kernel's Landlock.
    """
    handled = FIRST
    for since, right in SINCE.items():
        handled |= right if versions >= since else 0
    net = NET_TCP if versions >= NET_SINCE else 0
    scopes = SCOPES if versions >= SCOPE_SINCE else 0
    # struct landlock_ruleset_attr; an older kernel wants it shorter.
    attr = struct.pack("=3Q", handled, net, scopes)[: 24 if scopes else 16 if net else 8]
    rules = kernel.call("landlock_create_ruleset", attr, len(attr), 0)
    try:
        for paths, rights in ((readable, LOOK), (own, OWN)):
            for path in paths:
                _allow(rules, path, rights & handled)
        kernel.call("landlock_restrict_self", rules, 0)
    finally:
        os.close(rules)


def _allow(rules: int, path: str, rights: int) -> None:
    fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        rights &= rights if os.path.isdir(path) else FILE_RIGHTS
        # struct landlock_path_beneath_attr, packed
        kernel.call("landlock_add_rule", rules, RULE_PATH_BENEATH, struct.pack("=Qi", rights, fd), 0)
    finally:
        os.close(fd)
