"""What a notebook makes of a profile's values, and whether a run reads what a row is proved by."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kit.rollout import RolloutConfig
from papers.fidelity import Row
from papers.registry import find_paper
from workshop.jobs.notebooks import Source
from workshop.publishing.departures import value_at
from workshop.publishing.made import UNKNOWN, made
from workshop.publishing.read import unread

NOTEBOOK = """# %% [markdown]
# # 70 · Toy

# %% tags=["parameters"]
max_turns: int = 3  # turns
epochs: float = 1.0  # passes
where: str = "here"  # a place

# %%
from dataclasses import replace
from pathlib import Path
from kit.rollout import RolloutConfig

# %%
def limits():
    raise AssertionError("a notebook's own functions aren't called")

Path("{written}").write_text("a call that writes isn't made")
play = RolloutConfig(max_turns=max_turns)
once = replace(play, max_turns=1)
many = {{n: replace(play, max_turns=n) for n in (2, 4)}}
first, second = (replace(play, temperature=t) for t in (0.5, 0.7))
folder = limits()
file = str(folder / "tasks.jsonl")
far = bool(folder)
if max_turns > 1:
    skipped = 1
wrong = RolloutConfig(max_turns=0)
upper = where.upper()
max_turns = limits()
"""


@pytest.fixture
def source(tmp_path: Path) -> Source:
    """A notebook of no paper, with a profile ``node``."""
    percent = tmp_path / "notebooks" / "percent"
    (percent.parent / "profiles").mkdir(parents=True)
    percent.mkdir()
    (percent.parent / "profiles" / "toy.yaml").write_text("smoke: {70: {}}\nnode:\n  70: {max_turns: 5}\n")
    file = percent / "70_toy.py"
    file.write_text(NOTEBOOK.format(written=tmp_path / "written"))
    return Source(file)


def test_settings_are_made_by_the_notebooks_own_statements(source: Source, tmp_path: Path) -> None:
    found = made(source, "node")
    assert found["play"] == RolloutConfig(max_turns=5) and found["once"].max_turns == 1
    assert [one.max_turns for one in found["many"].values()] == [2, 4]
    assert (found["first"].temperature, found["second"].temperature) == (0.5, 0.7)
    assert found["epochs"] == 1.0 and found["upper"] == "HERE"
    assert not (tmp_path / "written").exists()


def test_what_needs_more_than_parameters_is_unknown(source: Source) -> None:
    found = made(source, "node")
    for name in ("folder", "far", "wrong", "max_turns"):
        assert found[name] is UNKNOWN, name
    assert "skipped" not in found


def test_a_place_is_a_parameter_or_what_is_made_of_it() -> None:
    assert value_at("node:13.settings.loss_type") == "grpo"
    assert value_at("node:13.play.max_new_tokens") == value_at("node:13.max_new_tokens") == 2048
    assert value_at("node:23.play.prompt") == "full", "notebook 21 keeps it, and 23 reads what was kept"
    with pytest.raises(KeyError, match="notebook 13 makes it of more than the profile's values"):
        value_at("node:13.folder")


SAME = Row("x", "hyper-parameter", "3", "It is so.", "node:13.group_size", 8)


@pytest.mark.parametrize(
    ("where", "why"),
    [
        ("node:13.group_size", ""),
        ("node:13.settings.iterations", ""),
        ("node:13.strategy", ""),
        ("node:13.allow_unsafe", ""),
        ("papers.agile.reward:RewardConfig.step_penalty", ""),
        ("turn_sandbox.limits:NOBODY_READS", "nothing that runs reads NOBODY_READS"),
        ("papers.mags_rl.reward:NOBODY_READS", "no notebook imports its module"),
        ("kit.train.sft:SFTSettings.warmup", "it is a default; name what a notebook makes"),
        ("papers.agile.experiment:Play.max_turns", "such as node:NN.play.max_turns"),
    ],
)
def test_a_value_that_no_run_reads_proves_nothing(where: str, why: str) -> None:
    told = list(unread(find_paper("agile"), [replace(SAME, where=where)]))
    assert (why in told[0] and told[0].startswith("x: ")) if why else told == []


def test_a_parameter_that_no_cell_reads_proves_nothing(tmp_path: Path) -> None:
    paper = find_paper("agile")
    percent = tmp_path / "percent"
    percent.mkdir()
    for name in paper.notebooks:
        text = (paper.notebooks_dir / "percent" / f"{name}.py").read_text()
        (percent / f"{name}.py").write_text(
            text.replace("\ngroup_size: int", "\nidle: int = 1  # none\ngroup_size: int")
        )
    moved = replace(paper, notebooks_dir=tmp_path)
    rows = [replace(SAME, where="node:13.idle", value=1)]
    assert list(unread(moved, rows)) == ["x: no cell of notebook 13 reads its parameter idle"]
    assert list(unread(moved, [replace(rows[0], kind="training")])) == list(unread(moved, rows)), "of whatever kind"
    assert list(unread(moved, [replace(rows[0], departs=("agile-x",))])) == [], "what departs proves nothing"


@pytest.mark.parametrize(
    ("paper", "kind", "where", "why"),
    [
        ("agile", "prompt", "papers.agile.env:FULL", ""),  # by PROMPTS, which its module makes of it
        ("agile", "prompt", "papers.agile.env:NOBODY_READS", "nothing that runs reads NOBODY_READS"),
        ("agile", "reward", "papers.agile.experiment:Play.score", ""),
        ("agile", "reward", "papers.agile.experiment:Play.max_turns", "it is a default"),
        ("vista_gym", "data", "papers.vista_gym.evaluation_sets:TRAINED_ON", ""),  # by the data script
        ("vista_gym", "reward", "papers.vista_gym.evaluation_sets:TRAINED_ON", "no notebook imports its module"),
        ("vista_gym", "environment", "visual_tools.serve.app:front", ""),  # by the service's command
        ("vista_gym", "data", "visual_tools.serve.app:front", "no notebook imports its module"),
        ("codedance", "environment", "visual_tools.serve.app:front", "no notebook imports its module"),
    ],
)
def test_code_that_no_run_reads_proves_nothing(paper: str, kind: Any, where: str, why: str) -> None:
    told = list(unread(find_paper(paper), [Row("x", kind, "3", "It is so.", where)]))
    assert (why in told[0] and told[0].startswith("x: ")) if why else told == []
