"""Turns as they end: environments step while others decode, and who is ready waits for nobody."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch
from training_fixtures import clone

from benchmarks.rollout import tail_bench
from kit.chat import Chat
from kit.episode import Episode, Observation, Task
from kit.policy import (
    Completion,
    GenerationRequest,
    RequestSource,
    SamplingParams,
    Wait,
    in_threads,
    sample_streaming,
    stream_batched,
    timed,
)
from kit.policy.hf import HFPolicy
from kit.policy.scripted import ScriptedPolicy
from kit.rollout import rollout
from tests.test_rollout import CONFIG, PARAMS, Echo, script, task_of

PATIENCE = 20.0
"""Seconds until a test that waits for what never comes fails."""


class Held(ScriptedPolicy):
    """Works on the first request it gets until no other episode can go on without it."""

    def stream(self, ready: RequestSource, params: SamplingParams) -> Iterator[tuple[int, Completion]]:
        (held, *others) = ready("all")
        self.meanwhile = 0
        while others:
            for (number, _), sample in zip(others, self.sample([r for _, r in others], params), strict=True):
                self.meanwhile += 1
                yield number, sample
            others = ready("one")
        yield held[0], *self.sample([held[1]], params)
        yield from stream_batched(self, ready, params)


def test_a_long_turn_holds_nobody(chat: Chat) -> None:
    """Three episodes play all their turns while the first one's first turn is sampled."""
    policy = Held(chat, script(2))
    played = rollout(policy, chat, [task_of(56, f"t{i}") for i in range(4)], Echo, CONFIG)
    assert policy.meanwhile == 9
    assert [(e.ended, len(e.turns)) for e in played] == [("answer", 3)] * 4
    rounds = rollout(ScriptedPolicy(chat, script(2)), chat, [task_of(56, f"t{i}") for i in range(4)], Echo, CONFIG)
    assert [e.ids for e in played] == [e.ids for e in rounds]


def test_environments_step_while_others_decode(chat: Chat, model: Any) -> None:
    """The first turn to end is played while the model still decodes the longer one's: it could wait for that."""
    stepped, decoding = threading.Event(), threading.Event()

    class Early(Echo):
        def step(self, action: str) -> tuple[Observation, float, bool, bool, dict]:
            if action.startswith("short"):
                assert decoding.wait(PATIENCE), "the model had nothing left to decode"
                stepped.set()
            return super().step(action)

    class Forced(HFPolicy):
        """One row says little, the other much; and waits, in its middle, for the environment of the first."""

        def _choose(self, logits: Any, temperature: float, at: Sequence[Any]) -> Any:
            says = [[*chat.text(("short", "long " * 30)[row]), chat.end_id] for row, _ in at]
            if len(at[-1][1].ids) == 25:
                decoding.set()
                assert stepped.wait(PATIENCE), "no environment stepped beside the model"
            picks = [ids[min(len(turn.ids), len(ids) - 1)] for ids, (_, turn) in zip(says, at, strict=True)]
            return torch.tensor(picks), torch.zeros(len(picks))

    played = rollout(Forced(model, chat), chat, [task_of(56), task_of(56)], Early, CONFIG)
    assert [len(e.turns[0].ids) > 25 for e in played] == [False, True]
    assert not torch.is_inference_mode_enabled() and torch.is_grad_enabled()


def test_grad_mode_stays_the_callers_between_two_samples(chat: Chat, model: Any, tasks: list[Task]) -> None:
    asked = [
        (i, GenerationRequest(tuple(chat.prompt("s", [*t.images])), t.images, seed=i)) for i, t in enumerate(tasks)
    ]

    def ready(wait: Wait) -> list[tuple[int, GenerationRequest]]:
        handed, asked[:] = asked[:], []
        return handed

    model = clone(model).train()
    seen = [torch.is_grad_enabled() for _ in HFPolicy(model, chat).stream(ready, SamplingParams((), 1.0, 4))]
    assert seen == [True] * len(tasks) and model.training


def test_an_error_of_an_environment_is_the_rollouts_and_none_is_closed_while_it_steps(chat: Chat) -> None:
    closed_early = []

    class Broken(Echo):
        stepping = False

        def step(self, action: str) -> tuple[Observation, float, bool, bool, dict]:
            if self.side == 28:
                raise ConnectionError("gone")
            self.stepping = True
            time.sleep(0.2)
            self.stepping = False
            return super().step(action)

        def close(self) -> None:
            closed_early.append(self.stepping)

    tasks = [task_of(28), task_of(56), task_of(56)]
    with pytest.raises(ConnectionError, match="gone"):
        rollout(ScriptedPolicy(chat, script(1)), chat, tasks, Broken, CONFIG)
    assert closed_early == [False] * 3


def test_threads_take_what_becomes_ready_while_others_are_asked() -> None:
    """The first answer needs the second request to have been asked for after it."""
    second = threading.Event()
    coming = [[(0, "first")], [(1, "second")]]

    def ready(wait: Wait) -> list[tuple[int, str]]:
        return coming.pop(0) if coming else []

    def one(asked: str) -> str:
        second.set() if asked == "second" else second.wait(PATIENCE)
        return f"{asked}: {second.is_set()}"

    assert dict(in_threads(ready, one, 2)) == {0: "first: True", 1: "second: True"}


def test_threads_give_up_before_they_wait() -> None:
    """What a server still works on is taken back at once when another request has failed."""
    taken_back = threading.Event()

    def one(asked: str) -> str:
        if asked == "bad":
            raise ValueError("refused")
        return "free" if taken_back.wait(PATIENCE) else "never"

    asked = [[(0, "good"), (1, "bad")]]
    began = time.monotonic()
    with pytest.raises(ValueError, match="refused"):
        list(in_threads(lambda wait: asked.pop() if asked else [], one, 2, give_up=taken_back.set))
    assert taken_back.is_set() and time.monotonic() - began < PATIENCE


def test_at_once_keeps_the_order(chat: Chat) -> None:
    class Backwards(ScriptedPolicy):
        def stream(self, ready: RequestSource, params: SamplingParams) -> Iterator[tuple[int, Completion]]:
            while asked := ready("all"):
                samples = self.sample([request for _, request in asked], params)
                yield from reversed(list(zip([number for number, _ in asked], samples, strict=True)))

    policy = Backwards(chat, lambda episode: episode.task.id)
    prompt = GenerationRequest((1,), ())
    requests = [replace(prompt, episode=Episode(task_of(28, name), ())) for name in ("a", "bb", "ccc")]
    assert [chat.decode(s.ids) for s in sample_streaming(policy, requests, PARAMS)] == ["a", "bb", "ccc"]


def test_the_turn_budget_counts_each_episodes_own(chat: Chat) -> None:
    played = rollout(Held(chat, script(9)), chat, [task_of(56), task_of(56)], Echo, replace(CONFIG, max_turns=3))
    assert [(e.ended, len(e.turns)) for e in played] == [("turns", 3)] * 2


def test_the_benchmark_compares_the_same_episodes(capsys: pytest.CaptureFixture[str]) -> None:
    figures = tail_bench(episodes=3, mean=0.01, tokens=4, repeats=1)
    assert all(value > 0 for value in figures.values()) and len(figures) in (2, 4)
    assert "3 of 3 episodes the same" in capsys.readouterr().out


def test_the_clock_counts_the_steps_and_nothing_between(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps of 3 and 4 seconds, a last one of 1 that finds nothing; 100 between them. An error's step counts too."""
    now, told = [0.0], []
    monkeypatch.setattr("kit.policy.time.perf_counter", lambda: now[0])

    def steps(error: bool) -> Iterator[int]:
        for seconds in (3, 4):
            now[0] += seconds
            yield seconds
        now[0] += 1
        if error:
            raise ConnectionError

    for _ in timed(steps(False), told.append):
        now[0] += 100
    assert told == [3, 4, 1]
    with pytest.raises(ConnectionError):
        list(timed(steps(True), told.append))
    assert told[3:] == [3, 4, 1]
