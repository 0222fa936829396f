"""Lessons: demonstrations of the hub, read and played again; their code runs here, and what fails is left out."""

from __future__ import annotations

from typing import Any

import pytest

from kit.chat import Chat
from kit.data.cells import CellError
from kit.episode import NamedImage, Task
from kit.policy.scripted import ScriptedPolicy
from papers.codedance.experiment import Play
from papers.codedance.expert import expert, turns_of
from papers.codedance.lessons import lesson, of_talk, plays_out, turns_in
from papers.codedance.tasks import make_tasks
from turn_sandbox import Sandbox

ASKED = "<image><image>\nQuestion: What is shown? Think step-by-step within <think></think>. You now have …"
LOOK = "<think>I look.</think>\n<code>\n```python\nprint(input_image.size)\n```\n</code>"
TOLD = "<think>So.</think><answer>a cup</answer>"


def row(*said: tuple[str, str], images: int = 3) -> dict[str, Any]:
    return {"messages": [{"role": role, "content": text} for role, text in said], "images": [b"0", b"1", b"2"][:images]}


def test_a_talk_in_several_messages_and_one_in_a_single_message_are_read_alike() -> None:
    shown = "<interpreter>(84, 84)</interpreter>"
    several = of_talk(row(("system", "…"), ("user", ASKED), ("assistant", LOOK), ("user", shown), ("assistant", TOLD)))
    single = of_talk(row(("user", ASKED), ("assistant", f"{LOOK}\n{shown}\n{TOLD}")))
    assert several == single
    assert (several["question"], several["answer"], several["level"]) == ("What is shown?", "a cup", "hard")
    assert several["turns"] == [LOOK, TOLD] and several["images"] == [b"0", b"1"], (
        "two images are shown, code made the third"
    )
    direct = of_talk(row(("user", "What is it?"), ("assistant", TOLD)))
    assert (direct["level"], direct["images"]) == ("easy", [b"0"])


NONE, CUT, BLANK = (("user", ASKED),), (("user", ASKED), ("assistant", LOOK)), (("user", " "), ("assistant", TOLD))


@pytest.mark.parametrize("said", [(), NONE, CUT, BLANK])
def test_a_talk_without_question_or_answer_is_left_out(said: tuple[tuple[str, str], ...]) -> None:
    with pytest.raises(CellError, match="without a question, or whose last turn doesn't answer"):
        of_talk(row(*said))


def test_messages_of_another_form_are_named() -> None:
    with pytest.raises(CellError, match="a list of objects with role and content is expected"):
        of_talk({"messages": ["hello"], "images": []})


def test_text_after_the_last_code_is_a_turn_of_its_own() -> None:
    assert turns_in("<code>a</code>\n<code>b</code> so") == ["<code>a</code>", "<code>b</code>", "so"]


def test_lessons_play_themselves_and_a_failure_here_is_told(chat: Chat, box: Sandbox) -> None:
    image = make_tasks({"sheet/easy": 1}, 0)[0].images[0].image
    fails = LOOK.replace("input_image.size", "no_such_name")

    def made(name: str, *turns: str) -> Task:
        shown = (NamedImage("image_1", image),)
        return Task(name, shown, "What is shown?", ("a cup",), {"turns": list(turns), "level": "hard"})

    tasks = [made("runs", LOOK, TOLD), made("fails", fails, TOLD), made("direct", TOLD)]
    assert turns_of(tasks[0]) == (LOOK, TOLD)
    played = Play(prompt="full")(ScriptedPolicy(chat, expert(0.0, "full")), chat, box, tasks, temperature=0.0)
    assert [plays_out(episode) for episode in played] == [True, False, True]
    assert played[0].turns[0].observation is not None
    assert played[0].turns[0].observation.text == f"<interpreter>{image.size}", "what the code gives here"
    again = lesson(played[0])
    assert turns_of(again) == (LOOK, TOLD) and again.meta["level"] == "hard"
    assert lesson(played[2]).meta["level"] == "easy"
