"""Kinds of errors, on 225 episodes that are right but for what was broken in them on purpose."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.episode import Action, Episode, Observation, Score, Status, Task, Turn
from kit.protocol import FormatError
from kit.train.episode_stats import episode_stats
from papers.vista_gym.env import PROTOCOL, VistaGymEnv
from papers.vista_gym.errors import ERRORS, REPORTED, errors, schemas
from papers.vista_gym.toolbox import TOOLS
from visual_tools.tool import Arguments, PureTool

COLOURS = ("red", "blue", "green", "black", "yellow")
Rows = Mapping[str, str]


class Table(PureTool):
    """Says one value of a table that the test made up."""

    name, family, algorithm, needs_image = "table.value", "charts", "A look-up.", False
    properties: ClassVar[Mapping[str, Any]] = {
        "of": {"type": "string"},
        "digits": {"type": "integer", "minimum": 0, "maximum": 3},
    }
    required = ("of",)

    def __init__(self, rows: Rows) -> None:
        super().__init__()
        self.rows = rows

    def look(self, image: None, arguments: Arguments) -> Rows:
        return self.rows

    def answer(self, seen: Rows, arguments: Arguments) -> str:
        if arguments["of"] not in seen:
            raise ValueError(f"no row {arguments['of']!r}")
        return seen[arguments["of"]]


class Title(Table):
    """Says a table's title."""

    name = "title.read"
    required = ()

    def answer(self, seen: Rows, arguments: Arguments) -> str:
        return "Fruit sold"


def call(tool: str = "table.value", **arguments: Any) -> str:
    return json.dumps({"tool": tool, "arguments": arguments})


def asking(body: str) -> str:
    return f"<think>Ask.</think><tool_call>{body}</tool_call>"


def saying(answer: str) -> str:
    return f"<think>So.</think><answer>{answer}</answer>"


class Made:
    """A task with its table: what to ask, the gold answer, another row and its value."""

    def __init__(self, rng: np.random.Generator) -> None:
        values = map(str, rng.choice(np.arange(10, 99), size=len(COLOURS), replace=False))
        self.rows = dict(zip(map(str, rng.permutation(COLOURS)), values, strict=True))
        self.row, self.other = list(self.rows)[:2]
        self.gold, self.wrong = self.rows[self.row], self.rows[self.other]
        meta = {"calls": [call(of=self.row)], "wrong": call("title.read")}
        self.task = Task(f"{self.row}-{self.gold}", (), f"How much is {self.row}?", (self.gold,), meta)
        self.right = asking(call(of=self.row))

    def played(self, *turns: str, rows: Rows | None = None) -> Episode:
        """These turns in the real environment, whose tools read the table, or another one."""
        tools = [tool(self.rows if rows is None else rows) for tool in (Table, Title)]
        env = VistaGymEnv(tools)
        env.reset(options={"task": self.task})
        made = []
        for text in turns:
            seen, _, over, _, _ = env.step(text)
            parsed = PROTOCOL.parse(text)
            action = None if isinstance(parsed, FormatError) else parsed
            made.append(Turn((), (), text, action, None if over else seen))
        return Episode(self.task, (), tuple(made), "answer")


KNOWN = {tool.name: tool({}).parameters for tool in (Table, Title)}
Breaks = Callable[[Made, int], Episode]

BREAKS: Mapping[tuple[str, ...], Sequence[Breaks]] = {
    (): (
        lambda m, k: m.played(m.right, saying(m.gold)),
        lambda m, k: m.played(saying(m.gold)),
        lambda m, k: m.played(saying(m.wrong)),
    ),
    ("E1",): (
        lambda m, k: m.played(m.right.replace("}</tool_call>", "</tool_call>"), saying(m.wrong)),
        lambda m, k: m.played(asking(call("table.values", of=m.row)), saying(m.wrong)),
        lambda m, k: m.played(asking(call(digits=1)), saying(m.gold)),
        lambda m, k: m.played(asking(json.dumps({"name": "table.value", "of": m.row})), saying(m.wrong)),
        lambda m, k: m.played(f"It is {m.gold}."),
    ),
    ("E2",): (
        lambda m, k: m.played(asking(call(of=m.row, row=m.row)), saying(m.wrong)),
        lambda m, k: m.played(asking(call(row=m.row)), saying(m.wrong)),
        lambda m, k: m.played(asking(call("title.read", rows=[m.row])), saying(m.wrong)),
    ),
    ("E3",): (
        lambda m, k: m.played(asking(call(of=k)), saying(m.wrong)),
        lambda m, k: m.played(asking(call(of=m.row, digits="two")), saying(m.wrong)),
        lambda m, k: m.played(asking(call(of=m.row, digits=4 + k)), saying(m.wrong)),
        lambda m, k: m.played(asking(call(of=[m.row])), saying(m.gold)),
    ),
    ("E4",): (
        lambda m, k: m.played(asking(call(of=m.other)), saying(m.wrong)),
        lambda m, k: m.played(asking(call("title.read")), saying("unknown")),
        lambda m, k: m.played(asking(call(of="pink")), saying(m.wrong)),
        lambda m, k: m.played(asking(call(of=m.other)), m.right, saying(m.gold)),
    ),
    ("E5",): (
        lambda m, k: m.played(m.right, saying(m.wrong), rows={**m.rows, m.row: m.wrong}),
        lambda m, k: m.played(m.right, saying(m.wrong), rows={**m.rows, m.row: ""}),
        lambda m, k: m.played(m.right, saying("unknown"), rows={}),
    ),
    ("E6",): (
        lambda m, k: m.played(m.right, saying(m.wrong)),
        lambda m, k: m.played(m.right, saying("unknown")),
        lambda m, k: m.played(m.right, m.right),
    ),
    ("E1", "E2"): (lambda m, k: m.played(f"It is {m.gold}.", asking(call(of=m.row, rows=1)), saying(m.gold)),),
    ("E4", "E6"): (
        lambda m, k: m.played(asking(call(of=m.other)), m.right, saying(m.wrong)),
        lambda m, k: m.played(m.right, asking(call("title.read")), saying("unknown")),
    ),
}
"""The errors that an episode was given → ways to break it."""


def test_all_of_225_broken_episodes_are_told() -> None:
    confusion: Counter[tuple[tuple[str, ...], tuple[str, ...]]] = Counter()
    for made, ways in BREAKS.items():
        for k in range(25):
            episode = ways[k % len(ways)](Made(np.random.default_rng([k, len(confusion)])), k)
            confusion[made, errors(episode, KNOWN)] += 1
    assert confusion == {(made, made): 25 for made in BREAKS}, "made, found → how often"
    assert {kind for made in BREAKS for kind in made} == set(ERRORS)


@pytest.mark.parametrize("status", ["timeout", "died", "limit"])
def test_a_tool_that_gives_no_answer(status: Status) -> None:
    made = Made(np.random.default_rng(1))
    action = Action("table.value", "", {"of": made.other})
    turns = (Turn((), (), "", action, Observation("", status=status)), Turn((), (), "", Action("answer", "x")))
    assert errors(Episode(made.task, (), turns, "answer"), KNOWN) == ("E5",)


def test_a_call_that_no_service_took_up_is_no_error_of_anybody_s() -> None:
    """A full queue, a worker that can't be started: counted in a column of its own."""
    made = Made(np.random.default_rng(1))
    wrong = Action("table.value", "", {"of": made.other})
    turns = (
        Turn((), (), "", wrong, Observation("", status="unserved")),
        Turn((), (), "", Action("answer", "x")),
    )
    episode = Episode(made.task, (), turns, "answer")
    assert errors(episode, KNOWN) == ()
    stats = episode_stats(episode, Score(0.0, {}))
    assert stats["unserved"] == 1 and "unserved" not in episode_stats(replace(episode, turns=turns[1:]), Score(0.0, {}))


def test_of_a_task_that_was_not_drawn_only_the_schema_is_told() -> None:
    made = Made(np.random.default_rng(2))
    bare = Task("t", (), "?", ("1",))
    for text, found in ((asking(call(of=made.other)), ()), (asking(call(of=1)), ("E3",))):
        assert errors(Episode(bare, (), made.played(text, saying("2")).turns, "answer"), KNOWN) == found


def test_several_calls_that_lead_to_the_answer_are_the_tasks_own() -> None:
    made = Made(np.random.default_rng(3))
    calls = [call(of=made.other), call(of=made.row)]
    task = Task("t", (), "?", (made.gold,), {"calls": calls})
    turns = made.played(*map(asking, calls), saying(made.gold)).turns
    assert errors(Episode(task, (), turns, "answer"), KNOWN) == ()
    with pytest.raises(ValueError, match="which is no call"):
        errors(Episode(Task("t", (), "?", ("1",), {"calls": ["{"]}), (), turns, "answer"), KNOWN)


def test_the_papers_tools_are_known() -> None:
    assert set(schemas()) == set(TOOLS)
    assert all(set(shares) == set(ERRORS) for shares in REPORTED.values())


@given(st.lists(st.text(), max_size=3))
def test_no_text_makes_it_raise(texts: list[str]) -> None:
    made = Made(np.random.default_rng(4))
    assert set(errors(made.played(*(f"<tool_call>{text}</tool_call>" for text in texts)), KNOWN)) <= set(ERRORS)
