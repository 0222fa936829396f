"""Every notebook of every paper ends, whatever a model does: it writes noise, ends or answers at once, only calls.

Papers are taken from the registry, notebooks from their records: one more paper is tested by being registered. Their
cells run in this process, with smoke values, as in JupyterLab: each notebook that has a ``tag`` works in a branch of
the run before it, so it has to find there all that it reads.
"""

from __future__ import annotations

import contextlib
import gc
import io
import traceback
from collections.abc import Mapping
from inspect import signature
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
from stubborn_models import noise, says

from kit.evaluate.conduct import ANSWERED
from kit.files import find_run, start_run
from kit.policy import GenerationRequest, SamplingParams
from kit.policy.hf import HFPolicy, load_model_and_chat
from kit.protocol import Protocol
from papers.registry import Paper, find_paper, needs, papers
from workshop.jobs.notebooks import code_cells, load, parameters, sources
from workshop.jobs.parameters import check_values
from workshop.jobs.run import profile_values

SOURCES = {source.name: source for source in sources()}

PAPERS = [name for name, paper in papers().items() if paper.settings]

BODIES = {"zoom": "[[0.1, 0.1, 0.4, 0.4]]"}
"""Tag of an action → what stands in it in a call; of any other: 1, which is code and a query, too."""


def protocol_of(paper: Paper) -> Protocol:
    """The tags of a paper's environment, which is made with tools that do nothing."""
    make = paper.load_environment()
    idle = {name: MagicMock() for name, one in signature(make).parameters.items() if one.default in (one.empty, None)}
    return make(**idle).protocol


def turns_of(paper: Paper) -> dict[str, str]:
    """What models say: the one that ends at once, the one that answers at once, and the one that always calls."""
    protocol = protocol_of(paper)
    named = {protocol.call: f'{{"tool": "{next(iter(paper.load_tools()), "none")}"}}'}
    calls = "".join(f"<{tag}>{(BODIES | named).get(tag, '1')}</{tag}>" for tag in protocol.actions)
    return {"ends": "", "answers": f"<{protocol.final}>A</{protocol.final}>", "calls": calls}


def said(model: Path, stops: tuple[str, ...], temperature: float) -> list[str]:
    """What a checkpoint says to three prompts."""
    vlm, chat = load_model_and_chat(model)
    asked = [tuple(chat.prompt(system, [question])) for system, question in (("", "?"), ("Play.", "A"), ("1", "2 3"))]
    params = SamplingParams(stops, temperature, max_new_tokens=40)
    found = HFPolicy(vlm, chat).sample([GenerationRequest(ids, (), seed=k) for k, ids in enumerate(asked)], params)
    return [chat.decode(one.ids) for one in found]


def run_cells(name: str, values: Mapping[str, Any]) -> None:
    """Run a notebook's code cells with smoke values, and with those of ``values`` that it has as parameters."""
    declared = parameters(SOURCES[name])
    given = profile_values(SOURCES[name], "smoke") | {key: values[key] for key in values if key in declared}
    space: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(code_cells(load(SOURCES[name]))):
        exec(compile(cell.source, f"{name}, cell {number}", "exec"), space)
        if "parameters" in cell.metadata.get("tags", []):
            space.update(check_values(declared, given, name))


def played(paper: Paper) -> tuple[str, ...]:
    """A paper's notebooks from the first that trains on: a model plays in these."""
    return paper.notebooks[next(k for k, name in enumerate(paper.notebooks) if name in paper.settings) :]


def prepared(paper: Paper) -> list[str]:
    """Those before them that make what they read."""
    made = {number for name in played(paper) for number in needs(name).values()}
    return [name for name in paper.notebooks if int(name[:2]) in made and name not in played(paper)]


def run_paper(paper: Paper, run: str, **values: Any) -> tuple[str, dict[str, str]]:
    """Run the notebooks in which a model plays, those with a tag in branches: the last run, and what each printed.

    A notebook of whose own work a branch keeps something is run twice: in the run, then in its branch.
    """
    told = {}
    for name in played(paper):
        tagged, keeps = "tag" in parameters(SOURCES[name]), needs(name, own=True) != needs(name)
        for tag in ("",) * (keeps or not tagged) + ("b",) * tagged:
            with contextlib.redirect_stdout(io.StringIO()) as out:
                run_cells(name, {"run": run, "tag": tag, "profile": "smoke", **values})
            gc.collect()  # a trainer is a cycle
            run, told[name] = f"{run}-{tag}" if tag else run, out.getvalue()
    return run, told


def made(does: str, turn: str, folder: Path) -> Path:
    """A checkpoint that does what its name says."""
    return noise(folder) if does == "noise" else says(turn, folder)


TEACHING = [
    source.name
    for source in SOURCES.values()
    if source.family == "teaching" and (one := parameters(source).get("model")) and one.default == ""
]
"""Notebooks of no paper in which the model is the reader's choice."""


@pytest.mark.parametrize("name", TEACHING)
def test_a_teaching_notebook_ends_whatever_a_model_does(name: str, tmp_path: Path) -> None:
    turns = {"noise": "", "ends": "", "answers": "<answer>A</answer>", "calls": "<code>1</code>"}
    for does, turn in turns.items():
        run_cells(name, {"model": str(made(does, turn, tmp_path / does))})


@pytest.mark.release
@pytest.mark.parametrize("name", PAPERS)
def test_a_paper_s_notebooks_end_whatever_a_model_does(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a model does it goes on doing through the trainings: in a group of equals there is nothing to learn."""
    monkeypatch.setenv("KIT_RUNS", str(tmp_path / "runs"))
    paper = find_paper(name)
    turns = turns_of(paper)
    stops = tuple(f"</{tag}>" for tag in (*protocol_of(paper).actions, protocol_of(paper).final))
    for one in prepared(paper):
        with contextlib.redirect_stdout(io.StringIO()):
            run_cells(one, {"run": "made", "profile": "smoke"})
    evaluation, faults = paper.load_evaluation(), {}
    for does in (*turns, "noise"):
        model = made(does, turns.get(does, ""), tmp_path / does)
        for temperature in (0.0, 1.0):
            texts = set(said(model, stops, temperature))
            assert texts == {turns[does]} if does in turns else len(texts) == 3 or temperature == 0.0
        few = {"sft_episodes": 1} if does == "answers" else {}  # as many as nothing: of most kinds there is none
        start_run("made", does, needs(played(paper)[0]))
        try:
            run, told = run_paper(paper, f"made-{does}", model=str(model), **few)
        except Exception:
            faults[does] = traceback.format_exc(limit=-4)
            continue
        faults |= {f"{does}, {one}": "says nothing of it" for one, text in told.items() if " called a tool" not in text}
        outcomes = evaluation.load_outcomes(find_run(run), "grpo")
        calls = {o.tool_calls > 0 for o in outcomes}
        ends = {o.reason in ANSWERED for o in outcomes}
        wanted = {"ends": ({False}, {False}), "answers": ({False}, {True}), "calls": ({True}, {False})}
        if does in wanted and (calls, ends) != wanted[does]:
            faults[does] = f"after the trainings its episodes have calls: {calls}, answers: {ends}"
    assert not faults, "\n".join(f"{what}: {why}" for what, why in faults.items())
