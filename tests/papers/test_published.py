"""Published runs: fresh tests that nobody has looked at, five seeds of every arm, three starts that are named alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest

from kit.data.split import Side
from kit.episode import Task
from papers.codedance import tasks as codedance
from papers.mags_rl import tasks as mags_rl
from papers.mags_rl.questions import MAKERS as BOARDS
from papers.published import Runs
from papers.registry import find_paper
from papers.vista_gym import tasks as vista_gym
from pictures.keyed import content_of, counts_of
from workshop.jobs.notebooks import parameters
from workshop.publishing.current import source_of

Make = Callable[[Mapping[str, int], int, Side], list[Task]]

DRAWN: dict[str, tuple[Make, Sequence[str], int]] = {
    "codedance": (codedance.make_tasks, [*codedance.MAKERS], codedance.LOOKED_AT),
    "mags_rl": (mags_rl.make_tasks, [*BOARDS], mags_rl.LOOKED_AT),
    "vista_gym": (vista_gym.make_tasks, ["spatial/clevr", "geometry/sight", "other/iconqa"], vista_gym.LOOKED_AT),
}
"""Paper with drawn tasks → what makes them, kinds that are tried, tasks of each that were looked at."""

FEW_SCENES = ("arithmetic/easy", "geometry/easy", "geometry/hard")
"""CodeDance's kinds of so few numbers and figures that a second draw brings some of the first."""


def runs_of(paper: str) -> Mapping[str, Runs]:
    made = find_paper(paper).published
    assert made is not None
    return made.runs


@pytest.mark.parametrize("paper", DRAWN)
def test_the_test_of_published_runs_has_no_question_that_was_looked_at_or_is_trained_on(paper: str) -> None:
    make, kinds, looked_at = DRAWN[paper]
    values = runs_of(paper)["runs"].values
    seed, asked = int(values["test_seed"]), int(values["test_tasks"])
    counts = {kind: asked if kind in FEW_SCENES else 3 for kind in kinds}
    fresh = [content_of(task) for task in make(counts, seed, "test")]
    assert len(set(fresh)) == len(fresh)
    others = [*make(counts_of(kinds, looked_at if paper == "codedance" else 3), 0, "test")]
    for number in (0, seed):
        others += make(dict.fromkeys(kinds, 3), number, "development") + make(dict.fromkeys(kinds, 3), number, "train")
    assert not {*fresh} & {content_of(task) for task in others}


def test_a_reader_keeps_the_small_test() -> None:
    for paper, notebook, seed in (("codedance", "31_codedance", 16), ("mags_rl", "41_mags_rl", 12)):
        known = parameters(source_of(find_paper(paper), notebook))
        assert (known["test_seed"].default, known["test_tasks"].default) == (0, seed)
    known = parameters(source_of(find_paper("vista_gym"), "53_vista_gym_sft"))
    assert (known["test_seed"].default, known["test_tasks"].default, known["more_tests"].default) == (0, 6, "")


def test_claims_are_decided_by_enough_questions() -> None:
    """Of each subset 300: by the numbers of kinds, for CodeDance's easy ones without those of few scenes."""
    values = {paper: runs_of(paper)["runs"].values for paper in DRAWN}
    of = values["codedance"]
    counts = counts_of(codedance.MAKERS, int(of["test_tasks"]), of["more_tests"])
    hard = [kind for kind in counts if kind.endswith("/hard") and kind not in ("composed/hard", *FEW_SCENES)]
    assert counts["composed/hard"] >= 300 and sum(counts[kind] for kind in hard) >= 300
    assert int(of["eval_tasks"]) >= max(counts.values())
    easy = [task for kind in counts if kind.endswith("/easy") for task in [kind] * counts[kind]]
    few = codedance.make_tasks({kind: counts[kind] for kind in FEW_SCENES[:2]}, int(of["test_seed"]), "test")
    assert len([kind for kind in easy if kind not in FEW_SCENES]) + len(few) >= 300
    assert 3 * int(values["mags_rl"]["test_tasks"]) >= 300  # three skills at each difficulty
    of = values["vista_gym"]
    kinds = ["spatial/clevr", "spatial/clevr_math", "geometry/sight"]  # easyocr.read suits no other family
    counts = counts_of(kinds, int(of["test_tasks"]), of["more_tests"])
    sight = vista_gym.make_tasks({"geometry/sight": counts["geometry/sight"]}, int(of["test_seed"]), "test")
    assert len(sight) == counts["geometry/sight"] and sum(counts.values()) >= 300
    assert 14 * int(of["test_tasks"]) >= 300


@pytest.mark.parametrize("paper", ["agile", "visual_arft", "codedance", "mags_rl", "vista_gym"])
def test_three_starts_are_named_alike_and_differ_in_one_value(paper: str) -> None:
    runs = runs_of(paper)
    own = dict(runs["runs"].values)
    changed = []
    for name in ("decided", "half"):
        start = runs[f"{name}_runs"]
        assert start.seeds == 3 and name in start.called(0)
        assert set(start.notebooks) <= set(runs["runs"].notebooks)
        apart = {key: value for key, value in start.values.items() if own.get(key) != value and key != "patch_steps"}
        [(parameter, value)] = apart.items()
        changed.append((parameter, float(value)))
        trained = [n for n in runs["runs"].notebooks if n in find_paper(paper).settings or "grpo" in n]
        assert {*trained} <= {*start.notebooks}, "imitation and reinforcement are both made anew"
    [(parameter, decided), (same, half)] = changed
    known = [parameters(source_of(find_paper(paper), n)) for n in runs["runs"].notebooks]
    [today] = [some[parameter].default for some in known if parameter in some]
    assert parameter == same and half == pytest.approx((decided + today) / 2)


@pytest.mark.parametrize("paper", ["agile", "visual_arft", "codedance", "mags_rl", "vista_gym"])
def test_every_arm_has_five_seeds_and_shares_the_start_of_its_seed(paper: str) -> None:
    runs = runs_of(paper)
    for name, arm in runs.items():
        if name in ("decided_runs", "half_runs") or not name.endswith("_runs"):
            continue
        assert arm.seeds == 5, name
        if arm.tag:
            assert arm.name == runs["runs"].name and {"data", "tasks"} & {*arm.keeps} and "sft" in arm.keeps, name
    for arm in runs.values():
        known = [parameters(source_of(find_paper(paper), n)) for n in arm.notebooks]
        assert not [value for value in arm.values if not any(value in some for some in known)], arm
