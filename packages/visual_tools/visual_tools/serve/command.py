"""Run a tool service: in this process until it is told to stop, or in one of its own for as long as a block lasts."""

from __future__ import annotations

import asyncio
import errno
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from visual_tools.serve.app import Read, Service, front, grouped
from visual_tools.serve.client import ServiceError, ToolService
from visual_tools.serve.pool import LIMITS, Limits, Pool
from visual_tools.serve.store import Trajectories

MOST_IMAGES = 2 * 2**30
"""Bytes of images that a service keeps."""

SHUTDOWN = 5
"""Seconds that calls have to end when the service is told to stop."""


class PortTaken(ValueError):
    """The address can't be had; the message says what to do."""


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens.

    Raises:
        PortTaken: someone else does, or the host isn't this machine's.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # TCP by name: of a socket that doesn't say so, asyncio leaves Nagle's algorithm on, and each reply waits 40 ms.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen(2048)
    except (OSError, OverflowError) as error:
        listening.close()
        taken = isinstance(error, OSError) and error.errno == errno.EADDRINUSE
        why = f"port {port} of {host} is taken" if taken else f"port {port} of {host} can't be had ({error})"
        raise PortTaken(f"{why}: give another one with --port, or --port 0 for any that is free") from error
    return listening


def serve(
    places: Mapping[str, str],
    host: str = "127.0.0.1",
    port: int = 0,
    workers: int = 1,
    limits: Limits = LIMITS,
    served: Sequence[str] = (),
    device: str = "cpu",
    most_images: int = MOST_IMAGES,
    pool: Callable[[str, Sequence[str], int, Limits, str], Pool] = Pool,
    read: Read | None = None,
) -> None:
    """Serve tools until this process is told to stop.

    Args:
        places: tool's name → ``module:Class``.
        host: address to listen at; beyond this machine, whoever reaches it may call the tools.
        port: to listen at; 0: any that is free.
        workers: processes of each pool.
        limits: of time and of waiting calls.
        served: tools that run the model behind them, each in a pool of its own.
        device: where models run.
        most_images: bytes of images that are kept.
        pool: makes a pool of its name, its tools' places, workers, limits and device.
        read: how policies' turns are to be read; None: ``/get_observation`` refuses them.

    Raises:
        PortTaken: it can't listen there.
    """
    import uvicorn

    with bound(host, port) as listening:
        groups = grouped(places, served)
        pools = {
            name: pool(name, [f"{tool}={place}" for tool, place in group.items()], workers, limits, device)
            for name, group in groups.items()
        }
        tools = {tool: name for name, group in groups.items() for tool in group}
        service = Service(pools, tools, Trajectories(most_images), read)
        shown = f"[{host}]" if ":" in host else host
        print(f"{len(tools)} tools at http://{shown}:{listening.getsockname()[1]}", flush=True)
        config = uvicorn.Config(
            front(service),
            http=_protocol(),
            log_level="warning",
            access_log=False,
            lifespan="on",
            timeout_graceful_shutdown=SHUTDOWN,
        )
        with suppress(KeyboardInterrupt):  # it ends well, then passes on what it was told to end by
            uvicorn.Server(config).run(sockets=[listening])


def _protocol() -> type[asyncio.Protocol]:
    """Uvicorn's protocol, for clients that have sent all they have to send as well: they wait for their answer."""
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class HalfClosed(H11Protocol):
        def eof_received(self) -> bool:  # type: ignore[override]
            return True

    return HalfClosed


def end_with_stdin() -> None:
    """Tell this process to stop as soon as its standard input ends, however whoever holds the other end is ended."""

    def watch() -> None:
        while os.read(0, 4096):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True, name="stdin").start()


@contextmanager
def running(
    *options: str,
    wait: float = 120.0,
    folder: Path | None = None,
    log: Path | None = None,
    program: Sequence[str] = ("visual_tools",),
) -> Iterator[ToolService]:
    """A service in a process of its own, ready when the block begins, gone when it ends or this process does.

    Args:
        options: of ``python -m visual_tools serve``; without ``--port`` it takes any that is free.
        wait: seconds until it is ready.
        folder: where it runs, which is where modules of one's own are found.
        log: file for what it and its tools print; None: this process's stderr.
        program: module whose command ``serve`` is, and what comes before that, such as ``kit tools``.

    Raises:
        ServiceError: it isn't ready by then, or can't be started.
    """
    words = [sys.executable, "-m", *program, "serve", "--until-eof", "--port", "0", *options]
    with open(log or os.devnull, "w") as file:
        process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=file if log else None,
            text=True,
            cwd=folder,
            start_new_session=True,
        )
    try:
        assert process.stdout is not None
        found = re.search(r" at (http://\S+)", process.stdout.readline())
        if found is None:
            raise ServiceError(f"the tool service ended with code {process.wait()}; what it said is above")
        service = ToolService(found[1])
        try:
            _until_ready(service, process, wait)
            yield service
        finally:
            service.close()
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(SHUTDOWN + 5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()


def _until_ready(service: ToolService, process: subprocess.Popen[str], wait: float) -> None:
    end = time.monotonic() + wait
    while (health := service.health())["status"] != "ok":
        told = [w["problem"] for pool in health["pools"].values() for w in pool["workers"] if w["problem"]]
        if told or process.poll() is not None or time.monotonic() > end:
            raise ServiceError(f"the tool service is {health['status']} after {wait:g} s or less: {'; '.join(told)}")
        time.sleep(0.05)
