"""Benchmarks that compare within one run and print ratios: ``python -m kit bench rollout``."""

from __future__ import annotations

import importlib.util
import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch

from benchmarks.loops import TRLLoop, Turns, digests, turn_by_turn
from benchmarks.search import search_bench
from benchmarks.telling import progress, tell
from kit.chat import Chat, Content
from kit.episode import Action, Episode, Observation, Task
from kit.models import load_model
from kit.policy import Completion, GenerationRequest, Policy, RequestSource, SamplingParams, Wait, stream_batched
from kit.policy.hf import ForcedPolicy, HFPolicy
from kit.policy.scripted import Script, ScriptedPolicy
from kit.policy.vllm import Engine, VLLMPolicy
from kit.protocol import Protocol
from kit.rollout import RolloutConfig, rollout
from papers.agile.env import JigsawEnv
from papers.agile.expert import STEPS, expert_script
from papers.agile.reward import score
from papers.agile.tasks import training_set
from papers.visual_arft.corpora import documents
from tiny import TINY
from turn_sandbox import Sandbox

AFRESH = 3.4
"""Time of a rollout that remembers nothing, in units of one that does, measured once: only for what stderr is told."""

OTHER_LOOPS = 16.0
"""Time of :func:`loops_bench` in the same units: its loops took about 1, 2.5 and 4 of them, each twice."""


def _timed(name: str, run: Callable[[], Any], repeats: int, warm: bool = True) -> list[float]:
    """Wall seconds of each repeat, after one to warm up; stderr is told the ``name`` and how far it is.

    Args:
        name: name of the part.
        run: does it once.
        repeats: times that count.
        warm: whether it is done once before.
    """
    seconds = []
    for turn in progress(range(repeats + warm), name):
        began = time.perf_counter()
        run()
        if turn >= warm:
            seconds.append(time.perf_counter() - began)
    return seconds


def loops_bench(
    tasks: Sequence[Task], model: Any, chat: Chat, make_env: Callable[[], JigsawEnv], script: Script, repeats: int = 1
) -> dict[str, float]:
    """Episodes a second of our loop beside TRL's and beside one that generates turn by turn; prints and returns them.

    Raises:
        RuntimeError: the loops didn't play the same episodes, or earned other rewards.
    """
    limit, turns = 120, max(STEPS) + 1
    recorder = Recorder(model, chat, script)
    forced = ForcedPolicy(model, chat, script)
    # Turns end by their last token: the others know no stop strings.
    config = RolloutConfig(max_turns=turns, max_new_tokens=limit, max_episode_tokens=28192, stops=())

    def ours(policy: Policy) -> list[Episode]:
        return rollout(policy, chat, tasks, make_env, config)

    played = ours(recorder)
    trl = TRLLoop(model, chat, recorder.said, limit)
    loops = {
        "ours": lambda: ours(forced),
        "generate each turn": lambda: turn_by_turn(model, chat, tasks, make_env, recorder.said, limit),
        "TRL's tool loop": lambda: trl.play(tasks, make_env),
    }
    figures: dict[str, float] = {}
    for name, loop in loops.items():
        tell(f"the same episodes by another loop: {name}")
        again = loop()
        if [e.ids for e in again] != [e.ids for e in played]:
            raise RuntimeError(f"{name}: other episodes than ours")
        if [score(e, e.task.target) for e in again] != [score(e, e.task.target) for e in played]:
            raise RuntimeError(f"{name}: other rewards than ours")
        figures[name] = len(tasks) / statistics.median(_timed(name, loop, repeats, warm=False))
    earned = statistics.mean(score(e, e.task.target).total for e in played)
    print(f"the same {len(tasks)} episodes in all loops, mean reward {earned:.3f}; episodes a second, ours to theirs")
    for name, value in figures.items():
        print(f"  {name:32s} {value:8.3f} {figures['ours'] / value:8.2f}")
    return figures


class Recorder(ForcedPolicy):
    """Forced decoding that remembers what it was asked and said."""

    def __init__(self, model: Any, chat: Chat, script: Script) -> None:
        super().__init__(model, chat, script)
        self.said: Turns = {}

    def stream(self, ready: RequestSource, params: SamplingParams) -> Iterator[tuple[int, Completion]]:
        """As forced, and kept."""
        asked: dict[int, GenerationRequest] = {}

        def noted(wait: Wait) -> list[tuple[int, GenerationRequest]]:
            asked.update(found := ready(wait))
            return found

        for number, sample in super().stream(noted, params):
            pixels = [self.chat.pixels(picture) for picture in asked[number].images]
            seen = [digests(one.patches, torch.tensor([one.grid]))[0] for one in pixels]
            self.said[asked[number].ids, tuple(seen)] = sample.ids
            yield number, sample


def rollout_bench(episodes: int = 64, repeats: int = 3, threads: int = 1) -> dict[str, float]:
    """The loop at ``episodes`` at once, on jigsaws played in 4–8 steps by forced decoding with the tiny model.

    Prints and returns the share of wall time inside the model, episodes a second, and what
    remembering keys and values between turns is worth.
    """
    torch.set_num_threads(threads)
    chat, model = Chat.from_pretrained(TINY), load_model(TINY)
    tasks = training_set(episodes, seed=0, photo_share=0.0)
    config = RolloutConfig(max_turns=9, max_new_tokens=120, max_episode_tokens=28192)
    figures: dict[str, float] = {}
    with Sandbox() as box:

        def play(policy: Policy) -> int:
            played = rollout(policy, chat, tasks, lambda: JigsawEnv(box), config)
            return sum(len(episode.turns) for episode in played)

        script = expert_script(0)
        remembering = ForcedPolicy(model, chat, script)
        fresh = ForcedPolicy(model, chat, script, cache_bytes=0)
        began = time.perf_counter()
        turns = play(remembering)
        once = (time.perf_counter() - began) / 60
        tell(f"{turns} turns were played in {once:.1f} minutes; by that, the rest takes about")
        for part, cost in (("prefixes remembered", 1.0), ("every context afresh", AFRESH)):
            tell(f"  {(repeats + 1) * cost * once:5.1f} minutes  {part}, {repeats + 1} times")
        tell(f"  {OTHER_LOOPS * once:5.1f} minutes  the same episodes by other loops")
        remembering.seconds = 0.0
        with_store = _timed("prefixes remembered", lambda: play(remembering), repeats)
        inside = remembering.seconds / (repeats + 1)
        without = _timed("every context afresh", lambda: play(fresh), repeats)
        alone = _timed("environments alone", lambda: play(ScriptedPolicy(chat, script)), repeats)
        loops = loops_bench(tasks, model, chat, lambda: JigsawEnv(box), script)
    wall = statistics.median(with_store)
    figures["episodes_per_second"] = episodes / wall
    figures["turns_per_second"] = turns / wall
    figures["generation_time_share"] = inside / wall
    figures["speedup_of_prefix_store"] = statistics.median(without) / wall
    figures["environment_seconds_per_turn"] = statistics.median(alone) / turns
    print(f"rollout bench: {episodes} episodes, {turns} turns, {threads} thread(s), {repeats} repeats")
    for name, value in figures.items():
        print(f"  {name:32s} {value:8.3f}")
    print(f"  spread of wall seconds           {min(with_store):8.2f} … {max(with_store):.2f}")
    return figures | loops


class Waiting:
    """Turns of any policy, among slow answers: each takes its time, most a short one, some a long one.

    For :func:`tail_bench`: an episode is over when its own number of turns is; how long which answer takes is drawn
    from the task's seed (exponentially distributed, the mean in seconds), like a search or a judge that is asked.
    """

    def __init__(self, mean: float) -> None:
        self.protocol = Protocol(actions=())
        self.mean = mean

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, dict]:
        """The task's turns and waits."""
        assert options is not None
        rng = np.random.default_rng(int(options["task"].id))
        self.waits = rng.exponential(self.mean, size=int(rng.integers(2, 9)))
        self.turn = 0
        return Observation(""), {}

    def prompt(self, task: Task) -> tuple[str, Content]:
        """Its pictures and question."""
        return "see", [*task.images, task.question]

    def step(self, action: str) -> tuple[Observation, float, bool, bool, dict]:
        """Wait; go on."""
        time.sleep(self.waits[self.turn])
        self.turn += 1
        said = Action("answer", action) if self.turn == len(self.waits) else None
        return Observation("What is it?"), 0.0, said is not None, False, {"action": said}

    def close(self) -> None:
        """Nothing to close."""


class Rounds:
    """A policy whose turns are handed out when the last of the round has ended, as most loops do it."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.reset, self.sample = policy.reset, policy.sample

    def stream(self, ready: RequestSource, params: SamplingParams) -> Iterator[tuple[int, Completion]]:
        """In rounds."""
        return stream_batched(self, ready, params)


def tail_bench(episodes: int = 32, mean: float = 0.5, tokens: int = 48, repeats: int = 3) -> dict[str, float]:
    """What long turns and slow environments cost the other episodes: turns in rounds, and as they end.

    The tiny model samples turns of any length up to ``tokens``; environments (:class:`Waiting`) answer after ``mean``
    seconds on average. By transformers, and by vLLM if it is installed.

    Returns:
        episodes a second, for each policy in rounds and as turns end.
    """
    torch.set_num_threads(1)
    chat, model = Chat.from_pretrained(TINY), load_model(TINY)
    drawn = training_set(episodes, seed=0, photo_share=0.0)
    tasks = [Task(str(i), task.images[:1], "What is it?", ("",)) for i, task in enumerate(drawn)]
    config = RolloutConfig(9, tokens, 28192, env_workers=episodes, stops=("?",))
    policies: dict[str, Policy] = {"transformers": HFPolicy(model, chat)}
    if importlib.util.find_spec("vllm"):
        os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"  # one process, as when it is colocated
        policies["vLLM"] = VLLMPolicy(Engine.load(TINY, dtype="float32", skip_mm_profiling=True), chat)
    else:
        print("vLLM isn't installed: transformers only")
    figures: dict[str, float] = {}

    def play(policy: Policy) -> list[Episode]:
        make_env = partial(Waiting, mean)
        return rollout(policy, chat, tasks, make_env, config, seed=1)

    for name, policy in policies.items():
        played = {}
        for how, way in {"in rounds": Rounds(policy), "as they end": policy}.items():
            played[how] = play(way)  # warms up, too
            seconds = statistics.median(_timed(f"{name}, {how}", partial(play, way), repeats, warm=False))
            figures[f"{name}, {how}"] = episodes / seconds
        same = sum(a.ids == b.ids for a, b in zip(*played.values(), strict=True))
        ratio = figures[f"{name}, as they end"] / figures[f"{name}, in rounds"]
        print(f"{name}: {ratio:.2f} times the episodes a second; {same} of {episodes} episodes the same")
    for name, value in figures.items():
        print(f"  {name:32s} {value:8.3f}")
    return figures


def documents_bench() -> dict[str, float]:
    """What a search of the kit's own documents costs."""
    return search_bench(documents())
