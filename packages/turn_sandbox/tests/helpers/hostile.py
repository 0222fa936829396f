"""What hostile code tries, and how it must end: cases 1 to 48 that need one episode and one or two turns.

Code that tries several things at once collects what it got away with in ``leaks``, which must stay empty.
"""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass

from turn_sandbox import Limits
from turn_sandbox.probes import FORGERY, LOOP

SHORT = Limits(seconds=0.4, memory_mb=128, processes=6, file_mb=8, disk_mb=24, images=3, image_px=300)
QUICK = Limits(seconds=20.0, memory_mb=128, processes=6, file_mb=8, disk_mb=24, images=3, image_px=300)

TRY = """
import ctypes, os
leaks = []
def tries(name, deed, *arguments):
    try:
        deed(*arguments)
    except OSError:
        return
    leaks.append(name)
_libc = ctypes.CDLL(None, use_errno=True)
def call(name, *arguments):
    number = CALLS[name]
    wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    if number is not None and _libc.syscall(ctypes.c_long(number), *wide) != -1:
        leaks.append(name)
    elif number is not None and ctypes.get_errno() not in (1, 13, 38):  # EPERM, EACCES, ENOSYS
        leaks.append(f'{name}: {os.strerror(ctypes.get_errno())}')
"""

NUMBERS = {  # asm/unistd_64.h, asm-generic/unistd.h
    "tgkill": (234, 131), "tkill": (200, 130), "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240),
    "pidfd_open": (434, 434), "pidfd_send_signal": (424, 424), "pidfd_getfd": (438, 438), "prlimit64": (302, 261),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "prctl": (157, 167), "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39),
    "chroot": (161, 51), "pivot_root": (155, 41), "clone": (56, 220), "clone3": (435, 435), "mknodat": (259, 33),
    "setuid": (105, 146), "setgid": (106, 144), "setresuid": (117, 147), "setgroups": (116, 159),
    "capset": (126, 91), "fsopen": (430, 430), "open_tree": (428, 428), "move_mount": (429, 429),
    "io_uring_setup": (425, 425), "bpf": (321, 280), "userfaultfd": (323, 282), "add_key": (248, 217),
    "keyctl": (250, 219), "perf_event_open": (298, 241), "init_module": (175, 105), "kexec_load": (246, 104),
    "open_by_handle_at": (304, 265), "personality": (135, 92), "acct": (163, 89), "reboot": (169, 142),
    "sethostname": (170, 161), "syslog": (103, 116), "seccomp": (317, 277), "memfd_create": (319, 279),
    "shmget": (29, 194), "msgget": (68, 186), "semget": (64, 190), "mq_open": (240, 180),
    "memfd_secret": (447, 447), "socket": (41, 198), "socketpair": (53, 199), "inotify_init1": (294, 26),
    "fanotify_init": (300, 262), "vmsplice": (278, 75), "io_setup": (206, 0), "execve": (59, 221),
    "execveat": (322, 281), "setpriority": (141, 140), "sched_setscheduler": (144, 119), "fsetxattr": (190, 7),
}  # fmt: skip
"""Calls a turn must not get through."""

MACHINE = {"x86_64": 0, "aarch64": 1}.get(platform.machine(), 0)
CALLS = f"CALLS = { {name: numbers[MACHINE] for name, numbers in NUMBERS.items()} }\n" + TRY


@dataclass(frozen=True)
class Case:
    """One attempt.

    Attributes:
        number: in the suite.
        name: what it tries.
        code: of the turn.
        status: how the turn may end.
        error: part of the error line.
        out: the turn's stdout, if that matters.
        warning: part of a warning.
        then: code of the next turn and its stdout; empty: the state must be as at the start.
        limits: of the episode.
        unmet: the guarantee that is reported missing, by the tier that can't meet this case.
        leaks: whether the turn must end ok with nothing in ``leaks``.
    """

    number: int
    name: str
    code: str
    status: Sequence[str] = ("error",)
    error: str = ""
    out: str | None = None
    warning: str = ""
    then: tuple[str, str] = ("", "")
    limits: Limits = QUICK
    unmet: tuple[str, str] = ("", "")
    leaks: bool = False


def leaky(number: int, name: str, code: str, **more: object) -> Case:
    """A case whose attempts must all fail."""
    return Case(number, name, CALLS + code, ("ok",), leaks=True, then=("print(leaks)", "[]\n"), **more)  # type: ignore[arg-type]


TIMEOUT = ("timeout",)
SPAWN = "import os, time\nfor _ in range({n}):\n    if os.fork() == 0:\n        {deed}\n        time.sleep(30)\n"
FORKS = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"
BEAT = "import time\nwhile True:\n    with open('beat', 'a') as file: file.write('.')\n    time.sleep(0.005)\n"
INDENTED = BEAT.replace("\n", "\n    ")
STILL = "import os, time\na = os.path.getsize('beat') if os.path.exists('beat') else 0\ntime.sleep(0.1)\n"
STILL += "print((os.path.getsize('beat') if os.path.exists('beat') else 0) - a)"

CASES = [
    Case(1, "endless loop under a bare except", LOOP, TIMEOUT, limits=SHORT),
    Case(
        2,
        "signals ignored",
        "import signal\nfor n in range(1, 32):\n    if n not in (9, 19): signal.signal(n, signal.SIG_IGN)\n" + LOOP,
        TIMEOUT,
        limits=SHORT,
    ),
    Case(3, "a regex hanging in C", "import re\nre.match('(a+)+$', 'a' * 60 + 'b')", TIMEOUT, limits=SHORT),
    Case(4, "endless recursion", "def deep(): deep()\ndeep()", ("error", "died")),
    Case(4, "endless recursion in C", "x = []\nfor _ in range(10**6): x = [x]\nprint(repr(x))", ("error", "died")),
    Case(5, "os._exit(0)", "os._exit(0)", ("died",), "exit code 0"),
    Case(6, "sys.exit(0)", "import sys\nstate.append('X')\nsys.exit(0)", ("ok",), then=("print(state[2])", "X\n")),
    Case(6, "sys.exit(1)", "sys.exit(1)", error="SystemExit: 1"),
    Case(7, "segfault", "import ctypes\nctypes.string_at(0)", ("died",), "SIGSEGV"),
    Case(7, "abort", "os.abort()", ("died",), "was ended by SIG"),
    Case(8, "input()", "input()", error="EOFError"),
    Case(9, "builtins deleted", "import builtins\nbuiltins.__dict__.clear()", ("ok",), then=("state", "")),
    Case(
        10,
        "PIL, os, struct patched",
        "import json, struct, time\nfrom PIL import Image\nred = Image.new('RGB', (2, 2), 'red')\n"
        "Image.Image.tobytes = os.write = os._exit = os.fork = time.sleep = None\n"
        "json.dumps = json.loads = struct.pack = None\n",
        ("ok",),
        then=("print(red.size)", "(2, 2)\n"),
    ),
    Case(11, "raw writes", "os.write(1, b'one'); os.write(2, b'two')", ("ok",), out="one", then=("pass", "")),
    Case(12, "endless stdout", "while True: print('x' * 1000)", TIMEOUT, warning="stdout cut to", limits=SHORT),
    Case(
        13,
        "surrogates, NUL, ANSI",
        r"print('\ud800\x00\x1b[2J', flush=True); os.write(1, b'\xff')",
        ("ok",),
        out="\\ud800\\x00\\x1b[2J\n\ufffd",
        then=("pass", ""),
    ),
    Case(14, "all descriptors closed", "os.closerange(0, 256)", ("died",)),
    Case(15, "a forged ok while looping", FORGERY, TIMEOUT, limits=SHORT),
    Case(
        17,
        "flood of pictures",
        "from PIL import Image\nred = Image.new('RGB', (9, 9))\nfor i in range(5000): globals()[f'p{i}'] = red.copy()",
        ("ok",),
        warning="pictures left out",
        then=("print(p4999.size)", "(9, 9)\n"),
    ),
    Case(18, "60000² picture", "from PIL import Image\nImage.new('RGB', (60000, 60000))", error="MemoryError"),
    Case(19, "50 GB at once", "bytearray(50 << 30)", error="MemoryError"),
    Case(20, "64 MB steps", "parts = []\nwhile True: parts.append(bytearray(64 << 20))", error="MemoryError"),
    Case(
        21,
        "many processes times memory",
        SPAWN.format(n=4, deed="data = bytearray(100 << 20)") + "time.sleep(30)",
        ("limit",),
        "MB in 5 processes",
    ),
    leaky(
        22,
        "memory shared past the turn",
        "call('memfd_create', b'x', 0)\ncall('memfd_secret', 0)\ncall('shmget', 0, 4096, 0o1600)\n"
        "call('mq_open', b'x', 66, 0o600, 0)\n"
        "import mmap\ntries('shared', mmap.mmap, -1, 4096)\n"
        "tries('/dev/shm', open, '/dev/shm/kit', 'w')\n",
    ),
    Case(
        23,
        "disk filled",
        "from errno import ENOSPC\ntry:\n    for i in range(9): open(f'part{i}', 'wb').write(bytes(6 << 20))\n"
        "except OSError as error:\n    print(error.errno == ENOSPC)\n    raise",
        out="True\n",
        error="No space left",
        unmet=("partial", "disk"),
    ),
    Case(
        24,
        "inode bomb",
        "from errno import ENOSPC\ntry:\n    for i in range(20_000): open(f'f{i}', 'w').close()\n"
        "except OSError as error:\n    print(error.errno == ENOSPC)\n    raise",
        out="True\n",
        error="No space left",
        unmet=("partial", "disk"),
    ),
    Case(
        24,
        "deep folders",
        # Deeper than a path may be long; not all in one line, as the kernel climbs it to the top at every step.
        "top = os.getcwd()\nfor i in range(20_000): os.mkdir(f'd{i}'), os.chdir(top if i % 3000 == 2999 else f'd{i}')",
        error="No space left",
        unmet=("partial", "disk"),
    ),
    Case(25, "fork bomb", FORKS, ("limit", "timeout"), limits=SHORT),
    Case(
        26,
        "thread bomb",
        "import threading as t, time\nfor _ in range(9): t.Thread(target=time.sleep, args=(30,)).start()\n"
        "time.sleep(30)",
        ("limit",),
        "6 are allowed",
    ),
    Case(
        27,
        "double-forked daemon",
        f"if os.fork() == 0:\n    if os.fork(): os._exit(0)\n    {INDENTED}\nimport time\ntime.sleep(0.1)",
        ("ok",),
        warning="outlived the turn",
        then=(STILL, "0\n"),
    ),
    Case(
        28,
        "a thread that outlives the turn",
        f"def beat():\n    {INDENTED}\nimport threading, time\nthreading.Thread(target=beat).start()\ntime.sleep(0.05)",
        ("ok",),
        warning="threads outlived the turn",
        then=(STILL, "0\n"),
    ),
    leaky(
        29,
        "programs",
        "import subprocess, sys\ntries('run', subprocess.run, [sys.executable, '-c', ''])\n"
        "tries('execv', os.execv, '/usr/bin/env', ['env'])\ntries('spawn', os.posix_spawn, sys.executable, ['x'], {})\n"
        "if os.system('true') == 0: leaks.append('system')\n"
        "call('execve', b'/usr/bin/env', 0, 0)\ncall('execveat', -100, b'/usr/bin/env', 0, 0, 0)\n",
    ),
    leaky(30, "kill", "for pid in (-1, os.getppid(), 1, 0): tries(f'kill {pid}', os.kill, pid, 0 if pid else 9)"),
    leaky(
        31,
        "other ways to signal",
        "import fcntl, resource\npid = os.getppid()\ncall('tgkill', pid, pid, 9)\ncall('tkill', pid, 9)\n"
        "call('rt_sigqueueinfo', pid, 9, bytes(128))\ncall('rt_tgsigqueueinfo', pid, pid, 9, bytes(128))\n"
        "call('pidfd_open', pid, 0)\ncall('pidfd_send_signal', 0, 9, None, 0)\ncall('pidfd_getfd', 0, 0, 0)\n"
        "call('prlimit64', pid, 7, bytes(16), None)\n"
        "reader, writer = os.pipe()\ntries('F_SETOWN', fcntl.fcntl, reader, fcntl.F_SETOWN, pid)\n"
        "tries('F_SETSIG', fcntl.fcntl, reader, 10, 9)\ntries('FIOASYNC', fcntl.ioctl, reader, 0x5452, bytes(4))\n"
        "os.close(reader); os.close(writer)\ncall('setpriority', 0, pid, 19)\n"
        "call('sched_setscheduler', pid, 0, bytes(8))\n",
    ),
    leaky(
        32,
        "other processes' memory",
        "pid = os.getppid()\ncall('ptrace', 16, pid, 0, 0)\ncall('process_vm_readv', pid, 0, 0, 0, 0, 0)\n"
        "call('process_vm_writev', pid, 0, 0, 0, 0, 0)\ncall('kcmp', pid, pid, 0, 0, 0)\n"
        "for who in (pid, 1, 'self'):\n    for what in ('mem', 'environ', 'maps', 'cmdline'):\n"
        "        tries(f'{who} {what}', open, f'/proc/{who}/{what}', 'rb')\n",
    ),
    leaky(33, "dumpable again", "call('prctl', 4, 1, 0, 0, 0)\ncall('prctl', 0x59616d61, -1, 0, 0, 0)\n"),
    leaky(
        34,
        "sockets",
        "import socket\nfor family in range(46):\n    for kind in (1, 2, 3, 5):\n"
        "        call('socket', family, kind, 0)\n        call('socketpair', family, kind, 0, bytes(8))\n"
        "tries('dns', socket.getaddrinfo, 'example.com', 80)\n",
    ),
    leaky(
        35,
        "host files, home, environment",
        "for path in (_outside, '/etc/passwd', '/etc/shadow', '/etc/hostname', '/dev/mem', '/dev/vda', '/dev/tty'):\n"
        "    tries(path, open, path, 'rb')\n"
        "for path in (_home, os.path.dirname(_outside), '/', '/root', '/home', '/var', '/sys', '/proc', '..'):\n"
        "    tries(path, os.listdir, path)\n"
        "leaks += set(os.environ) & set(_names)\n",
    ),
    Case(
        35,
        "names and sizes of the host's files",
        "os.stat(_outside)",
        error="FileNotFoundError",
        unmet=("partial", "metadata"),
    ),
    leaky(
        36,
        "ways out of the directory",
        "os.symlink(_outside, 'soft')\ntries('symlink', open, 'soft')\ntries('hard link', os.link, _outside, 'hard')\n"
        "tries('dots', open, '../' * 40 + _outside)\ntries('root', open, '/proc/1/root' + _outside)\n"
        "tries('cwd', os.chdir, '/proc/1/cwd')\ntries('rename', os.rename, _outside, 'mine')\nos.unlink('soft')\n",
    ),
    leaky(
        37,
        "writes and chmod outside",
        "above = os.path.dirname(os.getcwd())\nfor path in (_outside, os.__file__, '/dev/zero'):\n"
        "    tries(f'open {path}', open, path, 'ab') if 'dev' not in path else None\n"
        "    tries(f'empty {path}', os.open, path, os.O_TRUNC) if 'dev' not in path else None\n"
        "    tries(f'chmod {path}', os.chmod, path, 0o777)\n    tries(f'utime {path}', os.utime, path)\n"
        "    tries(f'unlink {path}', os.unlink, path)\n    tries(f'truncate {path}', os.truncate, path, 0)\n"
        "    tries(f'chown {path}', os.chown, path, os.getuid(), os.getgid())\n"
        "    tries(f'xattr {path}', os.setxattr, path, 'user.x', b'x')\n"
        "for folder in ('/', '/tmp', '/usr', above, os.path.dirname(os.__file__)):\n"
        "    tries(f'mkdir {folder}', os.mkdir, os.path.join(folder, 'kit-made'))\n"
        "    tries(f'file {folder}', open, os.path.join(folder, 'kit-made'), 'w')\n",
    ),
    leaky(
        38,
        "namespaces, mounts, other users",
        "for flag in (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000):\n"
        "    call('unshare', flag)\n    call('clone', flag | 17, 0, 0, 0, 0)\n"
        "call('clone3', bytes(88), 88)\ncall('setns', 0, 0)\ncall('mount', b'x', b'/', b'tmpfs', 0, 0)\n"
        "call('umount2', b'/', 2)\ncall('chroot', b'.')\ncall('pivot_root', b'.', b'.')\n"
        "call('mknodat', -100, b'disk', 0o60600, 0x0801)\ncall('setuid', 0)\ncall('setgid', 0)\n"
        "call('setresuid', 0, 0, 0)\ncall('setgroups', 0, 0)\ncall('capset', bytes(8), bytes(24))\n"
        "call('fsopen', b'tmpfs', 0)\ncall('open_tree', -100, b'/', 1)\ncall('move_mount', 0, 0, 0, 0, 0)\n"
        "call('open_by_handle_at', -100, 0, 0)\n",
    ),
    leaky(
        39,
        "rare calls",
        "for name in ('io_uring_setup', 'bpf', 'userfaultfd', 'add_key', 'keyctl', 'perf_event_open', 'init_module',\n"
        "             'kexec_load', 'personality', 'acct', 'reboot', 'sethostname', 'syslog', 'seccomp', 'msgget',\n"
        "             'semget', 'inotify_init1', 'fanotify_init', 'vmsplice', 'io_setup', 'fsetxattr'):\n"
        "    call(name, 0, 0, 0, 0, 0, 0)\n"
        "CALLS['x32'] = 0x40000000 | 39 if os.uname().machine == 'x86_64' else None\ncall('x32')\n"
        "CALLS['future'] = 1000\ncall('future')\n",
    ),
    Case(
        40,
        "calls by another architecture's numbers",
        "import ctypes, mmap\npage = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, 7)\n"
        "page.write(bytes.fromhex('b814000000cd80c3'))  # mov eax, 20; int 0x80; ret\n"
        "ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()",
        ("died",),
        "SIGSYS",
    ),
    Case(
        44,
        "a buffered write spanning turns",
        "file = open('log', 'w')\nfile.write('one ')",
        ("ok",),
        then=("file.write('two')\nfile.close()\nprint(open('log').read())", "one two\n"),
    ),
    Case(
        46,
        "BLAS and cv2 threads across turns",
        "import numpy as np, cv2\nbig = np.ones((300, 300), np.float32)\nbig = cv2.GaussianBlur(big @ big, (9, 9), 2)",
        ("ok",),
        then=(
            "again = cv2.GaussianBlur(big @ np.eye(300, dtype=np.float32), (9, 9), 2)\nprint(again[9, 9])",
            "300.0\n",
        ),
        limits=Limits(),
    ),
    Case(
        47,
        "classes, functions, imports",
        "import math as m\nclass P:\n    n = 1\n    def up(self): self.n += 1\n"
        "def f(x): return x + m.floor(P.n)\np = P()",
        ("ok",),
        then=("p.up()\nprint(p.n, f(1), isinstance(p, P))", "2 2 True\n"),
    ),
]
