"""Ray Serve in the place of the processes of :mod:`.pool`: several machines, and GPUs that tools share.

``python -m visual_tools serve --engine ray`` has the same front, so the same requests and clients, and the same tools.
A pool is a deployment, a worker is one of its replicas, wherever Ray puts it; queue and limits stay with the front.
What becomes of calls is what :mod:`.pool` says, but for this: a replica is replaced a few seconds after it missed a
deadline, and until then does other calls beside the one that hangs.

Ray is started on this machine alone unless ``RAY_ADDRESS`` names a cluster, which serves the tools of one front: those
of a second one would take their place.

Ray is in ``locks/ray.txt``; nothing imports this module unless it is asked for.
"""

from __future__ import annotations

import asyncio
import io
import os
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from time import monotonic
from typing import Any

from visual_tools.serve.pool import LONGEST_PAUSE, Call, Limits, Pool, Refused, Worker
from visual_tools.serve.wire import Recent, asked, read_frame
from visual_tools.serve.worker import answered, load, schemas
from visual_tools.tool import Reply

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # read when Ray is imported: nothing is told to anyone

try:
    import ray
    from ray import serve
    from ray.serve.exceptions import RayServeException
except ImportError as error:
    raise ValueError(f"--engine ray: Ray isn't there ({error}): pip install --no-deps -r locks/ray.txt") from error

SMALLEST = 80 * 2**20
"""Bytes of shared memory that Ray starts with on one machine, about the least it takes: calls are small."""

LOOK = 1.0
"""Seconds between two looks at how the replicas are."""

UNWELL = (ray.exceptions.RayError, RayServeException)
"""What Ray raises where it can't be asked."""

DEPLOYING = threading.Lock()
"""One deployment after the other: Ray's own lists of what to pickle know no threads."""


class Replica:
    """One of the processes that do the calls, one at a time each, started by Ray.

    Args:
        places: of its tools, as a worker takes them.
        device: where models run.
        deadline: seconds of a call.
    """

    def __init__(self, places: Sequence[str], device: str, deadline: float) -> None:
        self._tools, self._deadline, self._late = load(places, device), deadline, ""

    async def schemas(self) -> dict[str, Any]:
        """Describe its tools, as ``/tools`` does."""
        return schemas(self._tools)

    async def call(self, packed: bytes) -> dict[str, str]:
        """Do the call of a frame."""
        framed = read_frame(io.BytesIO(packed))
        assert framed is not None
        try:
            work = asyncio.to_thread(answered, self._tools, *framed, Recent())
            return await asyncio.wait_for(work, self._deadline)
        except TimeoutError:
            self._late = f"{framed[0]['tool']} gave no answer within {self._deadline:g} s"
            return {"text": f"Error: {self._late}; it is being started again", "status": "timeout"}

    async def check_health(self) -> None:
        """Have Ray replace this replica once a call hangs in it.

        Raises:
            RuntimeError: one does.
        """
        if self._late:
            raise RuntimeError(self._late)


class Slot(Worker):
    """Hands a deployment one call at a time; which replica does it is Ray's choice."""

    def __init__(self, pool: RayPool) -> None:
        super().__init__(pool)
        self._pool: RayPool = pool

    async def run(self) -> None:
        """Hand on calls until cancelled, from when there is a replica."""
        handle, never = await self._pool.handle, asyncio.get_running_loop().create_future()
        while (call := await self._next(never)) is not None:
            try:
                reply = await self._reply(call, handle)
                self.settle(call, reply, alive=reply.status not in ("died", "timeout"))
            except Refused as refused:
                self.call = None
                call.refuse(str(refused))

    async def _reply(self, call: Call, handle: Any) -> Reply:
        limits = self._pool.limits
        try:
            async with asyncio.timeout(limits.patience + limits.deadline):
                told = await handle.call.remote(asked(call.tool, call.arguments, call.images, Recent()))
        except ray.exceptions.RayError:
            return Reply(f"Error: {call.tool} died during this call; it is being started again", "died")
        except (TimeoutError, RayServeException) as error:
            raise Refused(f"no replica did it ({type(error).__name__}); see what Ray says of them") from error
        return Reply(told["text"], told["status"])


class RayPool(Pool):
    """A deployment of the tools that a pool holds.

    Args:
        name: of the deployment.
        places: ``NAME=module:Class`` of each tool, as a worker takes them.
        workers: how many replicas.
        limits: of time and of waiting calls.
        device: where models run.
        gpus: share of a GPU for each replica with a model.
    """

    def __init__(
        self, name: str, places: Sequence[str], workers: int, limits: Limits, device: str = "cpu", gpus: float = 0.0
    ) -> None:
        super().__init__(name, places, workers, limits, device)
        self.workers = [Slot(self) for _ in range(workers)]
        self.gpus = gpus if any(place.endswith("!") for place in places) else 0.0
        self.handle: asyncio.Future[Any]

    def start(self) -> None:
        """Deploy the tools; calls may come at once, and wait."""
        self.handle = asyncio.get_running_loop().create_future()
        self._tasks = [asyncio.create_task(task) for task in (self._run(), *(slot.run() for slot in self.workers))]

    async def stop(self) -> None:
        """Take the deployment back; calls that wait are refused."""
        await super().stop()
        with suppress(*UNWELL):
            await asyncio.to_thread(serve.delete, self.name)

    async def _run(self) -> None:
        """Deploy, and again where that fails; meanwhile say how the replicas are."""
        while True:
            try:
                handle, why, began = await asyncio.to_thread(self._deploy), "", monotonic()
                while not why:
                    await asyncio.sleep(LOOK)
                    why = await self._look(handle)
                    if not (why or self.handle.done()) and monotonic() - began > self.limits.start:
                        why = f"no replica is there after {self.limits.start:g} s; see what Ray has room for"
            except Exception as error:  # a supervisor goes on, and tells what kept it from its work
                why = f"{type(error).__name__}: {error}"
            why = " ".join(why.split())[-300:]
            for worker in self.workers:
                worker.state, worker.problem = "failed", why
                worker.restarts["failed"] += 1
            self.refuse(f"can't be started: {why}")
            await asyncio.sleep(LONGEST_PAUSE)

    def _deploy(self) -> Any:
        if self.gpus > (there := ray.cluster_resources().get("GPU", 0)):
            raise ValueError(
                f"--gpus {self.gpus:g}: Ray knows of {there:g} GPUs; leave it out, or start Ray where they are"
            )
        with DEPLOYING:
            deployment = serve.deployment(
                Replica,
                name=self.name,
                num_replicas=len(self.workers),
                max_ongoing_requests=1,
                # Ray counts cores to choose a machine; where there is one alone, the system shares them.
                ray_actor_options={"num_cpus": int(bool(os.environ.get("RAY_ADDRESS"))), "num_gpus": self.gpus},
                health_check_period_s=LOOK,
                health_check_timeout_s=self.limits.deadline,
                graceful_shutdown_timeout_s=LOOK,
                max_constructor_retry_count=2,
                logging_config={"enable_access_log": False},
            )
            app = deployment.bind(self.places, self.device, self.limits.deadline)
            target = serve.RunTarget(app, name=self.name, route_prefix=None)
            return serve.run_many([target], wait_for_applications_running=False)[0]

    async def _look(self, handle: Any) -> str:
        """See how the replicas are; why the tools can't be loaded, if they can't."""
        try:
            app = (await asyncio.to_thread(serve.status)).applications.get(self.name)
        except UNWELL:  # whoever knows is being replaced as well
            app = None
        found = app.deployments.get(self.name) if app else None
        if app and app.status == "DEPLOY_FAILED":
            return str(found.message if found else app.message)
        there = found.replica_states.get("RUNNING", 0) if found else 0
        if there and not self.handle.done():
            self.tools |= await handle.schemas.remote()
            self.handle.set_result(handle)
        for k, worker in enumerate(self.workers):
            worker.state = "starting" if k >= there else "busy" if worker.call else "ready"
        return ""


@contextmanager
def ray_started() -> Iterator[None]:
    """Start Ray, or join the cluster that ``RAY_ADDRESS`` names, for as long as the block lasts.

    Raises:
        ValueError: Ray can't be had.
    """
    alone = {"num_cpus": 1, "object_store_memory": SMALLEST, "include_dashboard": False}
    where = os.environ.get("RAY_ADDRESS", "")
    try:
        if where not in ("", "auto"):  # Ray itself would try for minutes
            host, _, port = where.rpartition(":")
            socket.create_connection((host, int(port)), timeout=5).close()
        ray.init(**({} if where else alone))
        serve.start(proxy_location="Disabled")
    except Exception as error:  # it raises that very class where it isn't up within 30 s, as on a busy machine
        ray.shutdown()
        what = f"the cluster RAY_ADDRESS={where} can't be joined" if where else "Ray can't be started here; try again"
        raise ValueError(f"--engine ray: {what} ({type(error).__name__}: {str(error)[:200]})") from error
    try:
        yield
    finally:
        ray.shutdown()
