"""Asking without tools: three ways, one turn, and whatever is said is the answer."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from kit.chat import Chat
from kit.episode import Episode, NamedImage, Task
from kit.evaluate.baselines import SingleTurnEnv, opened
from kit.policy.scripted import ScriptedPolicy
from kit.rewards.text_match import f1
from kit.rollout import RolloutConfig, rollout
from kit.tools.search import Snippet

PICTURE = NamedImage("flag", Image.fromarray(np.zeros((28, 28, 3), dtype=np.uint8)))
TASK = Task("t", (PICTURE,), "Which country?", ("Chad",))


class Shelf:
    def search(self, query: str, k: int = 4) -> tuple[Snippet, ...]:
        return (Snippet(f"about {query}", "nothing much", "s"),) * k


def test_it_is_a_proper_environment() -> None:
    check_env(SingleTurnEnv(), skip_render_check=True)


@pytest.mark.parametrize("prompt", ["brief", "full"])
def test_each_way_is_given_what_it_says(prompt: str) -> None:
    direct, cot = (SingleTurnEnv(mode, prompt=prompt).prompt(TASK) for mode in ("direct", "cot"))
    assert direct[1] == cot[1] == ["flag: ", PICTURE, "Which country?"]
    assert ("<think>" in cot[0]) and "<think>" not in direct[0]
    _, found = SingleTurnEnv("rag", Shelf(), prompt, k=2, snippet_chars=8).prompt(TASK)
    assert found[0] == (
        "<information>1. about Which country?: nothing…\n2. about Which country?: nothing…</information> "
    )
    assert found[1:] == direct[1]


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("Chad", "Chad"),
        ("<answer> Chad</answer>", "Chad"),
        ("<think>Mali?</think><answer>Chad</answer>", "Chad"),
        ("<think>Mali?</think> Chad", "Chad"),
        ("", ""),
    ],
)
def test_the_answer_is_what_stands_in_its_tags_or_all_of_it(said: str, answer: str, chat: Chat) -> None:
    config = RolloutConfig(max_turns=1, max_new_tokens=40)
    (played,) = rollout(ScriptedPolicy(chat, lambda episode: said), chat, [TASK], SingleTurnEnv, config)
    assert (played.answer, played.ended, played.calls) == (answer, "answer", 0)


def described(**more) -> SingleTurnEnv:
    how = {"k": 1, "snippet_chars": 12, "describe": "What is shown?", "query": "flag description {}"}
    return SingleTurnEnv("rag-described", Shelf(), **(how | more))


@pytest.mark.parametrize(
    "said", ["blue yellow red.", "<think>three</think> blue yellow red", "<answer>blue yellow red.</answer>"]
)
def test_a_description_is_the_query_and_then_the_question_is_answered(said: str, chat: Chat) -> None:
    def script(episode: Episode) -> str:
        return "Chad" if episode.turns else said

    config = RolloutConfig(max_turns=2, max_new_tokens=60)
    two = [TASK, TASK]  # the second begins with a description again
    for played in rollout(ScriptedPolicy(chat, script), chat, two, described, config):
        observation = played.turns[0].observation
        assert observation is not None
        assert observation.text == (
            "<information>1. about flag description blue yellow red: nothing much</information> Which country?"
        )
        assert (played.answer, played.ended, len(played.turns)) == ("Chad", "answer", 2)
        assert f1(played.answer, "Chad") == 1.0


@pytest.mark.parametrize("said", ["", "?!", "<think>three</think>"])
def test_a_description_without_a_word_finds_nothing(said: str, chat: Chat) -> None:
    config = RolloutConfig(max_turns=2, max_new_tokens=60)
    script = ScriptedPolicy(chat, lambda episode: "Chad" if episode.turns else said)
    (played,) = rollout(script, chat, [TASK], lambda: described(query="{}"), config)
    assert played.turns[0].observation is not None
    assert played.turns[0].observation.text == "<information>Nothing was found.</information> Which country?"
    assert played.answer == "Chad"


def test_a_description_is_asked_for_first_and_of_an_image() -> None:
    assert described().prompt(TASK) == ("", ["flag: ", PICTURE, "What is shown?"])
    assert "describe" in described(prompt="full").prompt(TASK)[0]
    with pytest.raises(ValueError, match="task t has no image to describe: play it with rag"):
        described().prompt(Task("t", (), "Which country?", ("Chad",)))


@given(st.text(max_size=40))
def test_any_text_ends_it_with_a_reward_of_0_to_1(text: str) -> None:
    env = SingleTurnEnv()
    env.reset(options={"task": TASK})
    _, reward, terminated, _, info = env.step(text)
    assert terminated and 0 <= reward <= 1 and info["action"].name == "answer"


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({"mode": "rag"}, "give search"),
        ({"mode": "rag-described", "describe": "What?"}, "give search"),
        ({"mode": "rag-described", "search": Shelf()}, "rag-described needs words"),
        ({"describe": "What?"}, "no other mode does"),
        ({"mode": "guess"}, "mode='guess'"),
        ({"prompt": "long"}, "prompt='long'"),
    ],
)
def test_a_wrong_setting_is_named(given_: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SingleTurnEnv(**given_)


def test_an_opened_task_shows_what_the_prompt_hid() -> None:
    small = NamedImage("flag", PICTURE.image.resize((14, 14)))
    hidden = Task("t", (small,), "Which country?", ("Chad",), originals=(PICTURE,))
    assert opened(hidden) == TASK
    assert opened(TASK) == TASK  # nothing hidden
