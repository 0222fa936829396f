"""Mags-RL's baselines: one example before the question, one part alone, no part at all."""

from __future__ import annotations

import pytest
from PIL import Image

from kit.chat import Chat
from kit.episode import Episode, NamedImage, Task
from kit.evaluate.baselines import SingleTurnEnv
from kit.policy.scripted import ScriptedPolicy
from papers.mags_rl.baselines import BASELINES, ask, check_baselines, no_crops, one_part, with_example
from papers.mags_rl.env import COUNT, MagsEnv
from papers.mags_rl.experiment import Play
from papers.mags_rl.zoom import Magnifier
from visual_tools.super_resolution import Bicubic

LOOK = "<think>Both. <zoom>[[0, 0, 0.5, 0.5], [0.5, 0.5, 1, 1]]</zoom></think>"
ANSWER = "<rethink>so</rethink><answer>2</answer>"


def task(name: str, skill: str) -> Task:
    return Task(name, (NamedImage("image", Image.new("RGB", (80, 80))),), f"{name}?", ("2",), {"skill": skill})


def test_the_example_is_of_the_same_skill_and_of_another_image() -> None:
    examples = [task("a", "relation"), task("b", "count"), task("c", "count")]
    asked = with_example(task("z", "count"), examples)
    assert [image.name for image in asked.images] == ["example", "image"]
    assert asked.question == "example: b? 2. image: z?" and asked.target == ("2",)
    assert with_example(task("b", "count"), examples).question.startswith("example: c? 2.")
    assert with_example(task("z", "attribute"), examples).question.startswith("example: a? 2.")
    env = SingleTurnEnv()
    assert env.prompt(asked)[1] == ["example: ", asked.images[0], "image: ", asked.images[1], asked.question]
    with pytest.raises(ValueError, match="task b: one shot needs an example about another image"):
        with_example(task("b", "count"), [task("b", "count")])


@pytest.mark.parametrize(("around", "shown"), [(one_part, ["zoom_1"]), (no_crops, [])])
def test_less_is_shown_and_all_else_stays(around: object, shown: list[str]) -> None:
    env = around(MagsEnv(Magnifier(Bicubic(2))))  # type: ignore[operator]
    env.reset(options={"task": task("t", "count")})
    seen, _, terminated, _, info = env.step(LOOK)
    assert [image.name for image in seen.images] == shown and not terminated
    assert seen.closing == "t?" and seen.status == "ok"
    assert len(info["action"].arguments["boxes"]) == 2
    assert env.step(ANSWER)[1:3] == (1.0, True)


def test_each_baseline_is_asked_in_its_own_way(chat: Chat) -> None:
    """Turns, images shown after the prompt, and what the prompt says, of all five."""
    seen: list[Episode] = []

    def says(episode: Episode) -> str:
        seen.append(episode)
        return LOOK if "zoom" in chat.tokenizer.decode(episode.prompt_ids) and not episode.turns else ANSWER

    play = Play(prompt="brief", network="smfanet", weights="no.pth", max_new_tokens=200)
    examples = [task("a", "count")]
    found = {}
    for name in BASELINES:
        [episode] = ask(name, play, ScriptedPolicy(chat, says), chat, [task("t", "count")], examples)
        observed = [turn.observation for turn in episode.turns if turn.observation is not None]
        found[name] = len(episode.turns), [image.name for each in observed for image in each.images]
        assert episode.answer == "2"
    assert found == {
        "direct": (1, []),
        "cot": (1, []),
        "one_shot": (1, []),
        "zoom_refine": (2, ["zoom_1"]),
        "grit": (2, []),
    }
    prompts = {episode.task.question for episode in seen if len(episode.task.images) == 2}
    assert prompts == {"example: a? 2. image: t?"}, "one shot alone has an example"
    told = [chat.tokenizer.decode(episode.prompt_ids) for episode in seen if not episode.turns]
    assert COUNT["brief"][1] in told[3] and COUNT["brief"][2] in told[4]


def test_a_baseline_that_there_isnt_is_refused(chat: Chat) -> None:
    with pytest.raises(ValueError, match="baselines=best: choose among direct, cot, one_shot, zoom_refine, grit"):
        check_baselines(("cot", "best"))
    with pytest.raises(ValueError, match=r"baselines=cot: .* each once"):
        check_baselines(("cot", "cot"))
    with pytest.raises(ValueError, match="baselines=best"):
        ask("best", Play(), ScriptedPolicy(chat, lambda episode: ""), chat, [task("t", "count")])
    check_baselines(())
