"""A folder of Visual-ARFT's tasks: what is refused, and what an earlier folder leaves behind."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from kit.episode import NamedImage, Task
from papers.visual_arft.data_folder import NEEDED, DataFolderError, check_sets, load_sets, save_sets, side
from pictures.scenes import scene


def task(name: str, number: int) -> Task:
    image = Image.fromarray(scene(np.random.default_rng(number), 56))
    tool = "code" if "coding" in name else "search"
    meta = {"tools": [tool], "source": f"{name}-{number}", "countries": [f"{side(name)}-{number}"]}
    return Task(f"{name}-{number}", (NamedImage("image", image),), "What?", ("it",), meta)


def sets(*names: str) -> dict[str, list[Task]]:
    return {name: [task(name, 2 * k), task(name, 2 * k + 1)] for k, name in enumerate(names)}


ALL = sets(*NEEDED, "coding-development", "mat-coding")


def test_what_is_written_is_read_again_and_an_old_benchmark_goes(tmp_path: Path) -> None:
    save_sets(tmp_path, ALL)
    assert load_sets(tmp_path).keys() == ALL.keys()
    save_sets(tmp_path, {name: ALL[name] for name in NEEDED})
    assert load_sets(tmp_path).keys() == {*NEEDED}


def changed(name: str, **values: object) -> dict[str, list[Task]]:
    return ALL | {name: [replace(ALL[name][0], **values), *ALL[name][1:]]}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (ALL | {"coding-test": []}, "coding-test holds no task"),
        (changed("search-test", target="Chad"), "search-test, task search-test-6: target='Chad' is no list of answers"),
        (changed("text-test", meta={"tools": ["code"]}), r"tools=\['code'\], not \['search'\]"),
        (changed("coding-test", images=ALL["coding-train"][1].images), "coding-train and coding-test share 1 images"),
        (
            changed("mat-coding", meta=ALL["mat-coding"][0].meta | {"source": "coding-train-1"}),
            "coding-train and mat-coding share 1 .* such as source coding-train-1",
        ),
        (
            changed("coding-development", meta=ALL["coding-train"][0].meta | {"source": "other"}),
            "coding-train and coding-development share 1 .* such as country train-0",
        ),
    ],
)
def test_what_cannot_be_used_is_named(wrong: dict[str, list[Task]], message: str) -> None:
    check_sets(ALL, "here")
    with pytest.raises(DataFolderError, match=f"^here: .*{message}"):
        check_sets(wrong, "here")


def test_a_missing_set_says_how_to_write_it(tmp_path: Path) -> None:
    with pytest.raises(
        DataFolderError, match=r"no coding-train.jsonl, .*; write the folder with\s+python data_scripts"
    ):
        load_sets(tmp_path)
