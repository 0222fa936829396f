"""Images that a turn shows, saves, edits or holds in arrays: shown as people see them, or told how."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from PIL import Image

from turn_sandbox import Limits, Sandbox, SandboxEpisode
from turn_sandbox.convert import image_of, looks_like_image

WHITE, BLACK, RED = (255, 255, 255), (0, 0, 0), (255, 0, 0)
IMPORTS = "from PIL import Image, ImageDraw\nimport numpy as np\n"


@pytest.fixture
def episode(box: Sandbox) -> Iterator[SandboxEpisode]:
    file = io.BytesIO()
    Image.new("RGB", (20, 10), "red").save(file, "PNG")
    images = {"A": Image.new("RGB", (30, 20), "white"), "B": Image.new("L", (20, 20), 7)}
    with box.episode(images=images, files={"in.png": file.getvalue()}) as episode:
        yield episode


def seen(episode: SandboxEpisode, code: str) -> list[tuple[str, tuple[int, int], Any]]:
    """Name, size and first pixel of the images that code shows; it must warn of nothing."""
    result = episode.run(IMPORTS + code)
    assert (result.status, result.warnings, result.stderr) == ("ok", (), ""), result
    return [(item.name, item.image.size, item.image.getpixel((0, 0))) for item in result.images]


def told(episode: SandboxEpisode, code: str) -> tuple[str, ...]:
    """Warnings of code that shows nothing."""
    result = episode.run(IMPORTS + code)
    assert (result.status, result.images) == ("ok", ()), result
    return result.warnings


WAYS = {
    "bound": "ink = page",
    "show": "show(page)",
    "display": "display(page)",
    "PIL's show": "page.show()",
    "save": "page.save('page.png')",
    "save to an open file": "with open('page.png', 'wb') as file: page.save(file, 'PNG')",
    "array": "show(np.asarray(page))",
}


MODES = ("RGBA", "LA", "PA", "P")
KEPT = [(way, mode) for way in WAYS for mode in MODES if way != "array" or mode == "RGBA"]  # arrays have no palette
KEPT = [(way, mode) for way, mode in KEPT if "save" not in way or mode != "PA"]  # PNG holds no PA


@pytest.mark.parametrize(("way", "mode"), KEPT)
def test_ink_on_a_transparent_page_is_seen_on_white(episode: SandboxEpisode, way: str, mode: str) -> None:
    draw = "_p = Image.new('RGBA', (60, 30))\nImageDraw.Draw(_p).rectangle((10, 10, 49, 19), fill='black')\n"
    code = f"{draw}_p = _p.convert('{mode}')\n" + WAYS[way].replace("page", "_p").replace("'_p.png'", "'page.png'")
    (image,) = (item.image for item in episode.run(IMPORTS + code).images)
    assert (image.getpixel((0, 0)), image.getpixel((30, 15)), image.mode) == (WHITE, BLACK, "RGB")


@pytest.mark.parametrize("leave", ["", "plt.savefig('f.png')", "show(figure)", "plt.savefig('f.jpg'); plt.close()"])
def test_a_transparent_figure_is_seen_on_white(box: Sandbox, leave: str) -> None:
    code = (
        "import matplotlib.pyplot as plt\nfigure = plt.figure(figsize=(1, 1), dpi=50, facecolor='none')\n"
        "axes = figure.add_axes((0, 0, 1, 1), facecolor='none')\naxes.axis('off')\n"
        f"axes.axhline(0.5, c='black', lw=20)\n{leave}"
    )
    with box.episode() as episode:
        (found,) = episode.run(code).images
    dark = found.image.getpixel((25, 25))
    assert found.image.size == (50, 50) and found.image.getpixel((25, 2))[0] > 250 and max(dark) < 5


PLOT = "plt.figure(figsize=(1, 1), dpi=50)\nplt.plot([1, 2])\n"
FIGURES = {
    "left open": (PLOT, ["figure_1 50"]),
    "shown": (f"{PLOT}plt.show()", ["figure_1 50"]),
    "shown and closed": (f"{PLOT}plt.show()\nplt.close()", ["figure_1 50"]),
    "shown, then another": (f"{PLOT}plt.show()\nplt.bar([1], [2])\nplt.show()", ["figure_1 50", "figure_2 640"]),
    "shown, then cleared": (f"{PLOT}plt.show()\nplt.clf()", ["figure_1 50"]),
    "shown, another left open": (f"{PLOT}plt.show()\n{PLOT}plt.title('t')", ["figure_1 50", "figure_2 50"]),
    "shown, then saved": (f"{PLOT}plt.show()\nplt.savefig('f.png')", ["f.png 50"]),
    "shown, changed, saved": (
        f"{PLOT}f = plt.gcf()\nplt.show()\nf.suptitle('t')\nf.savefig('f.png')",
        ["figure_1 50", "f.png 50"],
    ),
    "shown by two in one": (f"{PLOT}{PLOT}plt.show()", ["figure_1 50", "figure_2 50"]),
    "saved": (f"{PLOT}plt.savefig('f.png')", ["f.png 50"]),
    "saved and shown": (f"{PLOT}plt.savefig('f.png')\nplt.show()", ["f.png 50"]),
    "saved larger": (f"{PLOT}plt.savefig('f.png', dpi=99)", ["f.png 99"]),
    "saved larger and shown": (f"{PLOT}plt.savefig('f.png', dpi=99)\nplt.show()", ["f.png 99"]),
    "saved as JPEG": (f"{PLOT}plt.savefig('f.jpg')", ["f.jpg 50"]),
    "saved twice": (f"{PLOT}plt.savefig('f.png')\nplt.savefig('g.png', dpi=20)", ["f.png 50", "g.png 20"]),
    "saved, then changed": (f"{PLOT}plt.savefig('f.png')\nplt.title('t')\nplt.show()", ["f.png 50", "figure_1 50"]),
    "saved as what is no image": (f"{PLOT}plt.savefig('f.svg')", ["figure_1 50"]),
    "saved in memory": (f"{PLOT}import io\nplt.savefig(io.BytesIO())", ["figure_1 50"]),
    "empty": ("plt.figure(figsize=(1, 1), dpi=50)", ["figure_1 50"]),
}


@pytest.mark.parametrize(("code", "expected"), FIGURES.values(), ids=FIGURES)
def test_a_figure_is_returned_once_and_not_drawn_over_the_last(
    episode: SandboxEpisode, code: str, expected: list[str]
) -> None:
    found = seen(episode, f"import matplotlib.pyplot as plt\n{code}")
    assert [f"{name} {size[0]}" for name, size, _ in found] == expected


def test_figures_are_shown_where_matplotlib_was_imported_before() -> None:
    code = f"import matplotlib.pyplot as plt\n{PLOT}plt.show()\n{PLOT}plt.savefig('f.png', dpi=99)"
    preload = ("numpy", "PIL.Image", "matplotlib.pyplot")
    with Sandbox(preload=preload, allow_unsafe=True) as imported, imported.episode() as episode:
        assert [name for name, _, _ in seen(episode, code)] == ["figure_1", "f.png"]


def test_display_shows_images_and_prints_the_rest(episode: SandboxEpisode) -> None:
    assert seen(episode, "display(A)") == [("A", (30, 20), WHITE)]
    assert seen(episode, "display(A, B)") == [("A", (30, 20), WHITE), ("B", (20, 20), (7, 7, 7))]
    assert seen(episode, "a = np.zeros((20, 30), np.uint8)\ndisplay(a)") == [("a", (30, 20), BLACK)]
    assert seen(episode, "from IPython.display import display as shows\nshows(A)") == [("A", (30, 20), WHITE)]
    result = episode.run("display('a', 3)\nimport numpy as np\ndisplay(np.eye(2))")
    assert (result.stdout, result.images) == ("a\n3\n[[1. 0.]\n [0. 1.]]\n", ())


def test_opencvs_windows_show_in_their_own_order_of_channels(box: Sandbox) -> None:
    code = "import cv2\nbgr = np.zeros((20, 30, 3), np.uint8)\nbgr[..., 2] = 255\ncv2.namedWindow('w')\n"
    code += (
        "cv2.imshow('w', bgr)\ncv2.imshow('gray', bgr[..., 2])\nassert cv2.waitKey(0) == -1\ncv2.destroyAllWindows()"
    )
    expected = [("w", (30, 20), RED), ("gray", (30, 20), WHITE)]
    with Sandbox(preload=("numpy", "PIL.Image", "cv2"), allow_unsafe=True) as imported:
        for sandbox in (box, imported):
            with sandbox.episode() as episode:
                assert seen(episode, code) == expected


def test_files_of_any_package_are_shown_in_their_own_colours(episode: SandboxEpisode) -> None:
    blue = "import cv2\nbgr = np.zeros((20, 30, 3), np.uint8)\nbgr[..., 2] = 255\n"
    assert seen(episode, blue + "cv2.imwrite('out.png', bgr)") == [("out.png", (30, 20), RED)]
    assert seen(episode, blue + "import os\nos.mkdir('d')\ncv2.imwrite('d/deep.PNG', bgr)") == [
        ("deep.PNG", (30, 20), RED)
    ]
    assert seen(episode, "_n = 1") == []
    both = "A.save('out.png')\nimport cv2\ncv2.imwrite('out.png', np.zeros((20, 30, 3), np.uint8))"
    assert seen(episode, both) == [("out.png", (30, 20), WHITE), ("out.png", (30, 20), BLACK)]
    again = "import cv2\ncv2.imwrite('out.png', np.zeros((20, 30, 3), np.uint8))"
    assert seen(episode, again) == [("out.png", (30, 20), BLACK)]
    assert seen(episode, "import shutil\nshutil.copy('in.png', 'copy.png')") == [("copy.png", (20, 10), RED)]
    assert seen(episode, "import os\nA.save('t.png')\nos.replace('t.png', 'u.png')") == [("t.png", (30, 20), WHITE)]
    turned = "import io\nexif = Image.Exif()\nexif[274] = 6\nfile = io.BytesIO()\n"
    turned += "Image.new('RGB', (40, 20)).save(file, 'JPEG', exif=exif)\nopen('t.jpg', 'wb').write(file.getvalue())"
    assert seen(episode, turned) == [("t.jpg", (20, 40), BLACK)]


def test_what_a_failed_turn_wrote_or_edited_is_not_shown(episode: SandboxEpisode) -> None:
    bad = "A.putpixel((0, 0), 0)\nopen('in.png', 'ab').write(b'x')\nA.save('a.png')\nopen('b.png', 'w')\n1 / 0"
    assert episode.run(bad).status == "error"
    assert seen(episode, "_n = 1") == []


@pytest.mark.parametrize(
    "edit",
    [
        "ImageDraw.Draw(A).rectangle((0, 0, 9, 9), fill='red')",
        "A.paste('red', (0, 0, 9, 9))",
        "A.paste((255, 0, 0), box=(0, 0, 9, 9))",
        "A.putpixel((0, 0), (255, 0, 0))",
        "A.load()[0, 0] = (255, 0, 0)",
        "pixels = A.load()\nfor _x in range(9): pixels[_x, 0] = (255, 0, 0)",
        "A.putdata([(255, 0, 0)] * 600)",
        "A.frombytes(bytes([255, 0, 0]) * 600)",
        "ImageDraw.floodfill(A, (0, 0), (255, 0, 0))",
        "same = A\nsame.putpixel((0, 0), (255, 0, 0))\ndel same",
        "def mark(image): image.paste('red', (0, 0, 9, 9))\nmark(A)",
    ],
)
def test_an_image_edited_in_place_is_shown(episode: SandboxEpisode, edit: str) -> None:
    assert seen(episode, edit) == [("A", (30, 20), RED)]
    assert seen(episode, "_n = A.rotate(3)") == []


def test_other_edits_in_place_are_shown_too(episode: SandboxEpisode) -> None:
    assert seen(episode, "A.thumbnail((15, 15))") == [("A", (15, 10), WHITE)]
    assert seen(episode, "A.putalpha(0)\nB.putalpha(255)") == [("A", (15, 10), WHITE), ("B", (20, 20), (7, 7, 7))]
    made = "C = Image.new('P', (30, 20))\nC.putpalette([0, 0, 255] * 256)"
    assert seen(episode, made) == [("C", (30, 20), (0, 0, 255))]
    assert seen(episode, "C.putpalette([255, 0, 0] * 256)") == [("C", (30, 20), RED)]
    assert seen(episode, "opened = Image.open('in.png')") == [("opened", (20, 10), RED)]
    assert seen(episode, "opened.load()[0, 0] = (0, 0, 255)") == [("opened", (20, 10), (0, 0, 255))]
    assert seen(episode, "def mark(image): ImageDraw.Draw(image).point((0, 0), (9, 255))") == []
    assert seen(episode, "mark(B)") == [("B", (20, 20), (9, 9, 9))]


@pytest.mark.parametrize(
    "look", ["ImageDraw.Draw(A).textbbox((0, 0), 'a')", "A.load()[0, 0]", "A.putpixel((0, 0), (255, 255, 255))"]
)
def test_looking_is_no_edit(episode: SandboxEpisode, look: str) -> None:
    assert told(episode, look) == ()


def test_beside_an_image_that_is_made_edits_are_steps_on_the_way(episode: SandboxEpisode) -> None:
    assert [name for name, *_ in seen(episode, "A.putpixel((0, 0), 0)\nC = A.crop((0, 0, 20, 20))")] == ["C"]


def test_an_array_is_told_how_to_show(episode: SandboxEpisode) -> None:
    says = "no image is shown: {} is an array; show({}) shows it, its channels taken as RGB"
    assert told(episode, "x = 1\ngray = np.asarray(A)[:, :, 0]\ny = 2") == (says.format("gray", "gray"),)
    assert told(episode, "soft = np.asarray(A) / 255") == (says.format("soft", "soft"),)
    assert told(episode, "gray = gray + 1") == (says.format("gray", "gray"),)
    assert told(episode, "n = 3") == ()
    assert told(episode, "table = np.eye(99); small = np.zeros((9, 9), np.uint8); _x = gray * 1") == ()
    several = "no image is shown: parts holds images; show(image) shows one of them"
    assert told(episode, "parts = [A.crop((0, 0, 9, 9))]") == told(episode, "parts = {1: A.copy()}") == (several,)
    loose = "from matplotlib.figure import Figure\nplot = Figure(figsize=(1, 1))"
    assert told(episode, loose) == ("no image is shown: plot is a figure; show(plot) shows it",)
    assert seen(episode, "show(plot)") == [("plot", (100, 100), WHITE)]


def test_images_that_no_model_reads_are_left_out_with_the_reason(episode: SandboxEpisode) -> None:
    assert told(episode, "strip = A.resize((1000, 4))") == (
        "picture strip left out: 1000 x 4 pixels; a side may be 200 times the other",
    )
    assert seen(episode, "strip = A.resize((1000, 5))") == [("strip", (1000, 5), WHITE)]
    assert told(episode, "open('x.png', 'w').write('no image')") == ("picture x.png left out: UnidentifiedImageError",)
    levels = "deep = Image.fromarray(np.linspace(-1, 3, 400, dtype=np.float32).reshape(20, 20))"
    (deep,) = episode.run(IMPORTS + levels).warnings
    assert deep == "picture deep: an image of mode F holds levels from -1 to 3: shown from its least to its most"


def test_enlarging_makes_nothing_longer_than_allowed(box: Sandbox) -> None:
    """(1, 200) times 20.48 is (20, 4096), 204.8 to 1: it becomes (21, 4096)."""
    with box.episode(limits=Limits(image_enlarge_below=56, image_enlarge_to=112)) as episode:
        assert seen(episode, "_x = Image.new('RGB', (1, 200))\nshow(_x)") == [("shown_1", (21, 4096), BLACK)]


def test_a_text_of_half_surrogates_is_spelt_out(episode: SandboxEpisode) -> None:
    result = episode.run("raise ValueError('a\\ud800b')")
    assert result.error == "ValueError: a\\ud800b (line 1)"


HALF = np.full((20, 20, 3), 0.5)


@pytest.mark.parametrize(
    ("array", "pixel"),
    [
        (np.full((20, 20), 9, np.uint8), (9, "L")),
        (np.full((20, 20, 1), 9, np.uint8), (9, "L")),
        (np.full((20, 20, 3), 9, np.uint8), ((9, 9, 9), "RGB")),
        (np.full((20, 20, 4), 9, np.uint8), ((9, 9, 9, 9), "RGBA")),
        (np.ones((20, 20), bool), (255, "L")),
        (HALF, ((128, 128, 128), "RGB")),
        (HALF.astype(np.float16), ((128, 128, 128), "RGB")),
        (HALF * 300, ((150, 150, 150), "RGB")),
        (np.full((20, 20, 3), 200), ((200, 200, 200), "RGB")),
        (np.full((20, 20, 3), 1), ((1, 1, 1), "RGB")),
        (np.full((20, 20, 3), 65535, np.uint16), ((255, 255, 255), "RGB")),
        (np.full((20, 20), 257, np.uint16), (257, "I;16")),
        (np.full((20, 20), 200), (200, "I")),
        (np.full((20, 20), 0.25), (0.25, "F")),
        (np.full((20, 20, 3), 9, np.uint8)[::-1, ::2], ((9, 9, 9), "RGB")),
    ],
)
def test_arrays_as_images(array: Any, pixel: tuple[Any, str]) -> None:
    image = image_of(array)
    assert (image.getpixel((0, 0)), image.mode, image.size) == (*pixel, (array.shape[1], 20))


@pytest.mark.parametrize(
    ("value", "kind", "message"),
    [
        (3, TypeError, "needs a PIL image, not int"),
        (np.zeros(9), TypeError, r"shape \(9,\)"),
        (np.zeros((3, 20, 20)), TypeError, r"H×W, H×W×3 or H×W×4, not an array of shape \(3, 20, 20\)"),
        (np.zeros((0, 20)), TypeError, r"shape \(0, 20\)"),
        (np.zeros((20, 20), complex), TypeError, "complex128"),
        (np.full((20, 20), None), TypeError, "object"),
        (np.full((20, 20, 3), 300.0), ValueError, "from 300 to 300: give 0 to 1, or 0 to 255"),
        (np.full((20, 20, 3), -1), ValueError, "from -1 to -1"),
        (np.full((20, 20, 3), np.nan), ValueError, "from nan to nan"),
    ],
)
def test_what_is_no_image_is_said(value: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        image_of(value)


def test_not_every_array_is_taken_for_an_image() -> None:
    images = (np.zeros((16, 16), np.uint8), np.zeros((16, 99, 3)), np.zeros((16, 16, 4), np.float32))
    assert all(map(looks_like_image, images))
    none = (np.zeros((16, 16)), np.zeros((15, 99), np.uint8), np.zeros((99, 99, 2), np.uint8), np.zeros((9, 16, 16)), 3)
    assert not any(map(looks_like_image, none))
