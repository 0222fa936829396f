"""The five questions over saved stages: names, differences by hand, several seeds, what is played again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kit.chat import Chat
from kit.episode import Action, Episode, Observation, Task, Turn
from kit.evaluate import five
from kit.evaluate.accuracy import accuracy_evaluation
from kit.evaluate.five import play, questions, shown
from kit.evaluate.five.answers import answered, answers, difference, own_numbers
from kit.evaluate.intervals import Interval
from kit.evaluate.outcomes import Evaluation, Outcome
from papers.results import write_results

NAMES = "abcd"


def is_right(episode: Episode, target: Any) -> bool:
    return episode.answer == target


def slices(outcomes: Sequence[Outcome]) -> Iterator[tuple[str, list[Outcome]]]:
    yield "all", list(outcomes)
    yield "hard", [o for o in outcomes if o.task in "cd"]


EASY: Evaluation[Outcome] = replace(accuracy_evaluation("made", is_right), slices=slices)


def episode(name: str, right: bool, tools: Sequence[str] = (), status: str = "ok") -> Episode:
    """One task's episode: calls, then an answer."""
    turns = [Turn((1,), (0.0,), "", Action(t, ""), Observation(t, status=status), (2,)) for t in tools]  # type: ignore[arg-type]
    answer = Turn((1,), (0.0,), "", Action("answer", "yes" if right else "no"))
    return Episode(Task(name, (), "?", "yes"), (9,), (*turns, answer), "answer")


def stage(marks: str, tools: Sequence[str] = ()) -> list[Episode]:
    return [episode(name, mark == "+", tools) for name, mark in zip(NAMES, marks, strict=True)]


ROWS = [{"frac_zero_std_groups": flat, "entropy": 1.0 - flat, "calls": 1 + flat} for flat in (0.0, 0.25, 0.5, 0.75)]


def run(folder: Path, direct: bool = True, **marks: str) -> Path:
    """A run with all stages; ``sft_samples`` has two tries of each task."""
    known = {"sft": "+---", "grpo": "+++-", "grpo_own": "+++-", "grpo_swapped": "+---", "grpo_blank": "----"}
    known |= {"grpo_without_tools": "----"} | ({"direct": "++--"} if direct else {}) | marks
    for name, text in known.items():
        tools = ("search", "code") if name == "grpo_own" else ()
        EASY.save_stage(folder, name.replace("_", "-"), stage(text, tools))
    tried = [
        episode(name, mark == "+") for name, pair in zip(NAMES, ("+-", "--", "++", "-+"), strict=True) for mark in pair
    ]
    EASY.save_stage(folder, "sft-samples", tried)
    return folder


def test_the_answers_of_one_run_by_hand(tmp_path: Path) -> None:
    found = answers(EASY, [run(tmp_path)], [ROWS], [0.125], tries=2)
    grpo = {name: interval.value for name, interval in found["grpo"].items()}
    assert grpo["gain_over_sft"] == 3 / 4 - 1 / 4 and grpo["gain_over_sft_hard"] == 1 / 2 - 0
    assert grpo["gain_over_direct"] == 3 / 4 - 2 / 4 and grpo["gain_over_direct_hard"] == 1 / 2
    assert grpo["observation_gap_swapped"] == 3 / 4 - 1 / 4 and grpo["observation_gap_blank"] == 3 / 4
    assert grpo["accuracy_own"] == 3 / 4 and grpo["accuracy_without_tools"] == 0
    assert grpo["calls_per_episode"] == 2 and grpo["calls_of_search"] == grpo["calls_of_code"] == 1
    assert grpo["calls_that_succeed"] == 1 and found["grpo"]["calls_that_succeed"].n == 8
    assert grpo["zero_spread_groups"] == 1.5 / 4 and grpo["weight_change"] == 0.125
    assert (grpo["entropy_at_first"], grpo["entropy_at_last"]) == (1.0, 0.25)
    assert (grpo["calls_at_first"], grpo["calls_at_last"]) == (1.0, 1.75)
    assert found["sft"]["pass_at_1"].value == 4 / 8 and found["sft"]["pass_at_2"].value == 3 / 4
    assert found["sft"]["pass_at_2_hard"].value == 1 and found["direct"]["accuracy"].value == 0.5
    assert found["grpo"]["gain_over_sft"].n == 4 and found["grpo"]["gain_over_sft_hard"].n == 2


def test_the_names_are_those_of_results_files(tmp_path: Path) -> None:
    eight = [episode(name, True) for name in NAMES for _ in range(8)]
    folder = run(tmp_path)
    EASY.save_stage(folder, "sft-samples", eight)
    found = answers(EASY, [folder], [ROWS])
    names = {f"{stage}/{name}" for stage, values in found.items() for name in values}
    wanted = {"grpo/gain_over_sft", "grpo/gain_over_direct", "grpo/observation_gap_swapped", "direct/accuracy"}
    wanted |= {"grpo/observation_gap_blank", "sft/pass_at_8", "grpo/calls_per_episode", "grpo/accuracy_without_tools"}
    assert wanted <= names and "grpo/weight_change" not in names
    results = write_results(tmp_path / "r.json", notebook="n", profile="p", seed=0, minutes=1.0, stages=found)
    assert results["metrics"]["sft/pass_at_8"] | {"low": 0} == {"value": 1.0, "low": 0, "high": 1.0, "n": 4}
    text = questions.told(results, ["hard"])
    assert [line for line in text.splitlines() if line[0].isdigit()] == list(questions.QUESTIONS)
    assert "after GRPO minus before, hard" in text and "   search" in text
    assert questions.told({"metrics": {}}) == questions.told({}) == ""


def test_no_difference_of_two_shares_is_told_beyond_one() -> None:
    stages = {"grpo": {"gain_over_sft": Interval(-0.333, -1.333, 0.667, 3), "calls_per_episode": Interval(1, 0, 2, 3)}}
    text = " ".join(questions.told(stages).split())
    assert "-0.333 [-1.000, 0.667], n = 3" in text and "calls an episode 1.000 [0.000, 2.000]" in text


def test_seeds_are_joined_and_a_base_without_a_seed_stands_for_each(tmp_path: Path) -> None:
    runs = [run(tmp_path / "0"), run(tmp_path / "1", direct=False, grpo="++++"), run(tmp_path / "2", direct=False)]
    found = answers(EASY, runs, [ROWS] * 3, [0.1, 0.2, 0.3], tries=2)
    gain, direct = found["grpo"]["gain_over_sft"], found["grpo"]["gain_over_direct"]
    assert gain.value == pytest.approx((0.5 + 0.75 + 0.5) / 3) and gain.n == 12 and gain.low > -1
    assert direct.value == pytest.approx((0.25 + 0.5 + 0.25) / 3) and direct.n == 12
    change = found["grpo"]["weight_change"]
    assert change.value == pytest.approx(0.2) and change.low == pytest.approx(0.2 - 4.302653 * 0.1 / 3**0.5)


def test_a_difference_pairs_tasks_and_seeds() -> None:
    def made(marks: str, seed: int) -> list[Outcome]:
        return [replace(o, seed=seed) for o in EASY.outcomes(stage(marks))]

    after, before = [*made("++--", 0), *made("++++", 1)], [*made("+---", 0), *made("----", 1)]
    found = difference(after, before, "correct")
    assert found is not None and found.value == (1 / 4 + 1) / 2 and found.n == 8
    same = difference(after, after, "correct")
    assert same is not None and same.value == 0.0
    assert difference(after, made("+---", 5), "correct") is None
    half = difference(after, before[:2], "correct")
    assert half is not None and (half.value, half.n) == (0.5, 2), "only tasks that both have count"


def test_outcomes_and_a_few_numbers_of_each_run_answer_as_the_runs_do(tmp_path: Path) -> None:
    """What is kept of runs that are gone: outcomes of their stages, calls by tool, changes of weights."""
    runs = [run(tmp_path / "0"), run(tmp_path / "1", direct=False, grpo="++++", grpo_own="-+++")]
    names = ("sft", "grpo", *five.STAGES)
    stages = {name: [o for k, one in enumerate(runs) for o in EASY.load_outcomes(one, name, k)] for name in names}
    stages["direct"] = EASY.load_outcomes(runs[0], "direct")
    numbers = {k: json.loads(json.dumps(own_numbers(EASY, one, k / 8))) for k, one in enumerate(runs)}
    assert numbers[1] == {"calls": {t: {"ok": [*NAMES]} for t in ("search", "code")}, "weight_change": 0.125}
    found = answered(EASY, stages, {0: ROWS, 1: ROWS}, numbers, tries=2)
    assert found == answers(EASY, runs, [ROWS] * 2, [0.0, 0.125], tries=2)
    untold = {k: {"calls": some["calls"]} for k, some in numbers.items()}
    assert "weight_change" not in answered(EASY, stages, {0: ROWS, 1: ROWS}, untold, tries=2)["grpo"]


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    folder = run(tmp_path)
    with pytest.raises(ValueError, match="1 runs, 0 trainings, 0 changes: one of each"):
        answers(EASY, [folder], [])
    (folder / "stages" / "grpo-blank.json").unlink()
    with pytest.raises(FileNotFoundError, match="grpo-blank"):
        answers(EASY, [folder], [ROWS])
    old = json.loads((folder / "stages" / "grpo-own.json").read_text())
    del old["calls"]
    (folder / "stages" / "grpo-own.json").write_text(json.dumps(old))
    with pytest.raises(ValueError, match=r"grpo-own\.json: written by a version of the kit that kept no calls"):
        EASY.load_calls(folder, "grpo-own")


class Scripted(play.Player):
    """A checkpoint that needs no model, and counts what it is asked."""

    def __init__(self, checkpoint: Path, marks: str) -> None:
        super().__init__(checkpoint, lambda *a, **k: [])
        self.marks, self.asked = marks, []

    def __call__(
        self, tasks: Sequence[Task], around: shown.Around = shown.as_it_is, temperature: float = 0.0
    ) -> list[Episode]:
        self.asked.append((len(tasks), temperature))
        return [episode(task.id, self.marks[NAMES.index(task.id)] == "+", ("search",)) for task in tasks]


@pytest.fixture
def players(tmp_path: Path) -> tuple[Scripted, Scripted]:
    made = []
    for name in ("grpo", "sft"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.safetensors").write_bytes(name.encode())
        made.append(Scripted(tmp_path / name, "++--"))
    return made[0], made[1]


def test_stages_are_played_once_and_again_only_after_a_change(
    tmp_path: Path, players: tuple[Scripted, Scripted]
) -> None:
    grpo, sft = players
    tasks = [episode(name, True).task for name in NAMES]

    def go(**more: Any) -> list[str]:
        return play.play_all(EASY, tmp_path, grpo, sft, tasks, {"turns": 5}, tries=3, **more)

    assert go() == list(five.STAGES)
    assert grpo.asked == [(4, 0.0)] * 4 and sft.asked == [(12, 1.0)]
    assert go() == [] and len(grpo.asked) == 4
    assert go(sampled=tasks[:2]) == [five.SAMPLES] and sft.asked[-1] == (6, 1.0)
    (tmp_path / "grpo" / "model.safetensors").write_bytes(b"trained on")
    assert go(sampled=tasks[:2]) == [name for name in five.STAGES if name != five.SAMPLES]
    (tmp_path / "stages" / "grpo-swapped.json").unlink()
    assert go(sampled=tasks[:2]) == [five.SWAPPED]


def test_a_player_loads_its_checkpoint_when_it_first_plays(monkeypatch: pytest.MonkeyPatch, chat: Chat) -> None:
    loaded: list[object] = []

    def load(path: object) -> tuple[object, Chat]:
        loaded.append(path)
        return "policy", chat

    monkeypatch.setattr(play, "load_evaluator", load)
    told: list[Callable[..., Any]] = []

    def playing(policy: Any, chat: Chat, tasks: Sequence[Task], *, temperature: float, around: Any) -> list[Episode]:
        told.append(around)
        return stage("++++")

    player = play.Player("owner/name", playing)
    assert player.fingerprint == "owner/name" and loaded == []
    player([])
    player([], shown.blank)
    assert loaded == ["owner/name"] and told == [shown.as_it_is, shown.blank]
