"""Whatever an agent's code makes, its episode goes on and its neighbours' are what they are without it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from internvl_fixtures import internvl_chat
from PIL import Image

from kit.chat import Chat
from kit.episode import Episode, NamedImage, Task
from kit.policy.scripted import ScriptedPolicy
from kit.rollout import RolloutConfig, rollout
from papers.visual_arft.env import VisualARFTEnv
from pictures.scenes import scene
from turn_sandbox import PLOTTING, Limits, Sandbox

CONFIG = RolloutConfig(max_turns=3, max_new_tokens=400, max_episode_tokens=20000, env_workers=2)
USUAL = "part = crop(image, [0, 0, 0.5, 0.5])"
MODES = ("1", "L", "P", "LA", "PA", "RGB", "RGBA", "CMYK", "YCbCr", "HSV", "LAB", "I", "I;16", "F")
LEAVE = (
    *("show({})", "display({})", "{}.show()", "{}.save('out.png')", "{}.save('out.tiff')", "made = {}", "made = [{}]"),
    *("made = np.asarray({})", "show(np.asarray({}))", "image.paste({})", "open('out.png', 'wb').write({}.tobytes())"),
)

short = st.integers(1, 60)
side = st.sampled_from((1, 2, 27, 28, 200, 201, 500, 1000, 4000, 4096, 4097, 5000))
sizes = st.one_of(st.tuples(short, short), st.tuples(short, side), st.tuples(side, short))
images = st.builds("Image.new('{}', {})".format, st.sampled_from(MODES), sizes)
converted = st.builds("image.resize({1}).convert('{0}')".format, st.sampled_from(MODES), sizes)
arrays = st.builds(
    "np.{}({}, '{}')".format,
    st.sampled_from(("zeros", "ones")),
    st.one_of(
        st.tuples(short, side),
        st.tuples(short, short, st.integers(0, 5)),
        st.tuples(st.integers(0, 3), st.integers(0, 40)),
        st.lists(st.integers(0, 5), max_size=4).map(tuple),
    ),
    st.sampled_from(("?", "u1", "u2", "i4", "i8", "f2", "f4", "f8", "c8", "O", "U3")),
)
inches = st.sampled_from((0, 0.01, 0.5, 2, 40, 700, float("1e5")))
figures = st.builds(
    "import matplotlib.pyplot as plt\nplt.figure(figsize=({}, {}), dpi={}){}".format,
    inches,
    inches,
    st.sampled_from((1, 50, 100)),
    st.sampled_from(("", ".add_subplot().plot([1, 2])", "\nplt.savefig('f.png', transparent=True)", "\nplt.close()")),
)
left = st.builds(str.format, st.sampled_from(LEAVE), st.one_of(images, converted))
shown = st.builds("{}({})".format, st.sampled_from(("show", "display", "made = ")), arrays)
codes = st.one_of(left, left, shown, figures)
HUGE = (
    *(
        "big = Image.new('RGB', (5000, 5000))",
        "big = Image.new('F', (4096, 4096), 0.5)",
        "big = Image.new('1', (4096, 4000))",
    ),
    *("show(np.zeros((5000, 5000), np.uint8))", "big = image.resize((5000, 1))", "raise ValueError('\\ud800')"),
    *(
        "big = image.crop((0, 0, 500, 1))",
        "class Own(Image.Image): pass\nown = Own()",
        "Image.new('RGB', (60000, 60000))",
    ),
)


@pytest.fixture(scope="module")
def plotting() -> Iterator[Sandbox]:
    with Sandbox(Limits(memory_mb=512), preload=PLOTTING, allow_unsafe=True) as box:
        yield box


def play(box: Sandbox, chat: Chat, codes: list[str]) -> list[Episode]:
    """An episode for each code, told by its task: the code, then an answer."""

    def say(episode: Episode) -> str:
        if episode.turns:
            return "<think>so</think><answer>6</answer>"
        code = f"from PIL import Image\nimport numpy as np\n{codes[int(episode.task.id)]}"
        return f"<think>try</think><code>{code}</code>"

    image = Image.fromarray(scene(np.random.default_rng(0), 84))
    tasks = [Task(str(k), (NamedImage("image", image),), "?", ("6",)) for k in range(len(codes))]
    return rollout(ScriptedPolicy(chat, say), chat, tasks, lambda: VisualARFTEnv(box), CONFIG)


def check(box: Sandbox, chat: Chat, codes: list[str]) -> None:
    (alone,) = play(box, chat, [USUAL])
    mixed = play(box, chat, [code for odd in codes for code in (odd, USUAL)])
    for episode, code in zip(mixed[::2], codes, strict=True):
        seen = episode.turns[0].observation
        assert episode.ended == "answer" and seen is not None and (seen.text or seen.images), code
        features = sum(chat.image_tokens(image) for image in episode.images)
        assert episode.ids.count(chat.image_id) == features, code
    for usual in mixed[1::2]:
        assert (usual.ids, usual.turns, usual.ended) == (alone.ids, alone.turns, alone.ended)


@given(codes=st.lists(codes, min_size=10, max_size=10))
@settings(max_examples=10, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
def test_no_image_ends_more_than_it_should(plotting: Sandbox, chat: Chat, codes: list[str]) -> None:
    check(plotting, chat, codes)


@pytest.mark.parametrize("family", ["Qwen2.5-VL", "InternVL3"])
def test_huge_and_broken_images_end_nothing(plotting: Sandbox, chat: Chat, family: str) -> None:
    check(plotting, internvl_chat() if family == "InternVL3" else chat, list(HUGE))
