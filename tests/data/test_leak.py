"""The leak check: what it catches, what it doesn't, and how it says so."""

import io
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image, ImageOps

from kit.data.leak import LeakError, check_leak, check_tasks, leaked_pairs, solved
from kit.episode import NamedImage
from papers.agile.puzzle import make_task
from papers.agile.tasks import training_set
from pictures.photos import photos, scenes


def jpeg(image: Image.Image, quality: int) -> Image.Image:
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=quality)
    return Image.open(buffer).convert("RGB")


def window(image: Image.Image, share: float, seed: int) -> Image.Image:
    rng = np.random.default_rng(seed)
    w, h = int(image.width * share), int(image.height * share)
    x, y = int(rng.integers(image.width - w + 1)), int(rng.integers(image.height - h + 1))
    return image.crop((x, y, x + w, y + h))


HELD_OUT = photos("held-out")
ALL = [*photos("train"), *HELD_OUT]


@pytest.mark.parametrize(
    "change",
    [
        lambda image: image,
        lambda image: image.resize((image.width // 2, image.height // 2)),
        lambda image: image.resize((96, 96)),
        lambda image: jpeg(image, 10),
        lambda image: image.convert("L"),
        ImageOps.mirror,
    ],
    ids=["same", "half", "96x96", "jpeg10", "gray", "mirror"],
)
def test_copies_are_caught(change: Callable[[Image.Image], Image.Image]) -> None:
    originals = [(p.id, p.image) for p in ALL]
    copies = [(f"copy of {p.id}", change(p.image)) for p in ALL]
    caught = {(pair.train, pair.evaluation) for pair in leaked_pairs(originals, copies)}
    assert caught == {(p.id, f"copy of {p.id}") for p in ALL}  # all of them, and nothing else


@pytest.mark.parametrize(("share", "least", "most"), [(0.9, 0.9, 1.0), (0.7, 0.0, 0.1)])
def test_crops_are_caught_as_far_as_documented(share: float, least: float, most: float) -> None:
    hits = [
        bool(leaked_pairs([("a", p.image)], [("b", window(p.image, share, s))])) for p in HELD_OUT for s in range(2)
    ]
    assert least <= np.mean(hits) <= most


def test_the_error_lists_every_pair_and_its_distance() -> None:
    one, two = photos("held-out")[:2]
    with pytest.raises(LeakError) as caught:
        check_leak(
            [("mine/a.jpg", one.image), ("mine/b.jpg", two.image)],
            [("test/x.png", one.image), ("test/y.png", jpeg(two.image, 20))],
        )
    assert {(p.train, p.evaluation) for p in caught.value.pairs} == {
        ("mine/a.jpg", "test/x.png"),
        ("mine/b.jpg", "test/y.png"),
    }
    assert "mine/a.jpg ~ test/x.png (0 of 64 bits)" in str(caught.value) and "remove one" in str(caught.value)


def test_puzzles_are_compared_by_their_solved_pictures() -> None:
    image = photos("held-out")[1].image
    rng = np.random.default_rng(0)
    train = make_task(image, 2, 0, rng, "t", source="renamed", piece_px=56)
    same = make_task(image, 3, 4, rng, "e", source="other name", piece_px=56)
    assert solved(train).size == (112, 112)
    with pytest.raises(LeakError, match=r"t \(from renamed\) ~ e \(from other name\)"):
        check_tasks([train], [same])


def test_thumbnails_hide_no_leak() -> None:
    """What the prompt shows may be nearly plain; the originals are compared."""
    image = photos("held-out")[1].image
    one, two = (make_task(image, 2, 0, np.random.default_rng(k), f"t{k}", piece_px=56) for k in range(2))
    blank = tuple(NamedImage(piece.name, Image.new("RGB", (28, 28))) for piece in two.images)
    with pytest.raises(LeakError, match=r"t0 .* ~ t1"):
        check_tasks([one], [replace(two, images=blank, originals=two.images)])


def test_solved_puts_every_piece_home() -> None:
    image = scenes(1, seed=0)[0].image.resize((168, 168))
    task = make_task(image, 3, 2, np.random.default_rng(1), "t", piece_px=56)
    assert np.array_equal(np.asarray(solved(task)), np.asarray(image))


def test_different_pictures_pass_and_empty_sets_too() -> None:
    check_leak([("a", ALL[0].image)], [("b", ALL[1].image)])
    check_leak([], [("b", ALL[1].image)])
    check_tasks(training_set(12, seed=3), training_set(12, seed=4, photo_share=0.0))
