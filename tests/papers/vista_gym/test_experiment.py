"""VISTA-Gym's experiment: the paper's limits and settings, rewards by name, tasks to go on with."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kit.episode import Action, Episode, Task, Turn
from kit.train.grpo import GRPOSettings
from papers.vista_gym.env import OUTPUT, PRIOR
from papers.vista_gym.experiment import (
    LEAST_PASSED,
    MOST_PASSED,
    Play,
    Training,
    check_tries,
    hard_but_learnable,
    mixture,
    open_tools,
)
from papers.vista_gym.reward import REWARDS
from papers.vista_gym.toolbox import TOOLS
from visual_tools.serve.client import ServiceError
from workshop.jobs.notebooks import find
from workshop.jobs.run import profile_values

CALL = '<think>Look.</think><tool_call>{"tool": "easyocr.read", "arguments": {}}</tool_call>'


def training(tmp_path: Path, reward: str = "format_aware") -> Training:
    return Training("base", "tasks.jsonl", str(tmp_path), Play(), GRPOSettings(), reward=reward)


def tried(name: str, right: int, of: int = 8) -> list[Episode]:
    """So many tries of one task, of which some are right."""
    one = Task(name, (), "?", ("7",), {"family": "charts"})
    answers = ["7"] * right + ["8"] * (of - right)
    texts = [f"<think>a</think><answer>{answer}</answer>" for answer in answers]
    return [
        Episode(one, (), (Turn((), (), text, Action("answer", answer)),), "answer")
        for text, answer in zip(texts, answers, strict=True)
    ]


def test_three_turns_and_what_tools_say_fill_the_papers_response() -> None:
    """Section 6.1: 26,780 tokens of response. Three turns of 8,192 are 24,576; 2,204 are left for two replies."""
    node = profile_values(find("54")[0], "node")
    play = Play(max_turns=node["max_turns"], max_new_tokens=node["max_new_tokens"])
    left = play.max_response_tokens - play.max_turns * play.max_new_tokens
    assert (play.max_response_tokens, left) == (26780, 2204)
    assert left >= 2 * OUTPUT / 2, "two replies of full length, at two characters a token"


@pytest.mark.parametrize("name", REWARDS)
def test_rewards_by_name_judge_answers_alike(tmp_path: Path, name: str) -> None:
    own = training(tmp_path, name)
    for reward in (own.group_reward(), own.held_out_reward()):
        assert [score.correct for score in reward(tried("t", 1, 2), ("7",))] == [True, False]
    assert own.subset(tried("t", 1)[0].task) == "charts"


@pytest.mark.parametrize("prompt", ["brief-alone", "full-alone"])
def test_without_tools_it_reasons_and_is_paid_as_with_them(tmp_path: Path, prompt: str) -> None:
    own = replace(training(tmp_path), play=Play(prompt=prompt))
    scores = own.group_reward()(tried("t", 1, 2), ("7",))
    assert [score.parts for score in scores] == [
        {"repetition": 0.0, "format": 1.0, "accuracy": 1.0},
        {"repetition": 0.0, "format": 1.0, "accuracy": 0.0},
    ]
    env = own.play.environment(own.play.idle())
    system, _ = env.prompt(Task("t", (), "How many?", ("7",)))
    assert "tool" not in system and "<think>" in system and env.protocol.stops == ("</answer>",)


@pytest.mark.parametrize(
    ("text", "action"),
    [("<think>I see.</think><answer>7</answer>", "answer"), ("7", None), (CALL, None)],
)
def test_without_tools_the_first_turn_is_the_last(text: str, action: str | None) -> None:
    env = Play(prompt="brief-alone").environment(())
    env.reset(options={"task": Task("t", (), "How many?", ("7",))})
    _, _, terminated, _, info = env.step(text)
    assert terminated and (info["action"].name if info["action"] else None) == action


def test_its_tools_are_the_papers(tmp_path: Path) -> None:
    with training(tmp_path).tools() as tools:
        assert [tool.name for tool in tools] == list(TOOLS)
    with replace(training(tmp_path), offered=("easyocr.read",)).tools() as tools:
        assert [tool.name for tool in tools] == ["easyocr.read"]


def test_what_is_trained_with_is_named_or_everything() -> None:
    assert mixture() == (tuple(PRIOR), tuple(TOOLS))
    assert mixture("maps, charts") == (("maps", "charts"), tuple(TOOLS))
    assert mixture("easyocr.read") == (tuple(PRIOR), ("easyocr.read",))
    assert mixture("maps,easyocr.read") == (("maps",), ("easyocr.read",))
    with pytest.raises(ValueError, match=r"only='map': 'map' is neither a family \(charts, .*\) nor a tool"):
        mixture("map")


def test_two_tries_can_show_no_question_to_be_hard_but_learnable() -> None:
    assert [check_tries(n) for n in (3, 4, 8)] == [3, 4, 8]
    for tries in (1, 2):
        with pytest.raises(ValueError, match=f"patch_tries={tries}: none of its shares"):
            check_tries(tries)


def test_a_service_that_is_gone_is_told_before_anything_is_asked() -> None:
    with pytest.raises(ServiceError), open_tools("http://127.0.0.1:9"):
        pass


def test_training_goes_on_with_what_is_solved_now_and_then() -> None:
    """1 to 3 of 8 are 0.125 to 0.375, ends included; 0 and 4 are outside."""
    episodes = [e for right in range(9) for e in tried(f"t-{right}", right)]
    assert (LEAST_PASSED, MOST_PASSED) == (0.125, 0.375)
    assert [task.id for task in hard_but_learnable(episodes)] == ["t-1", "t-2", "t-3"]
    assert [task.id for task in hard_but_learnable(episodes, 1.0, 1.0)] == ["t-8"]
