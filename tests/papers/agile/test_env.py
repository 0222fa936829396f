"""The jigsaw: cutting, shuffling, and a session in which every mistake is an observation."""

from dataclasses import replace
from math import factorial
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageChops

from kit.episode import NamedImage, Task
from papers.agile.env import GAP, JigsawEnv
from papers.agile.puzzle import make_task, shuffle
from pictures.scenes import scene

PICTURE = Image.fromarray(scene(np.random.default_rng(7), 168))


def puzzle(m: int = 2, level: int = 0, seed: int = 0, piece_px: int | None = 56) -> Task:
    return make_task(PICTURE, m, level, np.random.default_rng(seed), "t", "scene", piece_px)


def code(text: str) -> str:
    return f"<think>so</think><code>{text}</code>"


@pytest.mark.parametrize("n", [4, 9, 16])
def test_exactly_n_in_place_for_every_feasible_n(n: int) -> None:
    rng = np.random.default_rng(0)
    for fixed in range(n - 1):
        for _ in range(20):
            order = shuffle(n, fixed, rng)
            assert sorted(order) == list(range(n))
            assert sum(i == v for i, v in enumerate(order)) == fixed


@pytest.mark.parametrize("fixed", [-1, 3, 4, 5])
def test_impossible_n_is_refused_with_the_possible_ones(fixed: int) -> None:
    with pytest.raises(ValueError, match=rf"n_fixed={fixed}.*possible: 0 … 2"):
        shuffle(4, fixed, np.random.default_rng(0))


def test_shuffles_are_uniform() -> None:
    """2×2 has 9 derangements (4! · Σ (−1)^k / k! = 9): each should come up about equally often."""
    rng = np.random.default_rng(0)
    counts: dict[tuple[int, ...], int] = {}
    for _ in range(1800):
        order = tuple(shuffle(4, 0, rng))
        counts[order] = counts.get(order, 0) + 1
    assert len(counts) == round(factorial(4) * (1 - 1 + 1 / 2 - 1 / 6 + 1 / 24)) == 9
    assert max(abs(c - 200) for c in counts.values()) < 75  # 5 standard deviations


@pytest.mark.parametrize(("m", "level"), [(2, 0), (2, 2), (3, 0), (3, 7), (4, 3)])
def test_the_target_restores_the_picture(m: int, level: int) -> None:
    task = puzzle(m, level)
    pieces = {p.name: p.image for p in task.images}
    canvas = Image.new("RGB", (56 * m, 56 * m))
    for place, label in enumerate(task.target):
        canvas.paste(pieces[label], (place % m * 56, place // m * 56))
    whole = PICTURE.convert("RGB").resize((56 * m, 56 * m), Image.Resampling.LANCZOS)
    assert ImageChops.difference(canvas, whole).getbbox() is None
    start = [p.name for p in task.images]
    assert start == sorted(start)
    assert sum(a == b for a, b in zip(start, task.target, strict=True)) == level


def test_sides_that_do_not_divide_are_resized() -> None:
    task = make_task(Image.new("RGB", (100, 71)), 3, 0, np.random.default_rng(0), "t")
    assert {p.image.size for p in task.images} == {(33, 24)}


def test_swap_and_look_shows_the_new_arrangement(env: JigsawEnv) -> None:
    task = puzzle()
    env.reset(options={"task": task})
    seen, reward, terminated, truncated, _ = env.step(
        code("state[0], state[3] = state[3], state[0]\nobservation_image_1 = observation(state)")
    )
    assert (seen.status, reward, terminated, truncated) == ("ok", 0.0, False, False)
    assert [p.name for p in seen.images] == ["observation_image_1"]
    gap = round(GAP * 112)
    picture = seen.images[0].image
    assert picture.size == (112 + gap, 112 + gap)
    pieces = {p.name: p.image for p in task.images}
    assert ImageChops.difference(picture.crop((0, 0, 56, 56)), pieces["D"]).getbbox() is None
    assert picture.getpixel((56, 10)) == (255, 255, 255)


def test_code_works_on_the_originals(env: JigsawEnv) -> None:
    task = puzzle()
    small = tuple(NamedImage(p.name, p.image.resize((28, 28))) for p in task.images)
    env.reset(options={"task": replace(task, images=small, originals=task.images)})
    assert [part for part in env.prompt(env.task)[1] if not isinstance(part, str)] == list(small)
    seen = env.step(code("crop_image_1 = crop(A, [0, 0, 1, 1])"))[0]
    assert ImageChops.difference(seen.images[0].image, task.images[0].image).getbbox() is None
    assert env.images["A"] is task.images[0]


def test_pictures_keep_their_names(env: JigsawEnv) -> None:
    env.reset(options={"task": puzzle()})
    env.step(code("observation_image_1 = observation(state)"))
    seen = env.step(code("crop_image_1 = crop(observation_image_1, [0, 0, 0.5, 0.5])"))[0]
    assert seen.images[0].name == "crop_image_1" and seen.images[0].image.size == (57, 57)
    seen = env.step(code("zoom_image_1 = zoom(crop_image_1, 2)"))[0]
    assert seen.images[0].image.size == (114, 114)
    assert env.step(code("zoom_image_2 = zoom(A, 0.5)"))[0].images[0].image.size == (28, 28)


@pytest.mark.parametrize(
    "text", ["strip = observation(state).resize((1000, 4))", "strip = zoom(A.resize((2000, 8)), 1)"]
)
def test_a_view_that_no_model_reads_is_told_and_the_session_goes_on(env: JigsawEnv, text: str) -> None:
    env.reset(options={"task": puzzle()})
    seen, _, terminated, _, info = env.step(code(text))
    assert (seen.status, seen.images, terminated, info["action"].name) == ("ok", (), False, "code")
    assert seen.text.startswith("Note: picture strip left out: ") and "a side may be 200 times the other" in seen.text
    assert env.step(code("a = observation(state)"))[0].images[0].name == "a"


@pytest.mark.parametrize(
    "text",
    [
        "a = observation(state)\na.save('x.png')",
        "a = observation(state)\nimport cv2, numpy\ncv2.imwrite('x.png', numpy.asarray(a))",
        "A.paste('red', (0, 0, 9, 9))\na = observation(state)",
        "display(observation(state))",
    ],
)
def test_of_a_turn_its_view_is_shown(env: JigsawEnv, text: str) -> None:
    env.reset(options={"task": puzzle()})
    assert [image.image.size for image in env.step(code(text))[0].images] == [(114, 114)]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a = observation(state)\nb = crop(a, [0, 0, 1, 1])", "one image operation"),
        ("state.reverse()\na = observation(state)", "one swap"),
        ("state[0] = 'B'\na = observation(state)", "each of A, B, C, D once"),
        ("state[0], state[1] = state[1], state[0]", "no image operation"),
        ("a = crop(nothing, [0, 0, 1, 1])", "nothing"),
        ("a = crop(A, [0, 0, 2, 1])", "0 <= x1"),
        ("a = crop(A, [0, 0, 0.01, 1])", "too thin"),
        ("a = zoom(A, 100)", "factor"),
        ("a = zoom('A', 2)", "must be an image"),
        ("a = (", "SyntaxError"),
        ("raise ValueError('own')", "own"),
    ],
)
def test_a_mistake_is_an_observation_and_leaves_no_trace(env: JigsawEnv, text: str, reason: str) -> None:
    task = puzzle()
    env.reset(options={"task": task})
    first = env.step(code("before = observation(state)"))[0]
    seen, _, terminated, _, info = env.step(code(text))
    assert seen.status == "error" and not terminated and not seen.images
    assert reason in seen.text and info["action"].name == "code"
    after = env.step(code("again = observation(state)"))[0]
    assert after.images[0].image == first.images[0].image


def test_the_environment_has_no_turn_budget_of_its_own(env: JigsawEnv) -> None:
    """The one of :class:`kit.rollout.RolloutConfig` is the only one."""
    env.reset(options={"task": puzzle()})
    flags = [env.step(code(f"i{k} = observation(state)"))[2:4] for k in range(7)]
    assert flags == [(False, False)] * 7


def test_answers_and_format_errors_end_it(env: JigsawEnv) -> None:
    task = puzzle()
    env.reset(options={"task": task})
    assert env.step(f"<answer>{list(task.target)}</answer>")[1:4] == (1.0, True, False)
    env.reset(options={"task": task})
    assert env.step("<answer>[A, B, C, D]</answer>")[1:4] == (0.0, True, False)
    env.reset(options={"task": task})
    seen, reward, terminated, _, info = env.step("I give up")
    assert (seen.status, reward, terminated, info["action"]) == ("format", 0.0, True, None)


def test_a_turn_without_an_action_may_be_told_instead(box: Any) -> None:
    """Algorithm 1: it uses up a step, and the episode goes on."""
    env = JigsawEnv(box, on_no_action="tell")
    task = puzzle()
    env.reset(options={"task": task})
    seen, reward, terminated, truncated, info = env.step("I give up")
    assert (seen.status, reward, terminated, truncated, info["action"]) == ("format", 0.0, False, False, None)
    assert "<code>" in seen.text and "<answer>" in seen.text
    assert env.step(code("observation_image_1 = observation(state)"))[0].status == "ok", "state is as it was"
    assert env.step(f"<answer>{list(task.target)}</answer>")[1:4] == (1.0, True, False)
    env.close()


def test_what_follows_no_action_is_one_of_two(box: Any) -> None:
    with pytest.raises(ValueError, match=r"on_no_action='ask': choose one of end, tell"):
        JigsawEnv(box, on_no_action="ask")  # type: ignore[arg-type]


@pytest.mark.parametrize("m", [2, 3])
def test_the_full_prompt_tells_every_rule_of_the_papers(box: Any, m: int) -> None:
    task = puzzle(m)
    system, user = JigsawEnv(box, prompt="full").prompt(task)
    state = "[" + ", ".join(f'"{p.name}"' for p in task.images) + "]"
    for rule in (
        f"{m} x {m} grid",
        f"state = {state}",
        f"item {m * m - 1} is the bottom right",
        "Writing:",
        "Shapes:",
        "Edges:",
        "Which way things point:",
        "Choose parts that can settle",
        "what you will do and why",
        "stop there",
        "may make one picture",
        "Number the results",
        f"<answer>{state}</answer>",
    ):
        assert rule in system
    assert "{" not in system + "".join(part for part in user if isinstance(part, str)), "every field is filled"
    labels = ", ".join(p.name for p in task.images)
    assert user[0] == f"The {m * m} images are labelled {labels}. Please solve the jigsaw.\n"
    assert [part for part in user if not isinstance(part, str)] == list(task.images)


def test_what_is_printed_comes_back(env: JigsawEnv) -> None:
    env.reset(options={"task": puzzle()})
    assert "Output: ['A', 'B', 'C', 'D']" in env.step(code("print(state)\na = observation(state)"))[0].text


def test_an_unknown_prompt_is_refused(box: Any) -> None:
    with pytest.raises(ValueError, match=r"prompt='short'.*brief.*full"):
        JigsawEnv(box, prompt="short")
