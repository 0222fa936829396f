"""Places in pixels: what isn't one, or is in another unit, is refused by that name."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import pytest
from PIL import Image

from turn_sandbox.images import NamedImage
from visual_tools.perception.detection import Detect
from visual_tools.perception.segmentation import Segment
from visual_tools.perception.text import ReadText
from visual_tools.regions import inside, on_image
from visual_tools.tool import PureTool, run

SIZE = (640, 480)
IMAGES = {"image": NamedImage("image", Image.new("RGB", SIZE, "white"))}


@pytest.mark.parametrize(
    "region",
    [
        [0.1, 0.1, 0.9, 0.9],
        [0, 0, 1, 1],
        [0.0, 0.0, 1.0, 1.0],
        [0, 0, 0.5, 1],
        [0.25, 0, 0.75, 0.5],
        [0.4, 0.4, 0.6, 0.6],
        [0.001, 0.001, 0.999, 0.999],
        [1e-9, 0, 1, 1],
        [0.9, 0.9, 0.1, 0.1],
        [0, 0, 0, 0],
    ],
)
def test_regions_in_shares_are_refused_by_that_name(region: list[float]) -> None:
    told = r"t: region \[.*\] looks like shares of the image's sides; give pixels, up to 640 and 480"
    with pytest.raises(ValueError, match=told):
        inside("t", region, SIZE)
    for tool, name in ((ReadText(), "region"), (Segment(), "box_prompt")):
        seen = run(tool, {name: region}, IMAGES)
        assert seen.status == "error" and "looks like shares" in seen.text and "give pixels" in seen.text


@pytest.mark.parametrize(
    "region",
    [[0, 0, 641, 480], [0, 0, 1000, 1000], [-1, 0, 9, 9], [9, 9, 0, 0], [5, 5, 5, 9], [0, 0, nan, 9], [0, 0, inf, 9]],
)
def test_regions_that_are_not_on_the_image_are_refused(region: list[float]) -> None:
    with pytest.raises(
        ValueError, match="isn't on the image; give left < right <= 640 and top < bottom <= 480 in pixels"
    ):
        inside("t", region, SIZE)


def test_pixels_stay_pixels() -> None:
    assert inside("t", [0, 0, 2, 1], SIZE) == (0, 0, 2, 1)
    assert inside("t", [0.4, 0.6, 639.6, 479.5], SIZE) == (0, 1, 640, 480)
    assert inside("t", [0, 0, 1, 1], (1, 1)) == (0, 0, 1, 1), "an image of one pixel"
    assert on_image("t", [[0, 0], [1, 1], [0, 1]], SIZE) == [(0, 0), (1, 1), (0, 1)]
    assert on_image("t", [[0.5, 40], [639.9, 479.9]], SIZE) == [(0, 40), (639, 479)]


@pytest.mark.parametrize("points", [[[0.5, 0.5]], [[0.25, 1]], [[0, 0], [0.3, 0.9]], [[1, 1], [0.999, 0]], [[1e-6, 0]]])
def test_points_in_shares_are_refused_by_that_name(points: list[list[float]]) -> None:
    seen = run(Segment(), {"point_prompts": points}, IMAGES)
    assert (
        seen.status == "error" and "look like shares of the image's sides; give pixels, up to 640 and 480" in seen.text
    )


@pytest.mark.parametrize(
    ("tool", "arguments", "where"),
    [
        (Detect(), {"caption": "cat", "box_threshold": nan}, "box_threshold: nan"),
        (Detect(), {"caption": "cat", "box_threshold": inf}, "box_threshold: inf"),
        (Detect(), {"caption": "cat", "text_threshold": -inf}, "text_threshold: -inf"),
        (ReadText(), {"min_confidence": nan}, "min_confidence: nan"),
        (ReadText(), {"region": [nan, 0, 9, 9]}, "region.0: nan"),
        (ReadText(), {"region": [0, 0, 9, inf]}, "region.3: inf"),
        (Segment(), {"point_prompts": [[nan, 3]]}, "point_prompts.0.0: nan"),
        (Segment(), {"point_prompts": [[3, 3], [3, inf]]}, "point_prompts.1.1: inf"),
        (Segment(), {"box_prompt": [0, 0, inf, 9]}, "box_prompt.2: inf"),
    ],
)
def test_what_is_no_finite_number_fits_no_schema(tool: PureTool, arguments: dict[str, Any], where: str) -> None:
    seen = run(tool, arguments, IMAGES)
    assert seen.status == "error" and seen.text == f"Error: {tool.name}: {where} is not of type 'number'"
