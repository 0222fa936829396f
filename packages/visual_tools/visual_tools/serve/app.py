"""The web front of a tool service.

===========================================  ====================================================================
request                                      reply
===========================================  ====================================================================
``PUT /trajectories/ID/images/NAME``         an image's file is kept under the trajectory
``DELETE /trajectories/ID``                  its images are forgotten
``POST /call``                               ``{trajectory, tool, arguments}`` → ``{text, status}``
``POST /get_observation``                    ``{trajectory_ids, actions, extra_fields}`` → three lists
``GET /health``, ``/metrics``, ``/tools``    pools and workers; Prometheus' counters; names and schemas
``GET /``                                    the same as a page that people read
===========================================  ====================================================================

``/get_observation`` takes the turns of many trajectories at once, as policies wrote them, does them side by side, and
returns ``{observations, dones, valids}``. How policies write, whoever starts the service says (:data:`Read`). A turn is
done if it answers; it is valid if it answers or calls a tool that there is, in proper JSON. ``extra_fields`` may bring
a trajectory images, in base64 or as ``data:`` URIs: ``{"images": {NAME: file}}``.

Whatever is wrong with a request is told in words, ``{"error": …}``, with a status that says what kind of fault it is:
400 no proper JSON, 404 no such tool, 410 no such trajectory (any more), 413 too large, 422 the wrong fields or no
image, 501 turns that nobody said how to read, 503 no worker that can do it.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from time import perf_counter
from typing import Annotated, Any, TypeVar

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, Response
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from visual_tools.serve.metrics import ServiceMetrics
from visual_tools.serve.page import page
from visual_tools.serve.pool import Pool, Refused
from visual_tools.serve.store import ImageRefused, Stored, Trajectories, check
from visual_tools.tool import MOST_PIXELS, Reply

MOST_BODY = 4 * MOST_PIXELS
"""Bytes of the largest request: any image that a tool opens can be sent. Of a larger request as much again is read, so
that its sender hears why."""

Read = Callable[[str], tuple[str, Mapping[str, Any]] | None]
"""Reads a policy's turn: the tool that it calls, and its arguments; None: it answers. A ``ValueError`` says, to the
policy, why it is neither."""

Body = TypeVar("Body", bound=BaseModel)
LONGEST_NAME = 200
"""Signs of a trajectory's id, an image's name and a tool's."""

Name = Annotated[str, Field(max_length=LONGEST_NAME)]


class CallBody(BaseModel):
    """The body of ``/call``; a tool that needs no image needs no trajectory."""

    model_config = ConfigDict(extra="forbid")
    tool: Name
    trajectory: Name = ""
    arguments: dict[str, Any] = {}


class TurnsBody(BaseModel):
    """The body of ``/get_observation``: one entry a trajectory."""

    trajectory_ids: Annotated[list[Name], Field(max_length=4096)]
    actions: list[str]
    extra_fields: list[dict[str, Any] | None] | None = None


class Service:
    """The work behind the front's requests.

    Args:
        pools: pool's name → pool.
        tools: tool's name → its pool's.
        store: images of trajectories.
        read: how policies' turns are to be read; None: they aren't, and nothing but calls is taken.
    """

    def __init__(
        self, pools: Mapping[str, Pool], tools: Mapping[str, str], store: Trajectories, read: Read | None = None
    ) -> None:
        self.pools, self.tools, self.store, self.read = pools, tools, store, read
        self.metrics = ServiceMetrics(pools, store)

    async def call(self, trajectory: str, tool: str, arguments: Mapping[str, Any]) -> Reply:
        """Call a tool.

        Args:
            trajectory: whose images it may look at; empty: it needs none.
            tool: its name.
            arguments: of the call.

        Raises:
            Refused: there is no such tool or trajectory, or no worker that does it.
        """
        if tool not in self.tools:
            raise Refused(f"there is no tool {tool!r:.60}; there are {', '.join(self.tools)}", 404)
        images = self.store.images(trajectory) if trajectory else {}
        if images is None:
            way_out = "send its image: PUT /trajectories/ID/images/NAME"
            raise Refused(f"trajectory {trajectory!r:.60} isn't known, or not any more; {way_out}", 410)
        start, status = perf_counter(), "refused"
        try:
            reply = await self.pools[self.tools[tool]].call(tool, arguments, images)
            status = reply.status
            return reply
        finally:
            self.metrics.count(tool, status, perf_counter() - start)

    async def turn(self, trajectory: str, action: str, extra: Mapping[str, Any]) -> tuple[str, bool, bool]:
        """Observation of one turn's text, whether the episode is done, and whether the turn was valid.

        Args:
            trajectory: whose turn it is.
            action: the text, as a policy wrote it.
            extra: may bring images of the trajectory, in base64.

        Raises:
            Refused: nobody said how turns are to be read.
        """
        if self.read is None:
            raise Refused("turns aren't read here: send calls to /call, or start the service with what reads them", 501)
        try:
            for name, image in dict(extra.get("images") or {}).items():
                file = str(image).partition(";base64,")[2] if str(image).startswith("data:") else image
                stored = await asyncio.to_thread(check, base64.b64decode(file, validate=True))
                self.store.put(trajectory, str(name), stored)
        except (ImageRefused, binascii.Error, TypeError, ValueError) as error:
            return f"Error: {error}", False, False
        try:
            call = self.read(action)
        except ValueError as error:
            return f"Error: {error}", False, False
        if call is None:
            return "", True, True
        known = call[0] in self.tools
        owner = trajectory if self.store.images(trajectory) is not None else ""
        try:
            return (await self.call(owner, *call)).text, False, known
        except Refused as error:
            return f"Error: {error}", False, known

    def health(self) -> dict[str, Any]:
        """Every pool and worker, and in one word whether all is well: ok, starting, or degraded."""
        pools = {
            name: {
                "tools": [tool for tool, home in self.tools.items() if home == name],
                "waiting": len(pool.waiting),
                "workers": [
                    {"state": w.state, "pid": w.pid, "restarts": sum(w.restarts.values()), "problem": w.problem}
                    for w in pool.workers
                ],
            }
            for name, pool in self.pools.items()
        }
        states = [{worker.state for worker in pool.workers} for pool in self.pools.values()]
        word = "ok" if all(found & {"ready", "busy"} for found in states) else "starting"
        word = "degraded" if any("failed" in found for found in states) else word
        return {"status": word, "pools": pools, "trajectories": len(self.store), "image_bytes": self.store.bytes}


class Ending:
    """Tells calls that the service's end cuts off that it ends; they would hear of an internal error.

    Args:
        app: does the requests.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        started = False

        async def sends(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self.app(scope, receive, sends)
        except asyncio.CancelledError:
            if scope["type"] != "http" or started:
                raise
            await told({"error": "the service is closing"}, 503)(scope, receive, send)


async def body_of(request: Request) -> bytes:
    """A request's body.

    Raises:
        Refused: it is too large.
    """
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        parts.append(part)
        if size > MOST_BODY:
            parts.clear()
        if size > 2 * MOST_BODY:
            break
    if size > MOST_BODY:
        raise Refused(f"a request of more than {MOST_BODY:,} bytes; send less at once", 413)
    return b"".join(parts)


async def parsed(request: Request, kind: type[Body]) -> Body:
    """A request's body as one of the forms above.

    Raises:
        Refused: it isn't one; the message says where.
    """
    try:
        # By json: halves of characters, which a policy may write and a tool in one's own process is given, pass.
        told = json.loads(await body_of(request))
        if not isinstance(told, dict):
            raise Refused(f"body: a {type(told).__name__}; send an object", 422)
        return kind.model_validate(told)
    except (ValueError, RecursionError) as error:
        if not isinstance(error, ValidationError):
            raise Refused(f"Invalid JSON: {str(error)[:200]}", 400) from error
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "body"
        raise Refused(f"{where}: {first['msg'][:200]}", 422) from error


def told(what: Mapping[str, Any], status: int = 200) -> Response:
    """JSON in ASCII: halves of characters, which a policy may write, can't be sent otherwise."""
    return Response(json.dumps(what), status, media_type="application/json")


def front(service: Service) -> FastAPI:
    """The app, whose life is that of the pools' workers."""

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        for pool in service.pools.values():
            pool.start()
        yield
        await asyncio.gather(*(pool.stop() for pool in service.pools.values()))

    app = FastAPI(title="Tools", lifespan=life, docs_url=None, redoc_url=None, openapi_url=None)

    app.add_middleware(Ending)

    @app.exception_handler(HTTPException)
    async def unknown(request: Request, error: HTTPException) -> Response:
        return told({"error": f"{request.method} {request.url.path}: {error.detail}"}, error.status_code)

    @app.exception_handler(Refused)
    async def refused(request: Request, error: Refused) -> Response:
        return told({"error": str(error)}, error.status)

    @app.put("/trajectories/{trajectory}/images/{name}")
    async def put(trajectory: str, name: str, request: Request) -> dict[str, str]:
        if max(len(trajectory), len(name)) > LONGEST_NAME:
            raise Refused(f"an id or a name of more than {LONGEST_NAME} signs, which no call could give", 422)
        data = await body_of(request)
        try:
            stored: Stored = await asyncio.to_thread(check, data)
            service.store.put(trajectory, name, stored)
        except ImageRefused as error:
            raise Refused(str(error), 422) from error
        return {"sha256": stored.key}

    @app.delete("/trajectories/{trajectory}")
    async def drop(trajectory: str) -> dict[str, bool]:
        return {"known": service.store.drop(trajectory)}

    @app.post("/call")
    async def call(request: Request) -> Response:
        asked = await parsed(request, CallBody)
        reply = await service.call(asked.trajectory, asked.tool, asked.arguments)
        return told({"text": reply.text, "status": reply.status})

    @app.post("/get_observation")
    async def get_observation(request: Request) -> Response:
        asked = await parsed(request, TurnsBody)
        extra = asked.extra_fields or [None] * len(asked.actions)
        if not len(asked.trajectory_ids) == len(asked.actions) == len(extra):
            sizes = f"{len(asked.trajectory_ids)} trajectory_ids, {len(asked.actions)} actions"
            raise Refused(f"{sizes}, {len(extra)} extra_fields; give one of each for every trajectory", 422)
        turns = zip(asked.trajectory_ids, asked.actions, extra, strict=True)
        seen = await asyncio.gather(*(service.turn(one, action, more or {}) for one, action, more in turns))
        return told({key: [one[k] for one in seen] for k, key in enumerate(("observations", "dones", "valids"))})

    _told(app, service)
    return app


def _told(app: FastAPI, service: Service) -> None:
    """Add what can be read of a service."""

    @app.api_route("/health", methods=["GET", "HEAD"])
    async def health() -> Response:
        found = service.health()
        return told(found, 200 if found["status"] == "ok" else 503)

    @app.get("/metrics")
    async def metrics() -> Response:
        return Response(service.metrics.text(), media_type="text/plain; version=0.0.4")

    @app.get("/tools")
    async def tools() -> dict[str, Any]:
        return {name: about for pool in service.pools.values() for name, about in pool.tools.items()}

    @app.get("/")
    async def status() -> HTMLResponse:
        return HTMLResponse(page(service.health()))


def grouped(places: Mapping[str, str], served: Sequence[str] = ()) -> dict[str, dict[str, str]]:
    """Pools of tools: light ones by the folder of their class, each with a model behind it in one of its own.

    Args:
        places: tool's name → ``module:Class``.
        served: those that are to run their model.

    Returns:
        Pool's name → tool's name → place as a worker takes it.
    """
    pools: dict[str, dict[str, str]] = {}
    for name, place in places.items():
        folder = place.partition(":")[0].split(".")[-2:][0]
        pool = name if name in served else folder
        pools.setdefault(pool, {})[name] = f"{place}!" if name in served else place
    return pools
