"""Sampling in vLLM: what goes to an engine, what comes back, and that it is what transformers says.

The second half needs vLLM: ``make test-vllm`` runs it, on a CPU, with the committed tiny model.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from kit.chat import Chat
from kit.episode import Episode, NamedImage, Observation, Task
from kit.models import load_model
from kit.models.internvl import InternVL3
from kit.policy import Completion, GenerationRequest, SamplingParams
from kit.policy.engine_io import (
    Context,
    ContextSource,
    Continuation,
    EngineError,
    context,
    known_options,
    placeholders,
)
from kit.policy.hf import ForcedPolicy, HFPolicy, load_model_and_chat
from kit.policy.limits import ENGINE
from kit.policy.suppress import suppress_logits
from kit.policy.vllm import Colocated, Engine, VLLMPolicy
from kit.policy.vllm_evaluation import OnDemand, evaluator, load_evaluator
from kit.protocol import Protocol
from kit.rollout import RolloutConfig, rollout
from kit.train.launch.launcher import launch
from kit.train.launch.topology import ProcessConfig
from pictures.scenes import scene
from tests.policy.test_hf import forward_logits
from tiny import TINY
from turn_sandbox import Sandbox


def picture(name: str, seed: int, width: int, height: int) -> NamedImage:
    return NamedImage(name, Image.fromarray(scene(np.random.default_rng(seed), 168)).resize((width, height)))


def request_of(chat: Chat, *pictures: NamedImage) -> GenerationRequest:
    parts: list[Any] = [part for shown in pictures for part in (f"{shown.name}: ", shown)]
    return GenerationRequest(tuple(chat.prompt("see", [*parts, "What is it?"])), pictures)


# ── without an engine ────────────────────────────────────────────────────────────────────────────


class Recorded:
    """An engine that says what it is told to."""

    def __init__(self, *continuations: Continuation, wants_levels: bool = False) -> None:
        self.wants_levels = wants_levels
        self.continuations = list(continuations)
        self.asked: list[tuple[Sequence[Context], Sequence[dict[str, Any]]]] = []
        self.events: list[str] = []

    def stream(self, ready: ContextSource) -> Iterator[tuple[int, Continuation]]:
        while asked := ready("one"):
            contexts, options = zip(*[one for _, one in asked], strict=True)
            self.asked.append((contexts, options))
            yield from zip([number for number, _ in asked], self.continuations, strict=True)

    def forget(self) -> None:
        self.events.append("forget")


def test_placeholders_are_found_by_their_runs() -> None:
    assert placeholders([9, 9, 1, 2, 9, 9, 9, 3, 9], 9) == ((0, 2), (4, 3), (8, 1))
    assert placeholders([1, 2], 9) == placeholders([], 9) == ()


def test_a_context_says_which_ids_are_which_picture(chat: Chat) -> None:
    small, large = picture("a", 0, 56, 56), picture("b", 1, 112, 84)
    found = context(chat, request := request_of(chat, small, large), levels=False)
    assert found.ids == request.ids and found.names == (small.sha256, large.sha256)
    assert [n for _, n in found.ranges] == [4, 12]
    for first, n in found.ranges:
        assert set(found.ids[first : first + n]) == {chat.image_id}
        assert chat.image_id not in (found.ids[first - 1], found.ids[first + n])


@pytest.mark.parametrize("broken", ["short", "doubled", "one left out"])
def test_a_broken_placeholder_is_refused(chat: Chat, broken: str) -> None:
    """Doubled is what a second expansion makes of it (TRL #6294)."""
    request = request_of(chat, picture("a", 0, 56, 56), picture("b", 1, 112, 84))
    first, n = placeholders(request.ids, chat.image_id)[0]
    ids = list(request.ids)
    ids[first : first + n] = {"short": [chat.image_id] * (n - 1), "doubled": [chat.image_id] * 2 * n}.get(broken, [])
    with pytest.raises(ValueError, match=r"pictures are \[4, 12\] tokens long.*not written by kit.chat for these"):
        VLLMPolicy(Recorded(), chat).sample([replace(request, ids=tuple(ids))], SamplingParams(()))


def test_levels_are_the_pixels_before_they_were_normalised(chat: Chat) -> None:
    shown = picture("a", 3, 84, 56)
    pixels, levels = chat.pixels(shown), chat.levels(shown)
    assert levels.patches.dtype == torch.uint8 and levels.grid == pixels.grid
    # The first patch's first channel, row by row: the first frame, then (a still picture) the same again.
    corner = np.asarray(shown.image.convert("RGB"))[:14, :14, 0]
    assert np.array_equal(levels.patches[0, : 14 * 14].reshape(14, 14).numpy(), corner)
    processor = chat.image_processor
    red = (levels.patches[0, 0] * processor.rescale_factor - processor.image_mean[0]) / processor.image_std[0]
    assert float(red) == pytest.approx(float(pixels.patches[0, 0]), abs=1e-6)


def test_an_engine_is_asked_for_what_a_policy_promises(chat: Chat) -> None:
    engine = Recorded(*[Continuation((40, chat.end_id), (-0.1, -0.2), chat.end_id)] * 2, wants_levels=True)
    request = request_of(chat, picture("a", 0, 56, 56))
    params = SamplingParams(("</answer>",), 0.7, 33)
    VLLMPolicy(engine, chat).sample([replace(request, seed=5), replace(request, seed=6)], params)
    (contexts, (first, second)) = engine.asked[0]
    assert contexts[0].pixels[0].patches.dtype == torch.uint8
    assert (first["temperature"], first["max_tokens"], first["stop"]) == (0.7, 33, ["</answer>"])
    assert first["include_stop_str_in_output"] and first["stop_token_ids"] == [chat.end_id] and first["ignore_eos"]
    assert set(first["logit_bias"]) == set(chat.suppressed_ids)
    assert (first["seed"], second["seed"]) == (5, 6), "else a group's rollouts would all be the same"


@pytest.mark.parametrize(("ended_by", "finish"), [("</answer>", "stop"), (1, "eos"), (None, "length")])
def test_why_a_sample_ended(chat: Chat, ended_by: str | int | None, finish: str) -> None:
    engine = Recorded(Continuation((40, 41), (-0.1, -0.2), ended_by))
    assert VLLMPolicy(engine, chat).sample([request_of(chat)], SamplingParams(())) == [
        Completion((40, 41), (-0.1, -0.2), finish)
    ]


def test_what_must_not_be_said_ends_the_run(chat: Chat) -> None:
    for ids, what in (((40, chat.image_id), rf"ids \[{chat.image_id}\]"), ((), "nothing")):
        engine = Recorded(Continuation(ids, (-0.1,) * len(ids), None))
        with pytest.raises(EngineError, match=what):
            VLLMPolicy(engine, chat).sample([request_of(chat)], SamplingParams(()))


def test_a_rollout_begins_with_new_weights_and_nothing_remembered(chat: Chat) -> None:
    engine = Recorded()
    VLLMPolicy(engine, chat, refresh=lambda: engine.events.append("refresh")).reset()
    assert engine.events == ["refresh", "forget"], "what the old weights made must not outlive them"


class FakeLLM:
    """As much of ``vllm.LLM`` as an engine looks at when it is made; ``None``: of a version that can't normalise."""

    def __init__(self, logprobs_mode: str, normalises: bool | None = True) -> None:
        self.llm_engine = self
        self.model_config = self
        self.multimodal_config = self
        if normalises is not None:
            self.mm_device_do_normalize = normalises
        self.logprobs_mode = logprobs_mode


def test_an_engine_with_other_log_probabilities_is_refused() -> None:
    with pytest.raises(EngineError, match=r"logprobs_mode is 'raw_logprobs': make it with 'processed_logprobs'"):
        Engine(FakeLLM("raw_logprobs"))
    for normalises in (True, False, None):
        assert Engine(FakeLLM("processed_logprobs", normalises)).wants_levels == bool(normalises)


def test_what_a_version_does_not_know_is_left_out_only_where_it_saves_time() -> None:
    asked = {"dtype": "float32", "mm_device_do_normalize": True, "skip_mm_profiling": True, "logprobs_mode": "x"}
    assert known_options(asked, asked) == asked
    assert known_options(asked, ["dtype", "skip_mm_profiling"]) == {
        **{"dtype": "float32", "skip_mm_profiling": True},
        "logprobs_mode": "x",  # vLLM itself refuses it: without it, samples would be others
    }


@pytest.mark.parametrize("sleeps", [True, False])
def test_a_colocated_engine_is_awake_with_new_weights_while_it_samples(sleeps: bool) -> None:
    told: list[Any] = []
    llm: Any = FakeLLM("processed_logprobs")
    llm.wake_up, llm.sleep = lambda tags: told.append(tags), lambda level: told.append(level)
    generation = SimpleNamespace(llm=llm, enable_sleep_mode=sleeps, sync_weights=lambda: told.append("weights"))
    engine = Colocated(generation)
    engine.wake()
    engine.sleep()
    assert told == (["weights", ["kv_cache"], 2] if sleeps else ["weights"])


# ── evaluations ──────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which engines were opened (by their checkpoints' names) and closed."""
    told: list[str] = []
    core = SimpleNamespace(shutdown=lambda: told.append("closed"))

    def load(path: str | Path, **options: Any) -> Any:
        told.append(f"{Path(path).name} in {options['dtype']}")
        llm = SimpleNamespace(llm_engine=SimpleNamespace(engine_core=core))
        return SimpleNamespace(wants_levels=True, stream=lambda ready: iter(()), llm=llm)

    monkeypatch.setattr(Engine, "load", load)
    monkeypatch.setattr(OnDemand, "now", None)
    monkeypatch.setenv(ENGINE, "colocate")
    return told


def sampled(policy: VLLMPolicy) -> None:
    list(policy.engine.stream(lambda wait: []))


def test_an_evaluation_is_vllms_where_the_run_says_so(opened: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    model, chat = load_model_and_chat(TINY)
    policy = evaluator(HFPolicy(model, chat))
    assert isinstance(policy, VLLMPolicy) and evaluator(HFPolicy(model, chat)) is policy
    assert isinstance(load_evaluator(TINY)[0], VLLMPolicy)
    assert opened == [], "nothing is opened before something is sampled"
    for told in ("transformers", ""):
        monkeypatch.setenv(ENGINE, told)
        mine = HFPolicy(model, chat)
        assert evaluator(mine) is mine and isinstance(load_evaluator(TINY)[0], HFPolicy)


@pytest.mark.parametrize("change", ["a weight", "no folder", "it learns", "another family", "another policy"])
def test_a_model_that_vllm_would_not_find_in_its_folder_plays_itself(opened: list[str], change: str) -> None:
    model, chat = load_model_and_chat(TINY)
    assert isinstance(evaluator(HFPolicy(model, chat)), VLLMPolicy)
    policy = HFPolicy(model, chat)
    if change == "a weight":
        next(model.parameters()).data.view(-1)[7] += 1e-3
    elif change == "no folder":
        model = policy.model = fresh_model(model)
    elif change == "it learns":
        model.train()
    elif change == "another family":
        chat.family = InternVL3()
    else:
        policy = ForcedPolicy(model, chat, lambda episode: "")
    assert evaluator(policy) is policy
    assert opened == []


def fresh_model(model: Any) -> Any:
    """A model of the same sizes that was never saved."""
    config = deepcopy(model.config)
    config._name_or_path = ""
    return type(model)(config).eval()


def test_papers_play_evaluations_by_whom_the_run_says(monkeypatch: pytest.MonkeyPatch, chat: Chat) -> None:
    """Whichever way a notebook asks: how a paper plays, and single questions."""
    from kit.train import experiment
    from papers.agile import direct, general
    from papers.agile.experiment import Play
    from papers.mags_rl import baselines
    from papers.visual_arft import experiment as visual_arft

    seen: list[object] = []

    def rollout(policy: object, *_: object) -> list[Episode]:
        seen.append(policy)
        return []

    for module in (experiment, direct, general, baselines, visual_arft):
        monkeypatch.setattr(module, "evaluator", lambda policy: "vllm")
        monkeypatch.setattr(module, "rollout", rollout)
    policy, play = HFPolicy(None, chat), Play()
    play(policy, chat, Sandbox(), [])
    experiment.play_greedily(None, chat, Sandbox(), [], play)
    direct.ask(None, chat, [], play)
    general.ask(policy, chat, [])
    visual_arft.ask(None, chat, "direct", None, [], visual_arft.Play())
    assert seen == ["vllm"] * 5


@dataclass
class Learns:
    """A training that says when it begins."""

    run_dir: str
    told: list[str]
    settings: Any = None

    def __call__(self, watcher: Any = None) -> None:
        self.told.append("learns")


def test_one_engine_is_open_and_none_while_something_learns(opened: list[str], chat: Chat, tmp_path: Path) -> None:
    first, second = (VLLMPolicy(OnDemand(name, torch.float32), chat) for name in ("first", "second"))
    for policy in (first, first, second, first):
        policy.reset()
        sampled(policy)
    assert opened == ["first in float32", "closed", "second in float32", "closed", "first in float32"]
    launch(Learns(str(tmp_path), opened), ProcessConfig())
    assert opened[5:] == ["closed", "learns"]
    OnDemand.close()
    assert opened[7:] == []


def test_an_engine_that_can_not_be_opened_names_the_way_out(
    opened: list[str], chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(path: str, **options: Any) -> Any:
        raise RuntimeError("Engine core initialization failed")

    monkeypatch.setattr(Engine, "load", load)
    with pytest.raises(
        EngineError, match=r"no vLLM for m: Engine core .* failed; KIT_ROLLOUT_ENGINE=transformers does"
    ):
        sampled(VLLMPolicy(OnDemand("m", torch.float32), chat))


VLLM_SETTINGS = {
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "VLLM_LOGGING_LEVEL": "ERROR",
}

# ── with vLLM ────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module", params=["levels", "normalised"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """The committed tiny model; pixels as TRL's colocated engine wants them (vLLM's default), and as they are."""
    pytest.importorskip("vllm", reason="needs vLLM: make test-vllm")
    os.environ |= VLLM_SETTINGS | {
        "VLLM_ENABLE_V1_MULTIPROCESSING": "0"
    }  # in this process, so that it can be looked at
    levels = request.param == "levels"
    engine = Engine.load(
        *(TINY,), dtype="float32", enforce_eager=True, skip_mm_profiling=True, mm_device_do_normalize=levels, seed=0
    )
    assert engine.wants_levels == levels
    yield engine


@pytest.fixture(scope="module")
def tiny() -> tuple[Any, Chat]:
    return load_model(TINY), Chat.from_pretrained(TINY)


class Album:
    """An environment that answers every turn with two more pictures, of any size."""

    def __init__(self) -> None:
        self.protocol = Protocol(actions=())
        self.rng = np.random.default_rng(0)

    def _two(self) -> tuple[NamedImage, ...]:
        sizes = self.rng.integers(40, 225, size=(2, 2))
        return tuple(
            picture(f"image_{k}", int(self.rng.integers(1 << 30)), int(w), int(h)) for k, (w, h) in enumerate(sizes)
        )

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, dict]:
        assert options is not None
        self.rng = np.random.default_rng(int(options["task"].id))
        return Observation(""), {}

    def prompt(self, task: Task) -> tuple[str, Any]:
        one, other = self._two()
        return "see", ["first: ", one, "second: ", other, task.question]

    def step(self, action: str) -> tuple[Observation, float, bool, bool, dict]:
        return Observation("What is it?", self._two()), 0.0, False, False, {"action": None}

    def close(self) -> None: ...


def play(policy: Any, chat: Chat, n: int, params: SamplingParams) -> list[Episode]:
    questions = ("What is it?", "What does the flag look like?", "Which number is it?", "Is it dark?")
    tasks = []
    for i in range(n):
        album = Album()
        album.reset(options={"task": Task(str(i), (), "", None)})
        tasks.append(Task(str(i), album._two(), questions[i % 4], None))
    config = RolloutConfig(3, params.max_new_tokens, 4000, stops=params.stops, temperature=params.temperature)
    return rollout(policy, chat, tasks, Album, config)


def test_256_episodes_are_the_same_as_transformers(engine: Engine, tiny: tuple[Any, Chat], sampler_gap: float) -> None:
    """Greedy, three turns, six pictures each: the same ids in 99 %, log-probabilities within a thousandth."""
    model, chat = tiny
    params = SamplingParams(("</think>", "."), 0.0, 24)
    theirs = play(VLLMPolicy(engine, chat), chat, 256, params)
    ours = play(HFPolicy(model, chat), chat, 256, params)
    assert all(len(e.turns) == 3 and len(e.images) == 6 for e in ours)
    same = [(a, b) for a, b in zip(ours, theirs, strict=True) if a.ids == b.ids and len(a.turns) == len(b.turns)]
    gap = max(
        abs(x - y)
        for a, b in same
        for turn, other in zip(a.turns, b.turns, strict=True)
        for x, y in zip(turn.logprobs, other.logprobs, strict=True)
    )
    print(f"{len(same)} of 256 episodes identical, log-probabilities within {gap:.1e}")
    assert len(same) >= 0.99 * 256
    assert gap < sampler_gap


def forward_logprobs(
    model: Any, chat: Chat, request: GenerationRequest, sample: Completion, temperature: float
) -> list[float]:
    """What one forward pass of transformers says of the sampled ids."""
    logits = forward_logits(model, chat, [*request.ids, *sample.ids], request.images)[len(request.ids) - 1 :]
    logp = torch.log_softmax(suppress_logits(logits, chat.suppressed_ids) / temperature, -1)
    return [float(logp[k, i]) for k, i in enumerate(sample.ids)]


def test_sampled_log_probabilities_are_the_trainers(engine: Engine, tiny: tuple[Any, Chat], sampler_gap: float) -> None:
    """At temperature 1.3, so that taking them before it would be seen; and the same seed samples the same."""
    model, chat = tiny
    request = request_of(chat, picture("a", 0, 90, 120), picture("b", 1, 112, 84))
    params = SamplingParams((), 1.3, 30)
    policy = VLLMPolicy(engine, chat)
    group = [replace(request, seed=seed) for seed in range(8)]
    samples = policy.sample(group, params)
    assert len({sample.ids for sample in samples}) > 1
    assert [sample.ids for sample in policy.sample(group[::-1], params)[::-1]] == [sample.ids for sample in samples]
    assert policy.sample([replace(one, seed=one.seed + 8) for one in group], params) != samples
    for sample in samples:
        assert sample.logprobs == pytest.approx(forward_logprobs(model, chat, request, sample, 1.3), abs=sampler_gap)


def test_stop_strings_and_the_turns_end_stay(engine: Engine, tiny: tuple[Any, Chat]) -> None:
    _, chat = tiny
    request = request_of(chat, picture("a", 0, 112, 112))
    policy = VLLMPolicy(engine, chat)
    (stopped,) = policy.sample([request], SamplingParams((".",), 0.0, 30))
    assert stopped.finish == "stop" and chat.decode(stopped.ids).endswith(".")
    (ended,) = policy.sample([request], SamplingParams((), 0.0, 30))
    assert ended.finish == "eos" and ended.ids == (*stopped.ids, chat.end_id)
    (cut,) = policy.sample([request], SamplingParams((), 0.0, 3))
    assert cut.finish == "length" and cut.ids == ended.ids[:3]


def test_forbidden_ids_are_never_sampled(engine: Engine, tiny: tuple[Any, Chat]) -> None:
    """After a context of turns' ends alone the model would say one in a hundred times or so."""
    model, chat = tiny
    request, params = GenerationRequest((chat.end_id,) * 5, ()), SamplingParams((), 2.0, 1)
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([request.ids])).logits[0, -1]
    mass = float(torch.softmax(logits / params.temperature, -1)[list(chat.suppressed_ids)].sum())
    samples = VLLMPolicy(engine, chat).sample([request] * 2048, params)
    assert mass * len(samples) > 10, "else this could pass by chance"
    assert not {i for sample in samples for i in sample.ids} & set(chat.suppressed_ids)


def test_nothing_outlives_the_weights_it_was_made_with(
    engine: Engine, tiny: tuple[Any, Chat], sampler_gap: float
) -> None:
    """The vision tower is changed, in the engine and in the model: a new rollout sees by the new one alone."""
    model, chat = tiny
    request = request_of(chat, *(picture(f"p{k}", k, 224, 224) for k in range(4)))  # longer than a block of the cache
    policy, params = VLLMPolicy(engine, chat), SamplingParams((), 0.0, 12)

    def turn_around() -> None:
        engine.llm.apply_model(lambda model: model.visual.merger.ln_q.weight.data.neg_().sum())
        model.model.visual.merger.ln_q.weight.data.neg_()

    def both() -> tuple[Completion, Completion]:
        policy.reset()
        return policy.sample([request], params)[0], HFPolicy(model, chat).sample([request], params)[0]

    before, _ = both()
    turn_around()
    try:
        ours, theirs = both()
    finally:
        turn_around()
    assert ours.ids == theirs.ids and ours.ids != before.ids
    assert ours.logprobs == pytest.approx(theirs.logprobs, abs=sampler_gap)
    assert both()[0] == before


def test_a_call_that_failed_leaves_nothing_behind(engine: Engine, tiny: tuple[Any, Chat]) -> None:
    _, chat = tiny
    policy, request = VLLMPolicy(engine, chat), request_of(chat, picture("a", 0, 56, 56))
    params = SamplingParams((), 0.0, 6)
    right = policy.sample([request], params)
    far = GenerationRequest(request.ids * 400, request.images * 400)  # longer than the engine takes
    with pytest.raises(EngineError, match=r"refused request 1 \(13600 ids\).*longer than the maximum model length"):
        policy.sample([request, far], params)
    assert not engine.llm.llm_engine.has_unfinished_requests()
    assert policy.sample([request], params) == right


def test_an_evaluation_by_vllm_is_transformers_and_the_model_that_has_learnt_plays_itself(
    tiny: tuple[Any, Chat], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine is in a process of its own here, as beside a notebook; closed, and opened again, it says the same."""
    pytest.importorskip("vllm", reason="needs vLLM: make test-vllm")
    for name, value in {**VLLM_SETTINGS, "VLLM_ENABLE_V1_MULTIPROCESSING": "1", ENGINE: "colocate"}.items():
        monkeypatch.setenv(name, value)
    model, chat = load_model_and_chat(TINY)
    policy = evaluator(HFPolicy(model, chat))
    assert isinstance(policy, VLLMPolicy)
    params = SamplingParams((".",), 0.0, 12)
    try:
        for _ in range(2):
            found = play(policy, chat, 6, params)
            assert [e.ids for e in found] == [e.ids for e in play(HFPolicy(model, chat), chat, 6, params)]
            OnDemand.close()
    finally:
        OnDemand.close()
