"""MAT-Coding: the paper's counts, gold checks that can fail, and what counts as having undone a distortion."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from PIL import Image

from kit.data.store import load_tasks, save_tasks
from kit.episode import Task
from kit.tools import restoration as mending
from papers.visual_arft.mat_coding import (
    CATEGORIES,
    REMEDIES,
    TEST,
    TRAIN,
    MakingError,
    Question,
    distortions,
    drawn,
    likeness,
    make_tasks,
    restored,
    summary,
)
from pictures.distortion import STRENGTHS, distort, undo
from pictures.scenes import scene

POOL = [scene(np.random.default_rng(i), 168) for i in range(2)]
SOURCE = drawn(POOL, "drawn")
FEW = dict.fromkeys(CATEGORIES, 4)


@pytest.fixture(scope="module")
def tasks() -> list[Task]:
    return make_tasks(SOURCE, FEW, seed=0, name="few")


def picture(task: Task) -> Image.Image:
    return task.images[0].image


def test_the_counts_are_the_papers() -> None:
    assert sum(TEST.values()) == 200 and len(TRAIN) == 12 and sum(TRAIN.values()) == 1200
    hard = sum(n for name, n in TEST.items() if name == "crop" or "+" in name)
    assert (hard, sum(TEST.values()) - hard) == (130, 70)


def test_every_category_is_made_and_labelled(tasks: list[Task]) -> None:
    assert summary(tasks) == FEW | {"simple": 28, "hard": 20}
    parts = {"turn": {"rotate90", "rotate180"}, "light": {"dark", "overexposed"}, "detail": {"blur", "noise"}}
    for task in tasks:
        kinds = [one.kind for one in distortions(task)]
        category = task.meta["category"]
        if category in STRENGTHS:
            assert kinds == [category]
        elif "+" in category:
            names = category.split("+")
            assert len(kinds) == len(names)
            assert all(kind in parts[name] for kind, name in zip(reversed(kinds), names, strict=True))
        else:
            assert kinds == []
        assert (task.meta["box"] is not None) == (category == "crop")


def test_a_seed_fixes_it_and_another_makes_others(tasks: list[Task]) -> None:
    again = make_tasks(SOURCE, FEW, seed=0, name="few")
    assert [(t.id, t.question, t.target, t.images[0].sha256) for t in again] == [
        (t.id, t.question, t.target, t.images[0].sha256) for t in tasks
    ]
    others = make_tasks(SOURCE, FEW, seed=1, name="few") + make_tasks(SOURCE, FEW, seed=0, name="more")
    assert not {t.meta["source"] for t in others} & {t.meta["source"] for t in tasks}


def test_the_gold_check_refuses_a_picture_that_was_not_mended() -> None:
    """The rotation left as it is, or turned the wrong way: no question can be read."""
    rng = np.random.default_rng(5)
    for _ in range(10):
        question = SOURCE(rng, False)
        turned = question.image.transpose(Image.Transpose.ROTATE_270)
        assert question.passes(question.image) and not question.passes(turned)


def test_any_pictures_and_questions_will_do() -> None:
    """Without a way to read them, what is mended must look like what was there."""
    photo = Image.fromarray(scene(np.random.default_rng(9), 196))
    made = make_tasks(
        lambda rng, part: Question(photo, "What is it?", ("a scene",), "mine", box=(0, 0, 0.5, 0.5) if part else None),
        {"dark": 2, "rotate90": 2, "crop": 1},
        seed=0,
        name="mine",
    )
    assert Counter(t.meta["category"] for t in made) == {"dark": 2, "rotate90": 2, "crop": 1}
    for task in made:
        assert likeness(undo(picture(task), distortions(task)), photo) > 24


def test_pictures_that_can_not_be_mended_are_refused_by_name() -> None:
    noisy = Image.fromarray(np.random.default_rng(0).integers(0, 256, size=(84, 84, 3)).astype(np.uint8))
    with pytest.raises(MakingError, match="category 'blur': of 50 pictures none could be read"):
        make_tasks(lambda rng, part: Question(noisy, "?", ("x",), "mine"), {"blur": 1}, 0, "mine")
    with pytest.raises(MakingError, match="category 'foggy': known are none, rotate90"):
        make_tasks(SOURCE, {"foggy": 1}, 0, "mine")


@pytest.mark.parametrize("kind", list(REMEDIES))
def test_the_right_operation_undoes_and_no_other_does(kind: str) -> None:
    made = make_tasks(SOURCE, {kind: 12}, seed=3, name="one")
    for task in made:
        assert restored(task, [REMEDIES[kind](picture(task))]), kind
        assert not restored(task, []) and not restored(task, [picture(task)])
        for other, operation in REMEDIES.items():
            if other != kind:
                assert not restored(task, [operation(picture(task))]), (kind, other)


def test_only_the_last_picture_counts(tasks: list[Task]) -> None:
    task = next(t for t in tasks if t.meta["category"] == "rotate180")
    right = mending.rotate(picture(task), 180)
    assert restored(task, [picture(task), right]) and not restored(task, [right, picture(task)])


def test_what_is_whole_must_be_left_so(tasks: list[Task]) -> None:
    task = next(t for t in tasks if t.meta["category"] == "none")
    assert restored(task, []) and restored(task, [picture(task)])
    assert not restored(task, [mending.rotate(picture(task), 180)])


def test_combinations_are_undone_step_by_step(tasks: list[Task]) -> None:
    for task in tasks:
        if task.meta["category"] == "light+turn":
            mended = picture(task)
            for one in reversed(distortions(task)):
                assert not restored(task, [mended])
                mended = REMEDIES[one.kind](mended)
            assert restored(task, [mended])


def test_tasks_survive_the_disk(tasks: list[Task], tmp_path) -> None:
    save_tasks(tmp_path / "tasks.jsonl", tasks)
    back = load_tasks(tmp_path / "tasks.jsonl")
    assert [(t.id, t.target, dict(t.meta)) for t in back] == [(t.id, t.target, dict(t.meta)) for t in tasks]
    assert distortions(back[0]) == distortions(tasks[0])
    assert distort(picture(back[0]), ()).tobytes() == picture(tasks[0]).convert("RGB").tobytes()
