"""Puzzle sets: what is in them, that a seed fixes them, that splits hold."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from kit.data.leak import LeakError, solved
from kit.data.source import ImageError, SourceImage
from kit.episode import Task, content_hash
from papers.agile.tasks import LEVELS, apart, check_split, evaluation_set, make_puzzles, training_set
from pictures.photos import photos, scenes
from pictures.scenes import scene


def fixed(task: Task) -> int:
    return sum(p.name == label for p, label in zip(task.images, task.target, strict=True))


def same(one: Task, other: Task) -> bool:
    return (one.id, one.target, one.meta) == (other.id, other.target, other.meta) and all(
        content_hash(a.image) == content_hash(b.image) for a, b in zip(one.images, other.images, strict=True)
    )


def test_training_puzzles_are_2x2_all_misplaced_from_training_pictures() -> None:
    tasks = training_set(24, seed=0, photo_share=0.5)
    assert len(tasks) == 24 == len({t.id for t in tasks})
    assert all(t.meta["m"] == 2 and fixed(t) == 0 and len(t.images) == 4 for t in tasks)
    train = {p.id for p in photos("train")}
    sources = [t.meta["source"] for t in tasks]
    assert sum(s in train for s in sources) == 12
    assert all(s in train or s.startswith("scene-") for s in sources)
    assert len({s for s in sources if s.startswith("scene-")}) == 12  # each scene once


def test_training_puzzles_take_the_levels_in_turn_each_crop_once() -> None:
    tasks = training_set(24, seed=0, levels=(0, 1, 2), photo_share=0.5)
    assert len(tasks) == 24
    assert Counter(fixed(t) for t in tasks) == {0: 8, 1: 8, 2: 8}
    assert len({t.id.rpartition("-")[2] + t.meta["source"] for t in tasks}) == 24


@pytest.mark.parametrize("m", [2, 3])
def test_evaluation_has_every_level_on_the_same_pictures(m: int) -> None:
    tasks = evaluation_set(8, seed=1, m=m)
    assert Counter(t.meta["level"] for t in tasks) == dict.fromkeys(LEVELS[m], 8)
    assert all(fixed(t) == t.meta["level"] for t in tasks)
    assert {t.meta["source"] for t in tasks} == {p.id for p in photos("held-out")}  # 8 puzzles, 8 photographs
    assert tasks[0].images[0].image.size == (56, 56)


def test_a_seed_fixes_the_set_and_fewer_are_the_first_of_more() -> None:
    few, many = (make_puzzles(photos("held-out"), n, 2, (0,), seed=7) for n in (5, 11))
    assert all(same(a, b) for a, b in zip(few, many, strict=False))
    other = make_puzzles(photos("held-out"), 5, 2, (0,), seed=8)
    assert not any(same(a, b) for a, b in zip(few, other, strict=True))


def test_held_out_pictures_are_only_cropped() -> None:
    # A picture whose red, green and blue are ordered keeps the order unless channels were exchanged.
    pixels = scene(np.random.default_rng(0), 128)[:, :, :1] // 2 + np.array([0, 40, 80], dtype=np.uint8)
    image = Image.fromarray(pixels.astype(np.uint8))
    cases = {("held-out", "colour"): True, ("train", "colour"): False, ("train", "user"): True, ("train", "hub"): True}
    for (split, kind), kept in cases.items():
        source = SourceImage("p", split, kind, "", lambda: image)  # type: ignore[arg-type]
        tasks = make_puzzles([source], 12, 2, (0,), seed=0)
        ordered = [(np.diff(np.asarray(t.images[0].image).mean((0, 1))) > 0).all() for t in tasks]
        assert all(ordered) is kept, (split, kind)


def of_sides(n: int, **sides: int) -> list[SourceImage]:
    """``n`` oblong scenes to train on and some of other sides, 150×100."""
    wanted = ["train"] * n + [side for side, count in sides.items() for _ in range(count)]
    return [
        SourceImage(f"{side}-{k}", side, "hub", "", lambda k=k: oblong(k))  # type: ignore[arg-type, misc]
        for k, side in enumerate(wanted)
    ]


def oblong(k: int) -> Image.Image:
    return Image.fromarray(scene(np.random.default_rng(k), 150)).crop((0, 0, 150, 100))


def test_whole_pictures_are_cut_uncropped_unmirrored_each_once() -> None:
    sources = of_sides(5, test=2, development=2)
    tasks = training_set(5, 0, sources=sources, piece_px=None, whole=True)
    assert sorted(t.meta["source"] for t in tasks) == [f"train-{k}" for k in range(5)]
    for task in tasks:
        assert content_hash(solved(task)) == content_hash(oblong(int(task.meta["source"].split("-")[1])))
    held_out = {
        side: evaluation_set(2, 1, 2, (0, 1), sources, None, side, whole=True)  # type: ignore[arg-type]
        for side in ("test", "development")
    }
    for side, found in held_out.items():
        assert {t.meta["source"].split("-")[0] for t in found} == {side} and len(found) == 4
    check_split(tasks, held_out["test"], sources, held_out["development"])
    with pytest.raises(LeakError, match=r"test-5-2x2-L0"):
        check_split([], held_out["test"], [], held_out["test"])
    with pytest.raises(ValueError, match="pictures of development and test; choose one"):
        evaluation_set(1, 0, sources=sources)


@pytest.mark.parametrize("m", [2, 3])
@pytest.mark.parametrize("size", [(1280, 720), (300, 1100), (64, 64), (997, 1003)])
@pytest.mark.parametrize("max_pixels", [3_000, 50_000, 401_408])
def test_no_image_that_the_agent_is_given_has_more_pixels(m: int, size: tuple[int, int], max_pixels: int) -> None:
    source = SourceImage("p", "test", "hub", "", lambda: Image.new("RGB", size))
    [task] = make_puzzles([source], 1, m, (0,), 0, None, whole=True, max_pixels=max_pixels)
    width, height = task.images[0].image.size
    gap = max(1, round(0.02 * m * max(width, height)))  # as the agent's observation() pastes them
    shown = (m * width + (m - 1) * gap, m * height + (m - 1) * gap)
    assert shown[0] * shown[1] <= max_pixels
    if size[0] * size[1] > 1.3 * max_pixels:  # no smaller than it must be
        assert shown[0] * shown[1] > 0.9 * max_pixels
        assert abs(width / height / (size[0] / size[1]) - 1) < 0.12


def test_crops_at_their_own_size_keep_to_the_limit() -> None:
    tasks = training_set(12, 0, photo_share=1.0, piece_px=None, max_pixels=8_000)
    tasks += evaluation_set(8, 1, 2, (0,), piece_px=None, max_pixels=8_000)
    for task in tasks:
        side = task.images[0].image.width
        assert 7_000 < (2 * side + max(1, round(0.04 * side))) ** 2 <= 8_000


def test_options_that_exclude_each_other_are_named() -> None:
    with pytest.raises(ValueError, match="whole=True, piece_px=56, max_pixels=0: square pieces of a fixed size"):
        make_puzzles(of_sides(1), 1, 2, (0,), 0, whole=True)
    with pytest.raises(ValueError, match="max_pixels=100: square pieces of a fixed size"):
        make_puzzles(of_sides(1), 1, 2, (0,), 0, max_pixels=100)
    with pytest.raises(ValueError, match="packaged photographs and scenes are cropped; give sources"):
        training_set(1, 0, whole=True, piece_px=None)


def test_a_plain_picture_is_left_out_with_its_name_and_all_plain_is_an_error() -> None:
    plain = SourceImage("wall", "held-out", "user", "", lambda: Image.new("RGB", (128, 128), (9, 9, 9)))
    with pytest.warns(UserWarning, match="picture wall: too plain"):
        tasks = make_puzzles([plain, photos("held-out")[1]], 4, 2, (0,), seed=0)
    assert {t.meta["source"] for t in tasks} == {"coffee"}
    with pytest.warns(UserWarning), pytest.raises(ImageError, match="none of the 1 pictures"):
        make_puzzles([plain], 4, 2, (0,), seed=0)


def test_bad_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="n_fixed=3"):
        make_puzzles(scenes(1, 0), 1, 2, (3,), seed=0)
    with pytest.raises(ValueError, match="photo_share=2"):
        training_set(4, 0, photo_share=2)
    with pytest.raises(ValueError, match="0 pictures"):
        make_puzzles([], 1, 2, (0,), seed=0)
    with pytest.raises(ValueError, match="m=4"):
        evaluation_set(1, 0, m=4)


def test_the_default_split_is_clean_and_a_shared_picture_is_refused() -> None:
    train, evaluation = training_set(16, seed=0), evaluation_set(8, seed=1)
    check_split(train, evaluation)
    with pytest.raises(LeakError, match=evaluation[0].id):
        check_split([*train, evaluation[0]], evaluation)
    twice = [replace(source, split=split) for source in photos("train") for split in ("train", "held-out")]
    with pytest.raises(LeakError, match=r"flower ~ flower \(0 of 64 bits\)"):
        check_split([], [], twice)


def test_scenes_that_look_alike_by_chance_are_left_out_and_photographs_refused() -> None:
    scene_, other = scenes(2, 7)
    held_out = make_puzzles([replace(scene_, id="scene-held-out", split="development")], 1, 2, (0,), 0)
    train = make_puzzles([scene_, other], 2, 2, (0,), 0)
    assert [task.meta["source"] for task in apart(train, held_out)] == [other.id]
    assert apart(train, []) == train
    photograph = make_puzzles([replace(scene_, id="my-cat", kind="folder")], 1, 2, (0,), 0)
    with pytest.raises(LeakError, match="my-cat"):
        apart(photograph, held_out)
