"""What the paper's tables fix, as a run of the profile for its hardware has it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kit.train.sft import SFTSettings
from papers.agile import paper
from papers.agile.experiment import Play
from papers.agile.mixed import MixedPlay
from workshop.jobs.notebooks import find, parameters
from workshop.jobs.plan import stages
from workshop.jobs.run import plan, profile_values
from workshop.planner.advice import fits
from workshop.planner.memory import GB, share_of


def node(number: str) -> dict[str, object]:
    """A notebook's parameters as the profile ``node`` has them."""
    (notebook,) = find(number)
    return {name: p.default for name, p in parameters(notebook).items()} | profile_values(notebook, "node")


def test_an_epoch_of_the_papers_tasks_is_244_steps_and_two_of_its_episodes_100() -> None:
    """15,600 / 64 = 243.75; 2 · 1,600 / 32 = 100."""
    assert node("13")["steps"] == round(15_600 / 64)
    assert SFTSettings.of(node("12")).steps(1600) == 100


@pytest.mark.parametrize("play", [Play(), MixedPlay()])
def test_a_response_has_20000_tokens_whatever_its_prompt(play: Play) -> None:
    """Table 5: 8,192 tokens of prompt and 20,000 of response; a short prompt makes no room for a longer response."""
    assert play.most_tokens(8192) == 28192
    assert play.most_tokens(1000) == 21000


def test_the_declared_figure_of_the_engines_share_is_the_planners() -> None:
    """Table 5's share fits, too, since the engine sleeps while the model learns; awake throughout it wouldn't."""
    ((_, ours),) = stages(plan("13", "node", [], None), None, 80 * GB)
    theirs = replace(ours, gpu_memory_utilization=0.7)
    assert fits(ours) and fits(theirs) and not fits(replace(theirs, asleep=False))
    told = " ".join((paper.__doc__ or "").split())
    assert f"by the planner {share_of(ours):.2f} of 80 GB, and sleeps while the model learns" in told
