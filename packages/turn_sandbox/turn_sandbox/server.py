"""The server: takes requests from the client, runs as many turns at once as there are workers.

It runs no code of the turns and reads nothing of what they say beyond checked headers. It ends,
and everything with it, when the client does: the socket between them closes, or, if a
forked copy of the client holds that open, its parent changes.

Started by the client with a clean environment as ``python server.py SOCKET``.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from typing import Any

from turn_sandbox import linux, wire
from turn_sandbox.clean import command, environment
from turn_sandbox.files import remove_tree

PARENT_SECONDS = 0.5
"""How often to look whether the client still lives."""

KEEPER_SECONDS = 120.0
"""How much longer than its limit a turn (or a setup) may take until its keeper is given up: it has limits itself."""

BUFFER = 1 << 20
END_SECONDS = 3.0
"""How long keepers get to clean up."""


class Episode:
    """The server's side of one episode.

    Args:
        reader: stream from the client.
        writer: stream to the client.
        seconds: wall seconds of a turn, at most.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seconds: float) -> None:
        self.reader, self.writer, self.seconds = reader, writer, seconds
        self.lock = asyncio.Lock()
        self.session = 0
        self.lost = ""

    async def ask(self, header: dict[str, Any], blobs: Sequence[bytes] = ()) -> wire.Frame | None:
        """One request to the keeper; None if it is gone or stopped."""
        try:
            async with asyncio.timeout(self.seconds + KEEPER_SECONDS):
                self.writer.write(wire.pack(header, blobs))
                await self.writer.drain()
                return await read_frame(self.reader)
        except (ConnectionError, asyncio.IncompleteReadError, TimeoutError):
            return None

    async def end(self) -> None:
        """Hang up; the keeper then ends its processes, removes its files and leaves, which is waited for."""
        self.lost = self.lost or "it was closed"  # for turns that wait: nothing can be asked any more
        with contextlib.suppress(OSError, TimeoutError):
            self.writer.write_eof()
            # A turn that runs reads from the same stream; the keeper ends it now.
            async with asyncio.timeout(END_SECONDS), self.lock:
                while await self.reader.read(BUFFER):  # what a turn still had to say
                    pass
        self.writer.close()
        self.kill_session()

    def kill_session(self) -> None:
        """Kill what a killed keeper left behind."""
        for pid in linux.members(self.session) if self.session else ():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


async def read_frame(reader: asyncio.StreamReader) -> wire.Frame:
    """The next frame."""
    header, blobs = wire.lengths(await reader.readexactly(wire.LENGTHS.size))
    return wire.unpack(await reader.readexactly(header), await reader.readexactly(blobs))


class Server:
    """One sandbox: its zygote and its episodes."""

    def __init__(self, hello: Mapping[str, Any]) -> None:
        self.scratch = tempfile.mkdtemp(prefix="kit-sandbox-", dir=hello["folder"])
        self.request = {"preload": hello["preload"], "without": hello["without"]}
        self.workers = asyncio.Semaphore(hello["workers"])
        self.tier, self.missing = "none", dict[str, str]()
        self.episodes: dict[int, Episode] = {}

    def start_zygote(self) -> str:
        """Start it and wait until it has imported everything; returns what was wrong, or nothing."""
        self.control, theirs = socket.socketpair()
        self.zygote = subprocess.Popen(
            command("turn_sandbox.hooks", str(theirs.fileno()), self.scratch, json.dumps(self.request)),
            env=environment(self.scratch),
            cwd=self.scratch,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
        )
        theirs.close()
        frame = wire.read_frame(self.control)
        if frame is None:
            return "its process died while importing"
        self.tier, self.missing = frame[0]["tier"], frame[0]["missing"]
        return str(frame[0]["error"])

    async def start(self, header: dict[str, Any], blobs: Sequence[bytes]) -> dict[str, Any]:
        """Start an episode."""
        mine, theirs = socket.socketpair()
        with theirs:
            try:
                socket.send_fds(self.control, [b"k"], [theirs.fileno()])
            except OSError:  # code that isn't confined can kill anything of this user's, the zygote too
                self.control.close()
                if wrong := self.start_zygote():
                    return {"error": f"the sandbox can't be started again: {wrong}"}
                socket.send_fds(self.control, [b"k"], [theirs.fileno()])
        reader, writer = await asyncio.open_connection(sock=mine, limit=BUFFER)
        episode = Episode(reader, writer, header["limits"]["seconds"])
        answer = await episode.ask(header, blobs)
        if answer is None or answer[0]["error"]:
            await episode.end()
            return {"error": f"setup: {'its process died' if answer is None else answer[0]['error']}"}
        episode.session = answer[0]["session"]
        self.episodes[header["episode"]] = episode
        return {"error": ""}

    async def run(self, header: dict[str, Any], arrived: float) -> tuple[dict[str, Any], list[bytes]]:
        """Run a turn as soon as a worker is free."""
        episode = self.episodes.get(header["episode"])
        if episode is None:
            return self._lost("it was closed"), []
        async with episode.lock, self.workers:
            queue_s = time.perf_counter() - arrived
            if episode.lost:
                return self._lost(episode.lost), []
            answer = await episode.ask(header)
        if answer is None:
            episode.lost = episode.lost or "the process that keeps it is gone"
            episode.kill_session()
            return self._lost(episode.lost), []
        found, blobs = answer
        if found["status"] == "episode_lost":
            episode.lost = found["error"].removeprefix("episode_lost: ")
        return {**found, "queue_s": queue_s, "tier": self.tier}, blobs

    def _lost(self, why: str) -> dict[str, Any]:
        return {"status": "episode_lost", "error": f"episode_lost: {why}", "tier": self.tier}

    async def close(self, number: int) -> None:
        """End an episode."""
        if episode := self.episodes.pop(number, None):
            await episode.end()

    async def end(self) -> None:
        """End everything and remove every file."""
        await asyncio.gather(*(episode.end() for episode in self.episodes.values()))
        self.control.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.zygote.wait(1.0)
        self.zygote.kill()
        remove_tree(self.scratch)


async def serve(client: socket.socket) -> None:
    """Read requests until the client is gone."""
    parent = os.getppid()
    reader, writer = await asyncio.open_connection(sock=client, limit=BUFFER)
    hello, _ = await read_frame(reader)
    server = Server(hello)
    error = server.start_zygote()
    tasks: set[asyncio.Task[None]] = set()

    async def answer(header: dict[str, Any], blobs: Sequence[bytes], arrived: float) -> None:
        found: tuple[dict[str, Any], Sequence[bytes]]
        if header["kind"] == "start":
            async with server.workers:
                found = await server.start(header, blobs), []
        else:
            found = await server.run(header, arrived)
        writer.write(wire.pack({**found[0], "id": header["id"]}, found[1]))
        with contextlib.suppress(ConnectionError):
            await writer.drain()

    async def requests() -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                header, blobs = await read_frame(reader)
                if header["kind"] == "close":
                    task = asyncio.create_task(server.close(header["episode"]))
                else:
                    task = asyncio.create_task(answer(header, blobs, time.perf_counter()))
                tasks.add(task)
                task.add_done_callback(tasks.discard)

    async def orphaned() -> None:
        while os.getppid() == parent:
            await asyncio.sleep(PARENT_SECONDS)

    try:
        about = {"pids": [os.getpid(), server.zygote.pid], "tier": server.tier, "missing": server.missing}
        writer.write(wire.pack({"id": 0, "error": error, **about}))
        ends = [asyncio.create_task(requests()), asyncio.create_task(orphaned())]
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    finally:
        await server.end()


if __name__ == "__main__":
    # A socket for each episode; the usual limit is too low for a thousand.
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (65536 if most == resource.RLIM_INFINITY else most, most))
    asyncio.run(serve(socket.socket(fileno=int(sys.argv[1]))))
