"""Tasks that a job is given are checked before its first notebook: images, gold answers, prompts, all at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from kit.data.store import save_tasks
from kit.episode import NamedImage, Task
from kit.rollout import RolloutConfig
from kit.train.experiment import Rollouts
from kit.train.playable import UnplayableTasks
from papers.agile.puzzle import make_task
from papers.registry import PAPERS, papers
from pictures.scenes import scene
from workshop.command import main
from workshop.jobs.notebooks import find, parameters
from workshop.jobs.parameters import ParameterError
from workshop.jobs.run import plan
from workshop.jobs.task_files import check_choices, check_tasks

GOOD = NamedImage("image", Image.new("RGB", (56, 56)))


def task(name: str, image: NamedImage = GOOD, **given: Any) -> Task:
    given = {"question": "What?", "target": ("it",), "meta": {"tools": ["code"]}} | given
    return Task(name, (image,), **given)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder of tasks, with files beside them that hold none."""
    monkeypatch.setenv("KIT_RUNS", str(tmp_path / "runs"))
    folder = tmp_path / "given"
    folder.mkdir()
    save_tasks(folder / "coding-train.jsonl", [task("a"), task("b", meta={"tools": ["search"]})])
    (folder / "coldstart.jsonl").write_text(json.dumps({"kind": "episode"}) + "\n")
    (folder / "questions.jsonl").write_text('{"image": "x"}\n')
    (folder / "empty.jsonl").write_text("")
    (folder / "other.jsonl").write_bytes(b"\xff\n")
    return folder


def test_good_tasks_and_other_files_pass(data: Path) -> None:
    check_tasks(plan("21", "smoke", [f"data={data}"], "one"))
    check_tasks(plan("visual_arft", "laptop", [f"21.data={data}"], "one"))
    check_tasks(plan("visual_arft", "laptop", [], "one"))
    check_tasks(plan("21", "smoke", ["data=nowhere"], "one"))  # its notebook says so


def test_bad_tasks_are_refused_with_files_and_lines(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wide = NamedImage("image", Image.new("RGB", (400, 1)))
    bad = [
        task("wide", wide),
        task("none", target=()),
        task("letters", target="hello"),
        task("long", question="?" * 99999),
    ]
    save_tasks(data / "mat-coding.jsonl", [task("a"), *bad])
    assert main(["run", "21", "--profile", "smoke", "--set", f"data={data}", "--name", "one"]) == 2
    said = capsys.readouterr().err
    for number, words in enumerate(
        (
            "task wide: image 'image': it has 400 x 1 pixels",
            "task none: no gold answer",
            "task letters: an answer can't be scored: gold answers 'hello': give a list",
            "task long: the prompt has",
        ),
        2,
    ):
        assert f"{data / 'mat-coding.jsonl'}:{number}, {words}" in said
    assert "a turn may have 2048: together more than max_episode_tokens=28192" in said and "4 of 7 tasks" in said
    assert not (data.parent / "runs" / "one").exists()


def test_the_jobs_own_limits_hold(data: Path) -> None:
    """A turn of 28,100 tokens leaves no room for a prompt."""
    check_tasks(plan("visual_arft", "laptop", [f"21.data={data}", "max_new_tokens=500"], "one"))
    with pytest.raises(UnplayableTasks, match="a turn may have 28100: together more than max_episode_tokens=28192"):
        check_tasks(plan("visual_arft", "laptop", [f"21.data={data}", "max_new_tokens=28100"], "one"))


def test_a_file_that_is_cut_off_is_named(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = data / "coding-train.jsonl"
    file.write_bytes(file.read_bytes()[:-20])
    assert main(["run", "21", "--profile", "smoke", "--set", f"data={data}", "--name", "one"]) == 2
    assert "coding-train.jsonl:2: not JSON" in capsys.readouterr().err


def test_what_the_run_holds_for_a_later_notebook_is_checked(data: Path) -> None:
    folder = data.parent / "runs" / "toy" / "data"
    puzzle = make_task(Image.fromarray(scene(np.random.default_rng(0), 112)), 2, 0, np.random.default_rng(0), "puzzle")
    save_tasks(folder / "train.jsonl", [puzzle])
    job = plan("13", "laptop", [], "toy")
    check_tasks(job)
    broken = Task("odd", puzzle.images, "?", puzzle.target, {})  # no number of pieces: no prompt can be made
    save_tasks(folder / "train.jsonl", [puzzle, broken])
    with pytest.raises(UnplayableTasks, match=r"train\.jsonl:2, task odd: KeyError: 'm'"):
        check_tasks(job)


ROLLOUTS = {
    name: paper for name, paper in papers().items() if paper.notebooks and issubclass(paper.load_limits(), Rollouts)
}
"""Papers whose record says how their tasks are played: all of the kit's."""


def test_every_paper_names_its_limits() -> None:
    for paper in papers().values():
        assert issubclass(paper.load_limits(), RolloutConfig)
    assert set(PAPERS) <= set(ROLLOUTS)


@pytest.mark.parametrize("name", ROLLOUTS)
def test_a_first_prompt_is_told_without_tools(name: str) -> None:
    """With tools that are idle: no sandbox is started, no network loaded, nothing looked up."""
    play = ROLLOUTS[name].load_limits()()
    assert isinstance(play, Rollouts)
    env = play.environment(play.idle())
    env.reset(seed=0)
    env.close()


@pytest.mark.parametrize("name", ROLLOUTS)
@pytest.mark.parametrize(
    ("parameter", "value", "said"), [("prompt", "nonsense", "prompt='nonsense'"), ("max_turns", 0, "max_turns=0")]
)
def test_values_that_an_environment_refuses_are_told_before_a_job(
    name: str, parameter: str, value: object, said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KIT_RUNS", str(tmp_path))
    sources = [s for s in find(name) if parameter in parameters(s)]
    if not sources:  # Mags-RL always has two rounds
        pytest.skip(f"no notebook of {name} has the parameter {parameter}")
    for source in sources:
        with pytest.raises(ParameterError, match=rf"notebook {source.number}: .*{said}"):
            check_choices(plan(name, "smoke", [f"{source.number}.{parameter}={value}"], "one"))
