"""A paper opened for others: what it is made of, what is given back, and what needs no other library."""

from __future__ import annotations

import subprocess
import sys

import pytest
from PIL import Image

from adapters.opened import _training, open_paper, tasks_of
from adapters.session import SessionError, written
from kit.episode import Action, NamedImage, Observation
from kit.protocol import Protocol
from kit.train.experiment import GRPOTraining
from papers.registry import PAPERS, find_paper, papers

OTHERS = ("trl", "verifiers", "openenv", "datasets")


@pytest.mark.parametrize("module", ["adapters", "adapters.opened", "adapters.gym", "adapters.trl"])
def test_no_adapter_needs_anothers_library(module: str) -> None:
    code = f"import sys, {module}; print([name for name in {OTHERS!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_papers_training_is_found_beside_its_limits() -> None:
    """Of a paper that has none, the golden tasks' reward and tools are taken."""
    for name, paper in papers().items():
        found = _training(paper)
        assert (found is not None and issubclass(found, GRPOTraining)) == (name in PAPERS)
    with open_paper("your_own") as opened:
        assert (
            opened.tools is None
            and not opened.grouped
            and list(opened.tasks) == [task.id for task in tasks_of(find_paper("your_own"))]
        )


def test_values_reach_limits_reward_and_tools() -> None:
    offered = ("easyocr.read", "sam.segment")
    with open_paper("vista_gym", prompt="brief", max_turns=2, reward="dense", offered=offered) as opened:
        assert opened.play.max_turns == 2 and [tool.name for tool in opened.tools] == list(offered)
        with opened.playing(next(iter(opened.tasks))) as (session, system, _):
            assert "easyocr.read" in system
            session.say("hm")
            assert session.running, "this paper tells of a turn without an action"
            session.say("hm")
            assert not session.running and session.finish().ended == "turns"
            assert set(opened.score(session).parts) == {"base", "format", "accuracy"}
            with pytest.raises(SessionError, match="no episode is running; begin one"):
                session.say("again")
        assert opened.sessions == []


def test_an_image_that_no_model_can_read_is_told_as_in_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    strip = NamedImage("strip", Image.new("RGB", (500, 1)))
    with open_paper("your_own") as opened, opened.playing("golden-0000") as (session, _, _):
        shown = Observation("Here.", (strip,)), 0.0, False, False, {"action": Action("mark", "top left")}
        monkeypatch.setattr(session.env, "step", lambda text: shown)
        [reply] = session.say("<think>A strip.</think><mark>top left</mark>")
        assert str(reply).startswith("Error: image strip can't be shown: it has 500 x 1 pixels; the longer side may")
        assert session.running and session.episode is not None and session.episode.turns[0].observation is not None
        assert session.episode.turns[0].observation.status == "error"


def test_a_call_is_written_as_a_policy_would_have() -> None:
    tags, calls = Protocol(("code",)), Protocol(("tool_call",), call="tool_call")
    assert written(tags, "answer", {"answer": ["A", "B"]}, "So.") == '<think>So.</think><answer>["A", "B"]</answer>'
    told = '<think>I read.</think><tool_call>{"tool": "ocr", "arguments": {"after": "é"}}</tool_call>'
    assert written(calls, "ocr", {"after": "é"}, "I read.") == told
    assert written(calls, "answer", {"answer": "5"}) == "<think></think><answer>5</answer>"
