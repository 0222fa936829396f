"""Sampling: as transformers' generate, alone or in a batch, with or without what it remembers."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from PIL import Image

from kit.chat import Chat
from kit.episode import Episode, NamedImage, Observation, Task, Turn
from kit.policy import Completion, GenerationRequest, SamplingParams
from kit.policy.hf import HFPolicy
from kit.policy.open_turn import OpenTurn
from kit.policy.scripted import ScriptedPolicy
from kit.policy.suppress import suppress_logits
from kit.rollout import content

GREEDY = SamplingParams(stops=(), temperature=0, max_new_tokens=12)


def requests_of(chat: Chat, tasks: list[Task]) -> list[GenerationRequest]:
    """Contexts of different lengths and numbers of pictures."""
    requests = []
    for i, task in enumerate(tasks):
        pictures = task.images[: 1 + i % 4]
        parts: list[Any] = [f"{i} " * i]
        for picture in pictures:
            parts += ["Image: ", picture]
        requests.append(GenerationRequest(tuple(chat.prompt("see", parts)), tuple(pictures)))
    return requests


def forward_logits(model: Any, chat: Chat, ids: list[int], images: tuple[NamedImage, ...]) -> torch.Tensor:
    row = torch.tensor([ids])
    pixels = [chat.pixels(p) for p in images]
    with torch.no_grad():
        return model(
            input_ids=row,
            attention_mask=torch.ones_like(row),
            mm_token_type_ids=(row == chat.image_id).long(),
            pixel_values=torch.cat([p.patches for p in pixels]),
            image_grid_thw=torch.tensor([p.grid for p in pixels]),
        ).logits[0]


def test_eight_at_once_equal_eight_alone(model: Any, chat: Chat, tasks: list[Task]) -> None:
    requests = requests_of(chat, tasks)
    together = HFPolicy(model, chat).sample(requests, GREEDY)
    for request, sample in zip(requests, together, strict=True):
        policy = HFPolicy(model, chat)
        alone = policy.sample([request], GREEDY)[0]
        assert alone.ids == sample.ids
        assert alone.logprobs == pytest.approx(sample.logprobs, abs=1e-5)


def test_logprobs_are_those_of_one_forward_pass(model: Any, chat: Chat, tasks: list[Task]) -> None:
    request = requests_of(chat, tasks)[3]
    sample = HFPolicy(model, chat).sample([request], SamplingParams(stops=(), temperature=1.0, max_new_tokens=9))[0]
    logits = forward_logits(model, chat, [*request.ids, *sample.ids], request.images)
    logits[:, list(chat.suppressed_ids)] = -1e9
    logp = torch.log_softmax(logits, -1)
    first = len(request.ids)
    expected = [logp[first - 1 + k, token].item() for k, token in enumerate(sample.ids)]
    assert sample.logprobs == pytest.approx(expected, abs=1e-5)


def test_remembered_turns_equal_fresh_ones(model: Any, chat: Chat, tasks: list[Task]) -> None:
    """Three turns with a picture after each, sampled: with and without the prefix store."""

    def play(policy: HFPolicy) -> list[list[Completion]]:
        episodes = [Episode(task, tuple(chat.prompt("s", [*task.images]))) for task in tasks for _ in range(2)]
        turns = []
        for k in range(3):
            requests = [GenerationRequest(tuple(e.ids), e.images, e, 100 * i + k) for i, e in enumerate(episodes)]
            samples = policy.sample(requests, SamplingParams(stops=("x",), max_new_tokens=8))
            side = 56 + 28 * k
            seen = Observation("now ", (NamedImage(f"o{k}", Image.new("RGB", (side, side), (k * 80, 9, 200))),))
            turns.append(samples)
            episodes = [
                e.add(Turn(s.ids, s.logprobs, "", None, seen, tuple(chat.reply(content(seen), closed=False))))
                for e, s in zip(episodes, samples, strict=True)
            ]
        return turns

    remembered, fresh = play(HFPolicy(model, chat)), play(HFPolicy(model, chat, cache_bytes=0))
    for one, other in zip(remembered, fresh, strict=True):
        assert [s.ids for s in one] == [s.ids for s in other]
        for a, b in zip(one, other, strict=True):
            assert a.logprobs == pytest.approx(b.logprobs, abs=1e-5)


def test_new_weights_after_a_reset(model: Any, chat: Chat, tasks: list[Task]) -> None:
    """What was remembered of old weights is gone after reset()."""
    policy = HFPolicy(model, chat)
    request = requests_of(chat, tasks)[0]
    before = policy.sample([request], GREEDY)[0]
    longer = GenerationRequest((*request.ids, *before.ids, 5), request.images)
    assert policy._store.find(longer) is not None
    policy.reset()
    assert policy._store.find(longer) is None


def test_a_context_met_again_is_counted_once(model: Any, chat: Chat, tasks: list[Task]) -> None:
    """A group that says the same, or a task asked again: else the count alone would fill the store and empty it."""
    policy = HFPolicy(model, chat)
    one = requests_of(chat, tasks)[0]
    for several in (1, 4, 4, 8):
        policy.sample([one] * several, GREEDY)
        held = [t for prefix in policy._store._entries.values() for t in (*prefix.keys, *prefix.values)]
        assert policy._store._bytes == sum(t.numel() * t.element_size() for t in held) > 0


def test_a_requests_seed_fixes_its_sample(model: Any, chat: Chat, tasks: list[Task]) -> None:
    """Whatever else is sampled in the same call, in which order, and in how large a batch."""
    params = SamplingParams(stops=("e",), max_new_tokens=12)
    requests = [replace(r, seed=i) for i, r in enumerate([r for r in requests_of(chat, tasks) for _ in range(4)])]
    first = HFPolicy(model, chat).sample(requests, params)
    assert [s.ids for s in HFPolicy(model, chat, batch_size=3).sample(requests[::-1], params)[::-1]] == [
        s.ids for s in first
    ]
    for request, sample in zip(requests, first, strict=True):
        assert HFPolicy(model, chat).sample([request], params)[0].ids == sample.ids
    other = HFPolicy(model, chat).sample([replace(r, seed=r.seed + 100) for r in requests], params)
    assert len({s.ids for s in first}) > 8 and [s.ids for s in other] != [s.ids for s in first]


def test_tokens_are_sampled_as_often_as_the_distribution_says(model: Any, chat: Chat, tasks: list[Task]) -> None:
    """The first token of 4,000 turns of one context, at temperature 2: Pearson's χ² over the ids to be met 5 times."""
    (request, *_), n = requests_of(chat, tasks), 4000
    params = SamplingParams(stops=(), temperature=2.0, max_new_tokens=1)
    policy = HFPolicy(model, chat, batch_size=500, cache_bytes=0)
    samples = policy.sample([replace(request, seed=s) for s in range(n)], params)
    met = torch.zeros(len(chat.tokenizer))
    for sample in samples:
        met[sample.ids[0]] += 1
    pixels = [chat.pixels(p) for p in request.images]
    ids = torch.tensor([request.ids])
    with torch.no_grad():
        logits = model(
            input_ids=ids,
            mm_token_type_ids=(ids == chat.image_id).long(),
            pixel_values=torch.cat([p.patches for p in pixels]),
            image_grid_thw=torch.tensor([p.grid for p in pixels]),
        ).logits[0, -1, : len(chat.tokenizer)]
    wanted = n * torch.softmax(suppress_logits(logits / 2, chat.suppressed_ids), -1)
    often = wanted >= 5
    assert int(often.sum()) > 20
    chi_squared = float(((met - wanted)[often] ** 2 / wanted[often]).sum())
    freedom = int(often.sum())
    assert abs(chi_squared - freedom) < 4 * (2 * freedom) ** 0.5


def test_forbidden_tokens_are_never_sampled(model: Any, chat: Chat, tasks: list[Task]) -> None:
    """Hot sampling visits the whole vocabulary, but never a control token."""
    requests = [replace(requests_of(chat, tasks)[0], seed=seed) for seed in range(32)]
    samples = HFPolicy(model, chat).sample(requests, SamplingParams(stops=(), temperature=50.0, max_new_tokens=40))
    said = {token for sample in samples for token in sample.ids}
    assert len(said) > 200
    assert not said & set(chat.suppressed_ids)


def test_a_stop_string_ends_the_turn_and_stays(model: Any, chat: Chat, tasks: list[Task]) -> None:
    request = requests_of(chat, tasks)[0]
    free = HFPolicy(model, chat).sample([request], GREEDY)[0]
    stop = chat.decode(free.ids[:4])[-1:]
    stopped = HFPolicy(model, chat).sample([request], SamplingParams(stops=(stop,), temperature=0, max_new_tokens=12))[
        0
    ]
    assert stopped.finish == "stop"
    assert stopped.ids == free.ids[: len(stopped.ids)]
    assert stop in chat.decode(stopped.ids) and stop not in chat.decode(stopped.ids[:-1])


@pytest.mark.parametrize("stop", ["</answer>", "完", "é", "答案。", "🙂", "»", " |", "</réponse>"])
def test_a_stop_string_is_seen_whatever_its_tokens(model: Any, chat: Chat, stop: str) -> None:
    """A token may be a part of a character, which alone is none."""
    turn = OpenTurn((stop,), chat.end_id, HFPolicy(model, chat)._pieces, 0)
    ids = chat.text(f"two 两 é{stop}, more")
    ends = [turn.add(i, 0.0) for i in ids]
    assert any(ends) and stop in chat.decode(turn.ids) and "more" not in chat.decode(turn.ids)


@pytest.mark.parametrize("bad", [{"temperature": -1.0}, {"max_new_tokens": 0}])
def test_impossible_parameters_are_named(bad: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(bad))):
        SamplingParams(stops=(), **bad)  # type: ignore[arg-type]


def test_a_script_needs_an_episode(chat: Chat) -> None:
    with pytest.raises(ValueError, match="no episode"):
        ScriptedPolicy(chat, lambda episode: "hi").sample([GenerationRequest((1,), ())], GREEDY)
