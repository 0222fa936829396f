"""Photographs are found inside a resource file, whatever else is in it."""

import importlib.util
import io
from pathlib import Path

import numpy as np
from PIL import Image

SCRIPT = Path(__file__).parents[2] / "data_scripts" / "debian_photos.py"


def webp(pixels: np.ndarray) -> bytes:
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "WEBP", lossless=True)
    return file.getvalue()


def test_opaque_pictures_are_found_whole_and_in_order() -> None:
    spec = importlib.util.spec_from_file_location("debian_photos", SCRIPT)
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    rng = np.random.default_rng(0)
    one, two = (rng.integers(0, 256, size=(9, 12, 3), dtype=np.uint8) for _ in range(2))
    cut_out = rng.integers(0, 256, size=(9, 12, 4), dtype=np.uint8)
    cut_out[..., 3] = np.arange(12) * 20
    resource = b"qres RIFF" + b"RIFF\x04\0\0\0WAVE" + webp(one) + b"\0\0pad" + webp(cut_out) + webp(two)
    found = [np.asarray(picture) for picture in script.webp_pictures(resource)]
    assert len(found) == 2
    assert (found[0] == one).all() and (found[1] == two).all()
