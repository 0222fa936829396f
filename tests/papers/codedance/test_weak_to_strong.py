"""From a weak policy's pass rates to demonstrations that a judge lets pass."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from kit.chat import Chat
from kit.episode import Episode
from kit.policy.endpoint import EndpointError
from kit.policy.scripted import ScriptedPolicy
from kit.rollout import rollout
from papers.codedance.env import CodeDanceEnv
from papers.codedance.experiment import Play
from papers.codedance.expert import expert, turns_of
from papers.codedance.tasks import make_tasks
from papers.codedance.weak_to_strong import (
    ModelJudge,
    agrees,
    by_difficulty,
    by_scene,
    is_atomic,
    kind_of,
    make_lessons,
    pass_rates,
)
from turn_sandbox import Sandbox

PLAY = Play(prompt="brief", max_new_tokens=200, max_episode_tokens=2000)


def weak(episode: Episode) -> str:
    """Right in three tries of four on values of charts, and never elsewhere."""
    number = int(episode.task.id.rpartition("#")[2])
    knows = episode.task.meta["kind"] == "chart_value" and number % 4
    return f"<think>So.</think><answer>{episode.task.target[0] if knows else 'no'}</answer>"


def test_pass_rates_sort_tasks_and_an_interrupted_run_goes_on(chat: Chat, box: Sandbox, tmp_path: Path) -> None:
    tasks = make_tasks({"chart_value/easy": 2, "chart_compute/hard": 1}, 0)
    env, file = partial(CodeDanceEnv, box), tmp_path / "weak.jsonl"
    rates = pass_rates(ScriptedPolicy(chat, weak), chat, tasks, env, PLAY, file, tries=4)
    assert rates == {task.id: 0.75 if task.meta["kind"] == "chart_value" else 0.0 for task in tasks}

    def fails(episode: Episode) -> str:
        raise AssertionError(f"{episode.task.id} is played again")

    assert pass_rates(ScriptedPolicy(chat, fails), chat, tasks, env, PLAY, file, tries=4) == rates
    easy, hard = by_difficulty(tasks, rates)
    assert [task.meta["rate"] for task in easy] == [0.75, 0.75] and [task.meta["level"] for task in hard] == ["hard"]
    assert by_difficulty(tasks, rates, easy=0.8)[0] == []
    with pytest.raises(ValueError, match="tries=0"):
        pass_rates(ScriptedPolicy(chat, weak), chat, tasks, env, PLAY, file, tries=0)


def test_operations_are_of_three_kinds() -> None:
    kinds = {
        "part = image.crop((0, 0, 9, 9)).resize((90, 90))": "transform",
        "part = rotate(image, -90)": "transform",
        "print((2 + 6 + 4) // 3)": "computation",
        "x = 3": "computation",
        "draw = ImageDraw.Draw(image)\ndraw.rectangle((0, 0, 9, 9))": "drawing",
        "plt.plot([1, 2]); plt.show()": "drawing",
        "print(": None,
    }
    assert {code: kind_of(code) for code in kinds} == kinds


@pytest.fixture
def played(chat: Chat, box: Sandbox) -> dict[str, Episode]:
    """The expert's episode of each kind of task."""
    kinds = ("chart_value/easy", "chart_compute/hard", "board/hard", "composed/hard")
    tasks = make_tasks(dict.fromkeys(kinds, 1), 0)
    script = ScriptedPolicy(chat, expert(needless=0.0))
    found = rollout(script, chat, tasks, partial(CodeDanceEnv, box), PLAY)
    return {str(episode.task.meta["kind"]): episode for episode in found}


def test_what_composes_or_never_calls_isnt_atomic(played: dict[str, Episode]) -> None:
    assert {kind: is_atomic(episode) for kind, episode in played.items()} == {
        "chart_value": False,
        "chart_compute": True,
        "board": True,
        "composed": False,
    }


def test_judges(played: dict[str, Episode], chat: Chat, box: Sandbox) -> None:
    said: list[str] = []

    def judge(answer: str) -> ModelJudge:
        def script(episode: Episode) -> str:
            said.append(chat.decode([i for i in episode.prompt_ids if i != chat.image_id]))
            return answer

        return ModelJudge(ScriptedPolicy(chat, script), chat)

    board = played["board"]
    assert by_scene(board) and judge("Yes.")(board) and not judge("No, it guesses.")(board)
    assert board.task.question in said[0] and board.turns[0].text in said[0]
    wrong = rollout(
        ScriptedPolicy(chat, lambda episode: "<think>So.</think><answer>no</answer>"), chat, [board.task],
        partial(CodeDanceEnv, box), PLAY,
    )  # fmt: skip
    said.clear()
    assert not by_scene(wrong[0]) and not judge("Yes.")(wrong[0]) and said == []  # nobody asks about a wrong answer


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        ("Yes", True),
        ("**Yes.**", True),
        ("yes, every step does", True),
        ("<think>No? It does.</think> Yes", True),
        ("No thought needed</think>Yes", True),
        ("Every step follows. Yes.", True),
        ("Answer: Yes", True),
        ("no", False),
        ("No, yesterday's does.", False),
        ("The second step says yes but nothing shows it: No", False),
        ("", None),
        ("Yesterday.", None),
        ("Not every step.", None),
        ("Yes and no", None),
        ("Yes or No", None),
        ("<think>Yes", None),
        ("1", None),
        ("I can't assist with that.", None),
    ],
)
def test_a_judge_says_yes_or_no_or_is_asked_again(
    played: dict[str, Episode], chat: Chat, reply: str, says: bool | None
) -> None:
    assert agrees(reply) is says
    replies = [reply, reply, "No."]
    judge = ModelJudge(ScriptedPolicy(chat, lambda episode: replies.pop(0)), chat)
    assert judge(played["board"]) is bool(says) and len(replies) == (0 if says is None else 2)
    if says is None:
        with pytest.raises(EndpointError, match="in 3 tries no reply that is Yes or No"):
            ModelJudge(ScriptedPolicy(chat, lambda episode: reply), chat)(played["board"])


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        *(("There is no error.", None), ("No errors; every step follows.", None), ("No step is wrong.", None)),
        *(("I find no gap here", None), ("I see no mistakes. Yes.", True), ("Yes, there is no error.", True)),
        *(("No\n\nThe second step guesses.", False), ("No — it guesses", False), ("**No** it guesses", False)),
        *(("No because it guesses", False), ("No. There is no crop.", False), ("no, no doubt", False)),
    ],
)
def test_no_before_a_noun_is_no_verdict(reply: str, says: bool | None) -> None:
    assert agrees(reply) is says


def test_lessons_are_easy_ones_answered_at_once_and_hard_ones_of_one_kind(
    chat: Chat, box: Sandbox, tmp_path: Path
) -> None:
    """The weak policy knows charts' values alone, so an easy sheet counts as hard, and shows no code; no composing."""
    kinds = ("chart_value/easy", "sheet/easy", "chart_compute/hard", "composed/hard")
    tasks = make_tasks(dict.fromkeys(kinds, 1), 0)
    policies = ScriptedPolicy(chat, weak), ScriptedPolicy(chat, expert(needless=0.0))
    lessons = make_lessons(policies, by_scene, chat, tasks, PLAY, box, tmp_path, tries=4)
    assert [(task.meta["kind"], task.meta["level"]) for task in lessons] == [
        ("chart_value", "easy"),
        ("chart_compute", "hard"),
    ]
    for task in lessons:
        [drawn] = [one for one in tasks if one.id == task.id]
        assert turns_of(task) == turns_of(drawn, needless=0.0) and "turns" not in drawn.meta
    assert make_lessons(policies, lambda _: False, chat, tasks, PLAY, box, tmp_path, tries=4) == []
