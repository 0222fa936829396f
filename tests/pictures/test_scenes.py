"""Procedural pictures: a seed names a picture, and no two are alike."""

import numpy as np

from pictures.scenes import colour_noise, random_view, scene


def test_a_seed_names_a_picture() -> None:
    first, again = scene(np.random.default_rng(3)), scene(np.random.default_rng(3))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, scene(np.random.default_rng(4)))
    assert first.shape == (168, 168, 3) and first.dtype == np.uint8


def test_noise_gets_smoother_with_its_slope() -> None:
    def roughness(slope: float) -> float:
        field = colour_noise(np.random.default_rng(0), 64, slope)
        return float(np.abs(np.diff(field, axis=0)).mean() / field.std())

    assert roughness(0.5) > roughness(1.0) > roughness(2.0)


def test_a_view_is_a_crop_of_the_size_asked_for() -> None:
    pixels = scene(np.random.default_rng(0))
    view = random_view(np.random.default_rng(1), pixels, 112)
    assert view.shape == (112, 112, 3) and view.flags["C_CONTIGUOUS"]
    assert abs(float(view.mean()) - float(pixels.mean())) < 60
