"""The client of a tool service: tools that look to an environment as if they were in its own process.

=============================================  ===============================================================
what a service does                            what becomes of the call
=============================================  ===============================================================
it answers                                     the tool's words, and how its work ended
it is full, or its workers can't be started    asked again; then a reply with the status ``unserved``
it can't be reached, breaks off, takes too     asked again; then :class:`ServiceGone`, which ends what asked: an agent
long, or answers as no tool service does       would learn from a fault that isn't its own
it can't do with what it was sent              a reply with the status ``error``
it says no otherwise, as to an unknown tool;   :class:`ServiceError`, which ends what asked
or a proxy before it does, with a page
=============================================  ===============================================================

What an agent calls and reads is the same either way: names, descriptions and schemas come from the tool's own class,
and so does the choice of the image. Only the work is done elsewhere. An image is sent when the service says that it
doesn't know it: with the first call about it, and again if it was evicted or the service was started anew.
"""

from __future__ import annotations

import io
import json
import random
import re
import threading
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any, Literal

import httpx
import tenacity

from turn_sandbox.images import rgb
from visual_tools.arguments import LONGEST
from visual_tools.tool import Arguments, Picture, Pictures, PureTool, Reply

TIMEOUT = 100.0
"""Seconds for one answer: what a service lets a call wait and work, and a little more."""

RETRIES = 5
"""Tries after the first, in some fifteen seconds: a service that is started again is back by then."""

FIRST_WAIT, LONGEST_WAIT, PATIENCE = 0.5, 30.0, 120.0
"""Seconds before the second try, and at most before any other, where the service doesn't say how long; and the longest
that it may ask for."""

ENDS = ("ok", "error", "timeout", "died")
"""How the work on a call may end."""

FULL = 503
"""Says that no worker took the call up."""

UNUSABLE = (400, 413, 422)
"""Say that what was sent is wrong or too large, where the service itself says so."""

MAY_PASS = (408, 409, 429)
"""Say, as every number from 500 on, that it may be otherwise a moment later."""

GONE = 410
"""Says that the service doesn't know an image, or not any more."""


class ToolService:
    """A service at an address; any number of threads may call it.

    Args:
        address: ``http://HOST:PORT``.
        retries: tries after the first, where it is full or can't be reached.
        timeout: seconds for one answer.

    Raises:
        ValueError: the address is none.
    """

    def __init__(self, address: str, retries: int = RETRIES, timeout: float = TIMEOUT) -> None:
        try:
            host = httpx.URL(address).host if address.startswith(("http://", "https://")) else ""
        except httpx.InvalidURL:
            host = ""
        if not host or " " in address:
            raise ValueError(f"tool service {address!r}: give its address, such as http://127.0.0.1:8765")
        self.address, self._timeout = address.rstrip("/"), timeout
        self._retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(TransientError),
            stop=lambda state: state.attempt_number > retries or pause(state) > PATIENCE,
            wait=pause,
            sleep=time.sleep,
            reraise=True,
        )
        # As many connections as there are callers: an episode must not wait for another one's.
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=256)
        self._http = httpx.Client(
            base_url=self.address, timeout=httpx.Timeout(timeout, connect=5.0), limits=limits, trust_env=False
        )

    def call(self, tool: str, arguments: Mapping[str, Any], image: Picture | None = None) -> Reply:
        """Have a call done; what goes wrong with it is told.

        Args:
            tool: its name.
            arguments: of the call.
            image: what it looks at.

        Raises:
            ServiceGone: the service can't be reached, or isn't a tool service.
            ServiceError: it says no.
        """
        asked = {"tool": tool, "arguments": dict(arguments), "trajectory": image.sha256 if image else ""}
        body = json.dumps(asked).encode()

        def once() -> Reply:
            answer = self._ask("POST", "/call", body)
            if answer.status_code == GONE and image is not None:
                self._send(image)
                answer = self._ask("POST", "/call", body)
            told = self._told(answer)
            if not isinstance(told.get("text"), str) or told.get("status") not in ENDS:
                raise TransientError(f"{self.address} answers {told!r:.80}, which is no tool's text and status")
            return Reply(told["text"], told["status"])

        try:
            return self._retrying(once)
        except Unusable as error:
            return Reply(f"Error: {str(error)[: 2 * LONGEST]}", "error")
        except Unserved as error:  # how often it was asked is no agent's business
            return Reply(f"Error: {str(error)[: 2 * LONGEST]}", "unserved")
        except TransientError as error:
            raise ServiceGone(
                f"{tool}: no answer in {self._retrying.statistics['attempt_number']} tries, the last: "
                f"{str(error).rstrip('.')}. Start it again at {self.address}, then run the same command: a training "
                "goes on from its last checkpoint"
            ) from error

    def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Ask once for what the client has no method for, such as ``/get_observation``.

        Raises:
            ServiceError: it says no.
            TransientError: it doesn't answer, or is full.
        """
        return self._told(self._ask("POST", path, json.dumps(body).encode()))

    def health(self) -> dict[str, Any]:
        """Ask the service how it is; it need not be well.

        Raises:
            ServiceError: it doesn't answer.
        """
        try:
            found: dict[str, Any] = self._ask("GET", "/health").json()
        except (TransientError, ValueError) as error:
            raise ServiceError(str(error)) from error
        return found

    def metrics(self) -> str:
        """Read what the service has counted, in Prometheus' text format.

        Raises:
            TransientError: it doesn't answer.
        """
        return self._ask("GET", "/metrics").text

    def forget(self, image: Picture) -> None:
        """Let the service forget an image before others need its room.

        Raises:
            TransientError: it doesn't answer.
        """
        self._told(self._ask("DELETE", f"/trajectories/{image.sha256}"))

    def close(self) -> None:
        """Close its connections."""
        self._http.close()

    def _send(self, image: Picture) -> None:
        file = io.BytesIO()
        rgb(image.image).save(file, "PNG", compress_level=1)  # the larger file is the sooner one to make
        self._told(self._ask("PUT", f"/trajectories/{image.sha256}/images/image", file.getvalue()))

    def _ask(self, method: str, path: str, body: bytes | None = None) -> httpx.Response:
        """An answer that is all there in time; httpx itself limits each read alone."""
        found: Future[httpx.Response] = Future()

        def ask() -> None:
            try:
                found.set_result(self._http.request(method, path, content=body))
            except BaseException as error:
                found.set_exception(error)

        threading.Thread(target=ask, daemon=True, name="tool service").start()
        try:
            return found.result(self._timeout)
        except (httpx.HTTPError, TimeoutError) as error:
            why = str(error) or (type(error).__name__ if found.done() else f"not in {self._timeout:g} s")
            raise TransientError(
                f"no tool service answers at {self.address} ({why}); start one: python -m visual_tools serve"
            ) from error

    def _told(self, answer: httpx.Response) -> dict[str, Any]:
        """What an answer says.

        Raises:
            TransientError: it is one to ask for again.
            ServiceError: it isn't.
        """
        try:
            told = answer.json()
        except (ValueError, RecursionError):
            told = None
        if answer.status_code == 200 and isinstance(told, dict):
            return told
        # Without words of the service's own it may be what stands before it that answers, a proxy with a page.
        its_own = isinstance(told, dict) and isinstance(told.get("error"), str)
        why = told["error"] if its_own else f"it says {answer.text[:80]!r}"
        if answer.status_code == FULL and its_own:
            raise Unserved(why, retry_after(answer.headers))
        if answer.status_code in MAY_PASS or answer.status_code >= 500:
            raise TransientError(why, retry_after(answer.headers))
        if answer.status_code in UNUSABLE and its_own:
            raise Unusable(why)
        raise ServiceError(f"{self.address}: {why} ({answer.status_code})")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that an answer's headers ask to wait (``Retry-After``: a number, or a date), or None.

    None too where they ask for 0, or for what is past: asked again at once, a busy service is as busy as before.
    """
    header = headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]+)?", header):
        return float(header) or None
    # By the answer's own clock, which need not be this machine's.
    until, now = _moment(header), _moment(headers.get("date", "")) or time.time()
    return until - now if until is not None and until > now else None


def _moment(date: str) -> float | None:
    """Seconds since 1970 of an HTTP date, which is in UTC without a zone too; None: it is none."""
    with suppress(TypeError, ValueError, OverflowError):
        when = parsedate_to_datetime(date)
        return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
    return None


def pause(state: tenacity.RetryCallState) -> float:
    """Seconds before the next try: what the service asks for, else twice as long each time."""
    fault = state.outcome and state.outcome.exception()
    if isinstance(fault, TransientError) and fault.wait is not None:
        return fault.wait
    # The random part keeps several askers from returning together.
    return min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** (state.attempt_number - 1)) * random.uniform(0.75, 1.0)


class TransientError(Exception):
    """A fault that may pass.

    Args:
        why: in words.
        wait: seconds the service asks to be left alone; None if it doesn't say.
    """

    def __init__(self, why: str, wait: float | None = None) -> None:
        super().__init__(why)
        self.wait = wait


class ServiceError(Exception):
    """A service that says no, for good."""


class Unusable(ServiceError):
    """A service that can't do with what it was sent: arguments, or an image, that an agent chose."""


class ServiceGone(ServiceError):
    """A service that can't be reached any more, or isn't one; whoever works with it ends, and can go on later."""


class Unserved(TransientError):
    """A call that no worker of a service took up: its queue is full, or its workers can't be started."""


class RemoteTool:
    """A tool whose work a service does.

    Args:
        tool: the same tool in this process, which says what it is called, and what it takes.
        service: does the work.
    """

    on_error: Literal["tell", "raise"] = "raise"  # the service tells of the tool's errors; its own end the run

    def __init__(self, tool: PureTool, service: ToolService) -> None:
        self._tool, self._service = tool, service
        self.name, self.description, self.parameters = tool.name, tool.description, tool.parameters

    def call(self, arguments: Arguments, images: Pictures) -> Reply:
        """Have it done with the image of that name, or with the episode's first."""
        try:
            image = self._tool.pick(arguments.get("image"), images) if self._tool.needs_image else None
        except Exception as error:  # a name that the agent made up
            return Reply(f"Error: {str(error)[:LONGEST]}", "error")
        asked = {name: value for name, value in arguments.items() if name != "image"}
        return self._service.call(self.name, asked, image)

    def call_within(self, deadline: float, arguments: Arguments, images: Pictures) -> Reply:
        """Have it done as ever: the service ends what is late, by a deadline of its own.

        Args:
            deadline: seconds, which don't count here.
            arguments: fit the schema.
            images: the episode's images so far, by name.
        """
        del deadline
        return self.call(arguments, images)

    def close(self) -> None:
        """Nothing is held."""


def remote(tools: Iterable[PureTool], service: ToolService) -> list[RemoteTool]:
    """Let a service do the work of tools; what an agent calls and reads stays the same."""
    return [RemoteTool(tool, service) for tool in tools]
