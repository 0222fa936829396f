"""A vLLM server as an engine: the same ids, patches and answers as in the process, over HTTP.

Any number of processes may share one; it is started like this (TRL's server mode wants the same)::

    VLLM_SERVER_DEV_MODE=1 vllm serve CHECKPOINT --enable-scale-out --logprobs-mode processed_logprobs

Every process asks for itself, so ranks whose episodes are shorter wait for nobody: what they do together is the
trainer's alone (gradients, and ``refresh``, by which the server gets new weights, once a rollout in every rank).
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from json import JSONDecodeError
from typing import Any

import httpx

from kit.policy import in_threads
from kit.policy.engine_io import Asked, Context, ContextSource, Continuation, EngineError, ended_by, images_to_vllm
from kit.policy.vllm import LOGPROBS
from kit.tools.retry import RetriesExhausted, TransientError, is_transient, retry, retry_after

START = f"VLLM_SERVER_DEV_MODE=1 vllm serve CHECKPOINT --enable-scale-out --logprobs-mode {LOGPROBS}"


class Server:
    """Continues contexts on a vLLM server.

    Args:
        base_url: ``http://host:port``.
        model: the name it serves; asked for before anything is sampled.
        key_env: environment variable that holds its API key, if it wants one.
        retries: how often a request is tried again after a fault that may pass.
        timeout: seconds for one request.
        workers: requests at once.
        longest_wait: seconds; a server that asks for a longer pause is given up on.
        sleep: waits so many seconds; tests put their own here.

    Raises:
        EngineError: nothing answers there, or what does serves another model, is of another version, or would
            return other log-probabilities than the trainer's.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        key_env: str = "VLLM_API_KEY",
        retries: int = 3,
        timeout: float = 600.0,
        workers: int = 64,
        longest_wait: float = 60.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.url, self.model = base_url.rstrip("/"), model
        self.retries, self.workers, self.longest_wait, self._sleep = retries, workers, longest_wait, sleep
        key = os.environ.get(key_env)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        limits = httpx.Limits(max_connections=workers + 1)
        self._http = httpx.Client(base_url=self.url, headers=headers, timeout=timeout, limits=limits)
        self.wants_levels = self._checked()

    def _checked(self) -> bool:
        """Check that it is the server that is wanted; returns whether it wants pixels as levels."""
        served = [entry["id"] for entry in self._ask("GET", "/v1/models")["data"]]
        if self.model not in served:
            raise EngineError(f"the server at {self.url} serves {served}, not {self.model!r}")
        theirs, ours = str(self._ask("GET", "/version")["version"]), _vllm_version()
        if ours and theirs.partition("+")[0] != ours.partition("+")[0]:
            raise EngineError(f"the server at {self.url} runs vLLM {theirs}, here is {ours}: install the same")
        config = self._ask("GET", "/server_info?config_format=json")["vllm_config"]["model_config"]
        if config["logprobs_mode"] != LOGPROBS:
            raise EngineError(
                f"the server at {self.url} has logprobs_mode {config['logprobs_mode']!r}: start it like this: {START}"
            )
        return bool(config["multimodal_config"].get("mm_device_do_normalize"))  # version 0.25 doesn't know it

    def forget(self) -> None:
        """Drop its prefix cache and what was computed of images; for all who share it: they begin a rollout, too."""
        self._ask("POST", "/reset_prefix_cache")
        self._ask("POST", "/reset_encoder_cache")

    def stream(self, ready: ContextSource) -> Iterator[tuple[int, Continuation]]:
        """Continuations as they come.

        Raises:
            EngineError: the server refused a request, or is gone; what it still works on is taken back.
        """
        working: set[str] = set()
        over = threading.Event()

        def one(asked: Asked) -> Continuation:
            working.add(name := f"kit-{uuid.uuid4().hex}")
            if over.is_set():  # its thread began just when the others were taken back: nobody would take this one back
                raise CancelledError
            found = self._one(name, *asked)
            working.discard(name)
            return found

        def give_up() -> None:
            over.set()
            self._take_back(list(working))

        return in_threads(ready, one, self.workers, give_up)

    def _take_back(self, names: Sequence[str]) -> None:
        with contextlib.suppress(httpx.HTTPError):  # if it is gone, there is nothing to take back
            self._http.post("/inference/v1/abort_requests", json={"request_ids": list(names)})

    def _one(self, name: str, one: Context, option: dict[str, Any]) -> Continuation:
        body = {"request_id": name, "model": self.model, "token_ids": list(one.ids), "sampling_params": option}
        if one.pixels:
            body["features"] = _features(one)
        choice = self._ask("POST", "/inference/v1/generate", body)["choices"][0]
        end = ended_by(choice["finish_reason"], choice["stop_reason"])
        ids = tuple(choice["token_ids"])
        logprobs = tuple(float(each["logprob"]) for each in choice["logprobs"]["content"])
        return Continuation(ids, logprobs, end)

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        """The server's answer, asked for again as long as that may help."""
        try:
            return retry(lambda: self._once(method, path, body), self.retries, self.longest_wait, self._sleep)
        except RetriesExhausted as error:
            raise EngineError(f"vLLM server at {self.url}: {error}. Is it running? {START}") from error

    def _once(self, method: str, path: str, body: Any) -> Any:
        try:
            answer = self._http.request(method, path, json=body)
            if answer.is_success:
                return answer.json() if answer.content else None
        except (httpx.HTTPError, JSONDecodeError) as error:
            raise TransientError(f"{type(error).__name__}: {error}"[:200]) from error
        cause = f"{method} {path}: HTTP {answer.status_code}: {answer.text[:300]}"
        if is_transient(answer.status_code):
            raise TransientError(cause, retry_after(answer.headers))
        way_out = f"; start it like this: {START}" if answer.status_code == 404 else ""
        raise EngineError(f"vLLM server at {self.url}: {cause}{way_out}")


def _vllm_version() -> str | None:
    """Of the vLLM here, if there is one: it encodes images, which another version may read otherwise."""
    try:
        from vllm import __version__
    except ImportError:
        return None
    return str(__version__)


def _features(one: Context) -> dict[str, Any]:
    """A context's images as the endpoint ``/inference/v1/generate`` takes them."""
    from vllm.entrypoints.scale_out.token_in_token_out.mm_serde import encode_mm_kwargs_item

    return {
        "mm_hashes": {"image": list(one.names)},
        "mm_placeholders": {"image": [{"offset": first, "length": n} for first, n in one.ranges]},
        "kwargs_data": {"image": [encode_mm_kwargs_item(item) for item in images_to_vllm(one)["image"]]},
    }
