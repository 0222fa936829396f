"""Cold start: filter, balancing, and collecting that survives what goes wrong."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_openai import FakeOpenAI

from kit.chat import Chat
from kit.data.store import load_episodes
from kit.episode import Action, Episode, Observation, Task, Turn
from kit.policy import Completion, SamplingParams
from kit.policy.endpoint import EndpointError, ServedPolicy
from kit.policy.scripted import ScriptedPolicy
from kit.protocol import FormatError
from kit.rollout import RolloutConfig
from kit.train.demonstrations import collect
from papers.agile.demonstrations import KINDS, Counts, action_kind, balance, curate, is_sound, kinds
from papers.agile.env import PROTOCOL
from papers.agile.expert import STEPS, ScriptedExpert

CONFIG = RolloutConfig(max_turns=9, max_new_tokens=400, max_episode_tokens=10**6)


class Blind:
    """The jigsaw without a sandbox: every code runs and shows nothing."""

    protocol = PROTOCOL

    def prompt(self, task: Task) -> tuple[str, list[Any]]:
        return "solve", [f"task {task.id} ", *task.images]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, dict]:
        return Observation(""), {}

    def step(self, action: str) -> tuple[Observation, float, bool, bool, dict]:
        parsed = PROTOCOL.parse(action)
        if isinstance(parsed, FormatError):
            return Observation("no", status="format"), 0.0, True, False, {"action": None}
        return Observation("fine"), 0.0, parsed.name == "answer", False, {"action": parsed}

    def close(self) -> None: ...


def played(task: Task, steps: int, seed: int = 0) -> Episode:
    """The expert's episode, without an environment."""
    texts = ScriptedExpert(task, np.random.default_rng(seed), steps).turns
    turns = [Turn((), (), text, PROTOCOL.parse(text), Observation("fine")) for text in texts]  # type: ignore[arg-type]
    turns[-1] = replace(turns[-1], observation=None)
    return Episode(task, (), tuple(turns), "answer")


def test_kinds_of_action() -> None:
    assert action_kind("state[0], state[1] = state[1], state[0]\nobservation_image_1 = observation(state)") == "swap"
    assert action_kind("state = ['B', 'A']\nobservation_image_1 = observation(state)") == "swap"
    assert action_kind("observation_image_2 = observation(state)") == "observe"
    assert action_kind("crop_image_1 = crop(observation_image_1, [0, 0, 1, 1])") == "crop"
    assert action_kind("zoom_image_1 = zoom(A, 2)") == "zoom"
    assert action_kind("```python\nzoom_image_1 = zoom(A, 2)\n```\nNext I crop (a corner).") == "zoom"
    assert action_kind("First crop (a corner):\n```\nzoom_image_1 = zoom(A, 2)\n```") == "zoom"
    assert action_kind("print(state == ['A'])") == "other"


def test_the_filter_wants_right_well_formed_and_run(tasks: list[Task]) -> None:
    good = played(tasks[0], 5)
    assert is_sound(good)
    wrong = replace(good, task=replace(tasks[0], target=tuple(reversed(tasks[0].target))))
    untagged = replace(good.turns[0], text="Hm. " + good.turns[0].text)
    failed = replace(good.turns[1], observation=Observation("Error: x", status="error"))
    unfinished = replace(good, turns=good.turns[:-1], ended="turns")
    assert not is_sound(wrong)
    assert not is_sound(replace(good, turns=(untagged, *good.turns[1:])))
    assert not is_sound(replace(good, turns=(good.turns[0], failed, *good.turns[2:])))
    assert not is_sound(unfinished)


def test_balancing_evens_out_steps_and_kinds(tasks: list[Task]) -> None:
    rng = np.random.default_rng(0)
    # Levels are evened out first; level 0 is full of swaps whatever is chosen of it.
    easy = [task for task in tasks if task.meta["level"] > 0]
    # Most plays are short and full of swaps, as an impatient expert's are.
    steps = [int(s) for s in rng.choice(STEPS, 600, p=[0.6, 0.1, 0.1, 0.1, 0.1])]
    some = [played(easy[i % len(easy)], s, i) for i, s in enumerate(steps)]
    kept = balance(some, 100, np.random.default_rng(1))
    assert Counter(e.calls for e in kept) == dict.fromkeys(STEPS, 20)
    assert len({id(e) for e in kept}) == 100

    def spread(episodes: list[Episode]) -> float:
        total = sum((kinds(e) for e in episodes), Counter())
        shares = np.array([total[k] for k in KINDS]) / sum(total.values())
        return float(shares.max() - shares.min())

    naive = [e for s in STEPS for e in [x for x in some if x.calls == s][:20]]
    assert spread(kept) < 0.5 * spread(naive)
    assert [id(e) for e in balance(some, 100, np.random.default_rng(1))] == [id(e) for e in kept]


def test_balancing_evens_out_levels(tasks: list[Task]) -> None:
    at = {level: next(t for t in tasks if t.meta["level"] == level) for level in (0, 1, 2)}
    some = [played(at[(0, 1, 1, 2, 2, 2)[i % 6]], STEPS[i % 5], i) for i in range(600)]
    kept = balance(some, 150, np.random.default_rng(0))
    assert Counter(e.task.meta["level"] for e in kept) == {0: 50, 1: 50, 2: 50}
    assert Counter(e.calls for e in kept) == dict.fromkeys(STEPS, 30)


def test_what_one_number_of_steps_lacks_the_others_fill(tasks: list[Task]) -> None:
    some = [played(tasks[0], 4, i) for i in range(2)] + [played(tasks[0], 8, i) for i in range(20)]
    assert Counter(e.calls for e in balance(some, 10, np.random.default_rng(0))) == {4: 2, 8: 8}
    assert len(balance(some, 100, np.random.default_rng(0))) == 22
    assert balance([], 5, np.random.default_rng(0)) == []


def test_the_report_counts_before_and_after(tasks: list[Task]) -> None:
    some = [played(t, 4 + i % 5, i) for i, t in enumerate(tasks)]
    bad = replace(some[0], turns=(Turn((), (), "?", Action("code", "1")),), ended="turns")
    kept, report = curate([*some, bad], 5, np.random.default_rng(0))
    assert (report.collected.episodes, report.sound.episodes, report.balanced.episodes) == (9, 8, 5)
    assert report.collected.kinds["other"] == 1 and "other" not in report.sound.kinds
    assert report.balanced == Counts.of(kept) and report.balanced.steps == dict.fromkeys(STEPS, 1)
    assert "collected 9 episodes" in str(report)


def guessed(task: Task, right: bool) -> Episode:
    """An episode that answers at once."""
    text = f"<think>Guess.</think><answer>{list(task.target if right else reversed(task.target))}</answer>"
    return Episode(task, (), (Turn((), (), text, PROTOCOL.parse(text)),), "answer")  # type: ignore[arg-type]


def test_a_share_of_guesses_is_kept_beside_the_sound_ones_right_or_wrong(tasks: list[Task]) -> None:
    sound = [played(tasks[k % 8], STEPS[k % 5], k) for k in range(40)]
    silent = [guessed(tasks[k % 8], k % 4 == 0) for k in range(40)]
    kept, report = curate([*sound, *silent], 20, np.random.default_rng(0), guesses=0.6)
    assert Counter(e.calls == 0 for e in kept) == {True: 12, False: 8}
    assert [e for e in silent if any(e is k for k in kept)] == silent[:12], "three of them are right, nine wrong"
    assert (report.sound.episodes, report.balanced.steps[0]) == (40, 12) and 0 not in report.sound.steps
    assert 3 <= sum(e.calls == 0 for e in kept[:10]) <= 9, "mixed: the first of them are of both kinds"
    few, _ = curate([*sound, *silent[:3]], 20, np.random.default_rng(0), guesses=0.6)
    assert Counter(e.calls == 0 for e in few) == {True: 3, False: 17}, "what guesses can't fill, sound ones do"


def test_without_a_share_no_guess_is_kept(tasks: list[Task]) -> None:
    sound = [played(tasks[k % 8], STEPS[k % 5], k) for k in range(10)]
    kept, _ = curate([*sound, *(guessed(task, True) for task in tasks)], 20, np.random.default_rng(0))
    assert len(kept) == 10 and all(episode.calls for episode in kept)


def expert(episode: Episode) -> str:
    return ScriptedExpert(episode.task, np.random.default_rng(0), 4)(episode)


def test_collecting_goes_on_where_it_stopped(chat: Chat, tasks: list[Task], tmp_path: Path) -> None:
    path = tmp_path / "all.jsonl"

    class Fails(ScriptedPolicy):
        def sample(self, requests: Any, params: SamplingParams) -> list[Completion]:
            if any(r.episode.task.id == "task-5" for r in requests):
                raise KeyboardInterrupt
            return super().sample(requests, params)

    with pytest.raises(KeyboardInterrupt):
        collect(Fails(chat, expert), chat, tasks, Blind, CONFIG, path, chunk=2)
    assert [e.task.id for e in load_episodes(path)] == ["task-0", "task-1", "task-2", "task-3"]
    with path.open("ab") as file:
        file.write(b'{"schema": 1, "ki')  # and the machine went down while writing the next

    asked: list[str] = []

    def remembering(episode: Episode) -> str:
        asked.append(episode.task.id)
        return expert(episode)

    seen: list[tuple[int, int]] = []
    policy = ScriptedPolicy(chat, remembering)
    got = collect(policy, chat, tasks, Blind, CONFIG, path, chunk=2, progress=lambda *p: seen.append(p))
    assert [e.task.id for e in got] == [t.id for t in tasks] == [e.task.id for e in load_episodes(path)]
    assert set(asked) == {f"task-{i}" for i in range(4, 8)} and seen == [(4, 8), (6, 8), (8, 8)]
    assert all(is_sound(e) for e in got)


def test_episodes_of_another_tokenizer_are_refused(chat: Chat, tasks: list[Task], tmp_path: Path) -> None:
    from tiny.build import build_image_processor, build_tokenizer

    path = tmp_path / "all.jsonl"
    collect(ScriptedPolicy(chat, expert), chat, tasks[:1], Blind, CONFIG, path)
    other = Chat(build_tokenizer(["completely other words"] * 9, 300), build_image_processor())
    with pytest.raises(ValueError, match="another tokenizer"):
        collect(ScriptedPolicy(other, expert), other, tasks[:2], Blind, CONFIG, path)


def test_a_task_that_changed_is_not_taken_for_the_stored_one(chat: Chat, tasks: list[Task], tmp_path: Path) -> None:
    path = tmp_path / "all.jsonl"
    collect(ScriptedPolicy(chat, expert), chat, tasks[:1], Blind, CONFIG, path)
    changed = replace(tasks[0], question="Another question?")
    with pytest.raises(ValueError, match=f"{tasks[0].id} was played with another question"):
        collect(ScriptedPolicy(chat, expert), chat, [changed], Blind, CONFIG, path)


def test_what_is_right_is_what_is_asked_for_now(chat: Chat, tasks: list[Task], tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    collect(ScriptedPolicy(chat, expert), chat, tasks[:2], Blind, CONFIG, path)
    now = [replace(task, target=task.target[::-1], meta={**task.meta, "level": 9}) for task in tasks[:3]]
    again = collect(ScriptedPolicy(chat, expert), chat, now, Blind, CONFIG, path)
    assert [e.task for e in again] == now
    assert len(load_episodes(path)) == 3, "the first two aren't played again"


@pytest.mark.parametrize("places", [(0, 0), (0, 1, 0), (1, 2, 2)])
def test_two_tasks_of_one_id_are_refused(
    chat: Chat, tasks: list[Task], tmp_path: Path, places: tuple[int, ...]
) -> None:
    some = [replace(tasks[k], id=tasks[place].id) for k, place in enumerate(places)]
    with pytest.raises(ValueError, match="stands among the tasks twice"):
        collect(ScriptedPolicy(chat, expert), chat, some, Blind, CONFIG, tmp_path / "e.jsonl")


def test_an_episode_in_which_nothing_was_said_is_played_again(chat: Chat, tasks: list[Task], tmp_path: Path) -> None:
    path = tmp_path / "all.jsonl"
    (empty,) = collect(ScriptedPolicy(chat, lambda episode: ""), chat, tasks[:1], Blind, CONFIG, path)
    assert not any(turn.text for turn in empty.turns) and empty.turns
    for policy in (ScriptedPolicy(chat, expert), ScriptedPolicy(chat, lambda episode: "never asked")):
        (played,) = collect(policy, chat, tasks[:1], Blind, CONFIG, path)
        assert is_sound(played)


def answering(tasks: list[Task]) -> Any:
    """A model that plays like the expert, knowing the conversation only by its messages."""

    def reply(body: dict[str, Any]) -> str:
        said = [m for m in body["messages"] if m["role"] == "assistant"]
        name = body["messages"][1]["content"][0]["text"].split()[1]
        task = next(t for t in tasks if t.id == name)
        return ScriptedExpert(task, np.random.default_rng(0), 4).turns[len(said)]

    return reply


def test_an_endpoints_play_is_collected_and_kept_when_it_fails(chat: Chat, tasks: list[Task], tmp_path: Path) -> None:
    path = tmp_path / "all.jsonl"
    with FakeOpenAI(answering(tasks)) as server:
        nothing = '{"choices": [{"message": {"content": null}, "finish_reason": "stop"}]}'
        server.faults = ["429", nothing]  # passing trouble in the first turn

        def policy() -> ServedPolicy:
            return ServedPolicy(server.url, "tiny", chat, retries=2, sleep=lambda seconds: None)

        first = collect(policy(), chat, tasks[:3], Blind, CONFIG, path, chunk=3)
        assert all(is_sound(e) for e in first)
        server.faults = ["500"] * 1000
        with pytest.raises(EndpointError, match="what is stored is kept"):
            collect(policy(), chat, tasks[:6], Blind, CONFIG, path, chunk=3)
        assert len(load_episodes(path)) == 3
        server.faults, before = [], len(server.bodies)
        everything = collect(policy(), chat, tasks[:6], Blind, CONFIG, path, chunk=3)
    assert len(server.bodies) - before == 3 * 5  # only the three that were missing, five turns each
    kept, report = curate(everything, 4, np.random.default_rng(0))
    assert len(kept) == 4 and report.sound.episodes == 6
