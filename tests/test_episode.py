"""The nouns: ids and masks stay beside each other, pictures in the order of their tokens."""

import pytest
from PIL import Image

from kit.episode import Action, Episode, NamedImage, Observation, Task, Turn


def picture(name: str, grey: int = 0) -> NamedImage:
    return NamedImage(name, Image.new("RGB", (28, 28), (grey, grey, grey)))


def two_turns() -> Episode:
    task = Task("t", (picture("A"), picture("B", 1)), "?", ("A", "B"))
    look = Observation("", (picture("observation_image_1", 2),))
    first = Turn((1, 2), (-0.5, -0.25), "<code>x</code>", Action("code", "x"), look, (7, 8, 9))
    last = Turn((3,), (-1.0,), "<answer>[B, A]</answer>", Action("answer", "[B, A]"))
    return Episode(task, (5, 6)).add(first).add(last).end("answer")


def test_ids_and_mask_run_together() -> None:
    episode = two_turns()
    assert episode.ids == [5, 6, 1, 2, 7, 8, 9, 3]
    assert episode.mask == [0, 0, 1, 1, 0, 0, 0, 1]


def test_pictures_in_reading_order() -> None:
    assert [p.name for p in two_turns().images] == ["A", "B", "observation_image_1"]


def test_a_picture_that_was_not_appended_is_not_in_the_context() -> None:
    task = Task("t", (), "?", ())
    turn = Turn((1,), (0.0,), "", Action("code", ""), Observation("", (picture("late"),)), ())
    assert Episode(task, (5,)).add(turn).end("tokens").images == ()


def test_steps_are_turns_with_an_action_before_the_answer() -> None:
    assert two_turns().calls == 1
    assert two_turns().answer == "[B, A]"


def test_every_token_has_a_logprob() -> None:
    with pytest.raises(ValueError, match="2 ids but 1 logprobs"):
        Turn((1, 2), (0.0,), "")


def test_pictures_are_equal_by_name_and_pixels() -> None:
    assert picture("A", 3) == picture("A", 3) and hash(picture("A", 3)) == hash(picture("A", 3))
    assert picture("A", 3) != picture("A", 4)
    assert picture("A", 3) != picture("B", 3)


def test_pictures_of_one_name_and_size_hash_apart_or_a_cache_would_compare_them_all() -> None:
    assert len({hash(picture("A", shade)) for shade in range(100)}) == 100


def test_a_palette_is_part_of_what_a_picture_shows() -> None:
    red, blue = Image.new("P", (2, 2)), Image.new("P", (2, 2))
    red.putpalette([255, 0, 0])
    blue.putpalette([0, 0, 255])
    assert NamedImage("A", red) != NamedImage("A", blue)
    assert NamedImage("A", red) == NamedImage("A", red.copy())
