"""Pools: workers that hold the same tools, the queue before them, and the supervisor that starts them again.

==============================  =================================================================================
what happens                    what becomes of calls
==============================  =================================================================================
a worker dies during a call     that call says so (``died``); those that wait are done by the next worker
a call takes too long           its worker is killed; that call says so (``timeout``); as above
a worker dies between calls     no call notices, but for the wait
a worker can't be started       calls are refused with its error until a later try succeeds
the queue is full               calls are refused, in words
a call has waited too long      it is refused when its turn comes
==============================  =================================================================================

A worker is watched by its work: what doesn't answer within the deadline is dead, whatever it would say to a ping.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Literal

from visual_tools.serve.store import Stored
from visual_tools.serve.wire import Recent, asked, receive
from visual_tools.tool import Reply

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
"""Seconds before a worker that couldn't be started is tried again: doubled each time, up to the second."""


@dataclass(frozen=True)
class Limits:
    """Limits of time, and of how many calls may wait.

    Attributes:
        deadline: seconds of a call's work; then its worker is killed.
        waiting: calls that may wait for a pool.
        patience: seconds that a call may wait.
        start: seconds that a worker may take to load its tools.
    """

    deadline: float = 30.0
    waiting: int = 512
    patience: float = 60.0
    start: float = 300.0


LIMITS = Limits()


class Refused(Exception):
    """A call that no worker did; the message says why, ``status`` is HTTP's."""

    def __init__(self, message: str, status: int = 503) -> None:
        super().__init__(message)
        self.status = status


@dataclass
class Call:
    """A call on its way.

    Attributes:
        tool: its name.
        arguments: of the call.
        images: what it may look at, by name.
        reply: what it gets.
        since: when it was queued.
    """

    tool: str
    arguments: Mapping[str, Any]
    images: Mapping[str, Stored]
    reply: asyncio.Future[Reply]
    since: float = field(default_factory=monotonic)

    def refuse(self, why: str) -> None:
        """Let whoever waits for the reply know that there will be none."""
        if not self.reply.done():
            self.reply.set_exception(Refused(f"{self.tool}: {why}"))


class Pool:
    """Workers that hold the same tools.

    Args:
        name: for people.
        places: ``NAME=module:Class`` of each tool, as a worker takes them.
        workers: how many.
        limits: of time and of waiting calls.
        device: where models run.
    """

    def __init__(self, name: str, places: Sequence[str], workers: int, limits: Limits, device: str = "cpu") -> None:
        self.name, self.places, self.limits, self.device = name, tuple(places), limits, device
        self.waiting = deque[Call]()
        self.workers = [Worker(self) for _ in range(workers)]
        self.tools: dict[str, Any] = {}
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Start the workers; calls may come at once, and wait."""
        self._tasks = [asyncio.create_task(worker.run()) for worker in self.workers]

    async def stop(self) -> None:
        """Kill the workers; calls that wait are refused."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.waiting.extend(worker.call for worker in self.workers if worker.call is not None)
        self.refuse("the service is closing")

    def refuse(self, why: str) -> None:
        """Refuse all calls that wait."""
        while self.waiting:
            self.waiting.popleft().refuse(why)

    async def call(self, tool: str, arguments: Mapping[str, Any], images: Mapping[str, Stored]) -> Reply:
        """Wait for a worker, and for what it says.

        Args:
            tool: its name.
            arguments: of the call.
            images: what it may look at, by name.

        Raises:
            Refused: no worker did it.
        """
        if all(worker.state == "failed" for worker in self.workers):
            raise Refused(f"{tool} can't be started: {self.workers[0].problem}")
        if len(self.waiting) >= self.limits.waiting:
            raise Refused(f"{tool}: {len(self.waiting)} calls wait already; ask again later, or start more workers")
        call = Call(tool, arguments, images, asyncio.get_running_loop().create_future())
        self.waiting.append(call)
        for worker in self.workers:
            worker.bell.set()
        return await call.reply


State = Literal["starting", "ready", "busy", "failed"]


class Worker:
    """One process of a pool, and those that come after it.

    Attributes:
        state: what it does.
        pid: of the process; 0: there is none.
        restarts: how often it was started again, by why.
        problem: why it last ended.
        call: what it has in hand.
        bell: rung when there may be something to do.
    """

    def __init__(self, pool: Pool) -> None:
        self.state: State = "starting"
        self.pid, self.problem = 0, ""
        self.restarts = {"died": 0, "timeout": 0, "failed": 0}
        self.call: Call | None = None
        self.bell = asyncio.Event()
        self._pool = pool

    async def run(self) -> None:
        """Keep a process at work until cancelled."""
        pause = FIRST_PAUSE
        while True:
            process = await self._start()
            try:
                if await self._is_ready(process):
                    pause = FIRST_PAUSE
                    await self._work(process)
                else:
                    self._give_up()
                    await asyncio.sleep(pause)
                    pause = min(2 * pause, LONGEST_PAUSE)
            finally:
                await _end(process)

    def _give_up(self) -> None:
        """Leave what is in hand to the other workers; if there is none that could, refuse all that wait."""
        if self.call is not None:
            self._pool.waiting.appendleft(self.call)
            self.call = None
        if all(worker.state == "failed" for worker in self._pool.workers):
            self._pool.refuse(f"can't be started: {self.problem}")

    async def _start(self) -> asyncio.subprocess.Process:
        self.state = "starting"
        # Processes are what runs at once here: threads of their libraries would only fight for the cores.
        env = {"OMP_NUM_THREADS": "1", **os.environ}
        words = (sys.executable, "-m", "visual_tools.serve.worker", self._pool.device, *self._pool.places)
        pipe = asyncio.subprocess.PIPE
        # In a session of its own, so that Ctrl-C at a terminal is the service's business alone.
        process = await asyncio.create_subprocess_exec(*words, stdin=pipe, stdout=pipe, env=env, start_new_session=True)
        self.pid = process.pid
        return process

    async def _is_ready(self, process: asyncio.subprocess.Process) -> bool:
        """Wait until the tools are loaded; False, and a problem, if they can't be."""
        try:
            async with asyncio.timeout(self._pool.limits.start):
                told = await receive(_out(process))
        except TimeoutError:
            told = {"failed": f"its tools weren't loaded within {self._pool.limits.start:g} s"}
        except asyncio.IncompleteReadError:
            told = {"failed": f"its process ended ({await _code(process)})"}
        if "failed" in told:
            self.state, self.pid, self.problem = "failed", 0, told["failed"]
            self.restarts["failed"] += 1
            return False
        self._pool.tools |= told["ready"]
        self.state = "ready"
        return True

    async def _work(self, process: asyncio.subprocess.Process) -> None:
        """Do calls as long as the process lives."""
        sent = Recent[bool]()
        ended = asyncio.create_task(process.wait())
        ended.add_done_callback(lambda _: self.bell.set())
        try:
            while True:
                self.state = "ready"
                call = await self._next(ended)
                if call is None or ended.done():  # between two calls: what is in hand is for the next process
                    self.problem = f"its process ended ({await _code(process)})"
                    self.restarts["died"] += 1
                    return
                self.state = "busy"
                if not await self._do(process, call, sent):
                    return
        finally:
            ended.cancel()

    async def _next(self, ended: asyncio.Future[int]) -> Call | None:
        """Take the next call whose time isn't up in hand; None if the process ends before there is one."""
        while self.call is None and not ended.done():
            if not self._pool.waiting:
                self.bell.clear()
                await self.bell.wait()
                continue
            call, patience = self._pool.waiting.popleft(), self._pool.limits.patience
            if monotonic() - call.since <= patience:
                self.call = call
            else:
                call.refuse(f"waited {patience:g} s for a worker; start more of them")
        return self.call

    async def _do(self, process: asyncio.subprocess.Process, call: Call, sent: Recent[bool]) -> bool:
        """Have a call done; False if that was the process's end."""
        deadline = self._pool.limits.deadline
        try:
            async with asyncio.timeout(deadline):
                assert process.stdin is not None
                process.stdin.write(asked(call.tool, call.arguments, call.images, sent))
                await process.stdin.drain()
                told = await receive(_out(process))
            return self.settle(call, Reply(told["text"], told["status"]), alive=True)
        except TimeoutError:
            text = f"Error: {call.tool} gave no answer within {deadline:g} s; it is being started again"
            reply = Reply(text, "timeout")
        except (asyncio.IncompleteReadError, ConnectionError):
            text = f"Error: {call.tool} died during this call ({await _code(process)}); it is being started again"
            reply = Reply(text, "died")
        return self.settle(call, reply, alive=False)

    def settle(self, call: Call, reply: Reply, alive: bool) -> bool:
        """Give a call its reply, and count it if that tells of its process's end.

        Args:
            call: what was in hand.
            reply: what it gets.
            alive: whether the process that did it goes on; returned.
        """
        self.call = None
        if not call.reply.done():
            call.reply.set_result(reply)
        if not alive:
            self.problem = reply.text.removeprefix("Error: ")
            self.restarts[reply.status] += 1
        return alive


def _out(process: asyncio.subprocess.Process) -> asyncio.StreamReader:
    assert process.stdout is not None
    return process.stdout


async def _code(process: asyncio.subprocess.Process) -> str:
    """How a process ended; one that only closed its pipe is killed."""
    try:
        code = await asyncio.wait_for(process.wait(), 1)
    except TimeoutError:
        await _end(process)
        return "it closed its pipe"
    return f"signal {-code}" if code < 0 else f"code {code}"


async def _end(process: asyncio.subprocess.Process) -> None:
    """Kill a process and wait for its end."""
    with suppress(ProcessLookupError):
        process.kill()
    await process.wait()
    if process.stdin is not None:
        process.stdin.close()
