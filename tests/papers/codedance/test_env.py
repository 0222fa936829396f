"""CodeDance's environment: what code prints, draws and does wrong, each as the agent is told of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from kit.chat import Chat
from kit.episode import NamedImage, Observation, Task
from kit.policy.scripted import ScriptedPolicy
from kit.rollout import RolloutConfig, rollout
from papers.codedance.env import BRIEF, FULL, OUTPUT, PROTOCOL, CodeDanceEnv
from pictures.documents import chart
from turn_sandbox import PLOTTING, Sandbox
from turn_sandbox.limits import READABLE_FIGURES

BARS = chart(np.random.default_rng(0), ())
SMALL = BARS.image.resize((56, 56))
TASK = Task(
    "t", (NamedImage("image", SMALL),), "What is the sum?", ("10",), originals=(NamedImage("image", BARS.image),)
)


@pytest.fixture(scope="module")
def readable() -> Iterator[Sandbox]:
    """A sandbox with the limits of the paper, as :mod:`papers.codedance.experiment` opens it."""
    with Sandbox(READABLE_FIGURES, preload=PLOTTING) as box:
        yield box


@pytest.fixture(params=["brief", "full"])
def env(readable: Sandbox, request: Any) -> Iterator[CodeDanceEnv]:
    one = CodeDanceEnv(readable, request.param)
    one.reset(options={"task": TASK})
    yield one
    one.close()


def code(env: CodeDanceEnv, text: str) -> Observation:
    return env.step(f"<think>so</think><code>{text}</code>")[0]


def test_a_computation_then_the_answer(env: CodeDanceEnv) -> None:
    seen, reward, terminated, _, info = env.step("<think>so</think><code>print(1 + 2 + 7)</code>")
    assert seen == Observation("<interpreter>10", (), "ok", "</interpreter>")
    assert (reward, terminated, info["action"].name) == (0.0, False, "code")
    assert env.step("<think>It is 10.</think><answer>10</answer>")[1:3] == (1.0, True)


def test_code_opens_the_original_and_its_image_is_shown(env: CodeDanceEnv) -> None:
    seen = code(env, "image.size\n")
    assert seen.text == "<interpreter>(140, 140)"
    seen = code(env, "part = image.crop((0, 0, 70, 70))")
    assert (seen.text, seen.closing) == ("<interpreter>", "</interpreter>")
    assert [(image.name, image.image.size) for image in seen.images] == [("part", (70, 70))]
    assert code(env, "print(part.size)").text == "<interpreter>(70, 70)", "it stays for later turns"


def test_what_only_one_of_the_two_ways_to_tell_offers(readable: Sandbox) -> None:
    brief, full = CodeDanceEnv(readable, "brief"), CodeDanceEnv(readable, "full")
    for env in (brief, full):
        env.reset(options={"task": TASK})
    assert [p.name for p in code(brief, "part = crop(image, [0.0, 0.0, 0.5, 0.5])").images] == ["part"]
    assert code(full, "part = crop(image, [0.0, 0.0, 0.5, 0.5])").status == "error"
    opened = "from PIL import Image\nprint(Image.open('input_image.jpg').size, input_image.size)"
    assert code(full, opened).text == "<interpreter>(140, 140) (140, 140)"
    drawn = code(full, "plt.bar([1, 2], [3, 4])\nplt.show()")
    assert [image.name for image in drawn.images] == ["figure_1"]
    assert drawn.images[0].image.size == (960, 720), "6.4 by 4.8 inches at 150 dots"
    full.reset(options={"task": Task("text", (), "What is 3 + 4?", ("7",))})
    assert code(full, "3 + 4").text == "<interpreter>7", "a question without an image"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("# look closer", "there is no statement in it"),
        ("...", "there is no statement in it"),
        ("'''Count the bars.'''\npass", "there is no statement in it"),
        ("```python\n# nothing\n```", "there is no statement in it"),
        ("print(1 +", "SyntaxError"),
        ("print(bars)", "NameError: name 'bars' is not defined"),
        ("x = input()", "EOFError"),
        ("exit()", "exit() is blocked"),
        ("import sys\nsys.exit(0)", "exit() is blocked"),
        ("import os\nos._exit(0)", "Error: "),
    ],
)
def test_what_is_no_success(env: CodeDanceEnv, text: str, told: str) -> None:
    seen = code(env, text)
    assert seen.status != "ok" and told in seen.text and not seen.images


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("print('Error 404')", "<interpreter>Error 404"),
        ("x = 3", "<interpreter>Nothing was printed or shown."),
        ("import sys\nprint('careful', file=sys.stderr)\nprint(1)", "<interpreter>1\ncareful"),
        ("import warnings\nwarnings.warn('old')\n2 + 2", "<interpreter>4\n"),
        ("```python\nprint(1)\n```", "<interpreter>1"),
        ("x = 3\nx;", "<interpreter>Nothing was printed or shown."),
        ("x = 3; x", "<interpreter>3"),
        ("x = 1\ny = 2\nx, y", "<interpreter>(1, 2)"),
        ("x = 1\r\nx,\r\n", "<interpreter>(1,)"),
        ("```python\nx = 1\nx, 2\n```", "<interpreter>(1, 2)"),
        ("import warnings\nwarnings.warn('old'), 1", "<interpreter>(None, 1)\n<turn 1>:2: UserWarning: old\n"),
        ("import pandas", "<interpreter>Nothing was printed or shown."),
        ("x = [1,\n 2]\n(x\n + [3])  # all", "<interpreter>[1, 2, 3]"),
    ],
)
def test_what_is_a_success(env: CodeDanceEnv, text: str, told: str) -> None:
    seen = code(env, text)
    assert seen.status == "ok" and seen.text.startswith(told)


def test_a_failed_turn_leaves_no_trace_and_says_what_it_had_printed(env: CodeDanceEnv) -> None:
    code(env, "x = 1")
    failed = code(env, "x = 2\nprint('so far')\n1 / 0")
    assert failed.text == "<interpreter>so far\nError: ZeroDivisionError: division by zero (line 3)"
    assert code(env, "print(x)").text == "<interpreter>1"


def test_images_are_sized_for_a_model_and_long_output_is_cut(env: CodeDanceEnv) -> None:
    small = code(env, "small = image.resize((28, 40))")
    assert [p.image.size for p in small.images] == [(112, 160)]
    thin = code(env, "thin = image.resize((300, 20))")
    assert not thin.images and "a side needs 28" in thin.text
    assert code(env, "print('a' * 5000)").text == f"<interpreter>{'a' * OUTPUT}… (3000 characters more)"


def test_a_turn_without_code_must_answer(env: CodeDanceEnv) -> None:
    seen, _, terminated, _, _ = env.step("<think>so</think>")
    assert terminated and seen.status == "format"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("print('  a  b\\n0 1  2')", "\n  a  b\n0 1  2"),
        ("print('\\n\\n  a  b\\n0 1  2\\n\\n')", "\n  a  b\n0 1  2"),
        ("print('   .#.\\n  ###')", "\n   .#.\n  ###"),
        ("'%6s\\n%6s' % ('tea', '12.50')", "\n   tea\n 12.50"),
        ("print('\\ta\\n1\\t2')", "\n\ta\n1\t2"),
        ("print('a\\n  b  ')", "a\n  b"),
        ("print('   ')", "Nothing was printed or shown."),
    ],
)
def test_what_is_printed_keeps_the_spaces_that_put_it_below_each_other(env: CodeDanceEnv, said: str, told: str) -> None:
    assert code(env, said).text == f"<interpreter>{told}"


def test_full_prompts_say_how_large_what_code_opens_is(readable: Sandbox) -> None:
    system = CodeDanceEnv(readable, "full").prompt(TASK)[0]
    width, height = BARS.image.size
    assert system.endswith(f"\nIn full size, as it is opened, image has {width} x {height} pixels.")
    same = Task("t", TASK.images, "?", ("1",))
    assert CodeDanceEnv(readable, "full").prompt(same)[0] == FULL
    assert CodeDanceEnv(readable, "brief").prompt(TASK)[0] == BRIEF


def test_an_unknown_prompt_is_named(readable: Sandbox) -> None:
    with pytest.raises(ValueError, match="prompt='long': choose one of"):
        CodeDanceEnv(readable, "long")


def test_in_an_episode_the_closing_tag_follows_the_images(chat: Chat, readable: Sandbox) -> None:
    turns = ["<think>a</think><code>part = image.crop((0, 0, 70, 70))</code>", "<think>b</think><answer>10</answer>"]
    policy = ScriptedPolicy(chat, lambda episode: turns[len(episode.turns)])
    (played,) = rollout(policy, chat, [TASK], lambda: CodeDanceEnv(readable), RolloutConfig(6))
    told = chat.decode(played.turns[0].observation_ids)
    assert played.ended == "answer" and "<interpreter>part: " in told
    assert told.index("</interpreter>") > told.rindex("<|image_pad|>")
    assert PROTOCOL.stops == ("</code>", "</answer>")
