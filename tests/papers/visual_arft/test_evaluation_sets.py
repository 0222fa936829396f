"""The hub path of Visual-ARFT, on data in local folders (the same loading code)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pytest
from PIL import Image

from kit.data.hub import HubError
from kit.data.questions import QuestionSet, tasks_of
from kit.episode import Task
from kit.images import within_pixels
from papers.visual_arft.evaluation_sets import text_tasks
from papers.visual_arft.mat_benchmark import benchmark, benchmark_images
from papers.visual_arft.mat_coding import Question, make_tasks
from pictures.scenes import scene


def as_it_is(image: Image.Image) -> Image.Image:
    return image


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> QuestionSet:
    folder = tmp_path_factory.mktemp("documents")
    rows = {
        "image": [Image.fromarray(scene(np.random.default_rng(k), 224)) for k in range(4)],
        "question": ["Who?", "What?", "When?", "Where?"],
        "answers": [["me", "I", "me"], ["that"], [], ["  "]],
    }
    kinds = {"image": datasets.Image(), "question": datasets.Value("string")}
    features = datasets.Features(kinds | {"answers": datasets.Sequence(datasets.Value("string"))})
    datasets.Dataset.from_dict(rows, features=features).to_parquet(folder / "train.parquet")
    return QuestionSet(str(folder), "documents", "train", "image", "ours", answer="answers")


def test_questions_with_an_answer_come_with_their_pictures(documents: QuestionSet) -> None:
    found = list(tasks_of(documents, lambda image: within_pixels(image, 112 * 112)))
    assert [(q.question, q.target, q.images[0].image.size) for q in found] == [
        ("Who?", ("me", "I"), (112, 112)),
        ("What?", ("that",), (112, 112)),
    ]
    assert len({q.meta["source"] for q in found}) == 2


def test_they_can_be_distorted(documents: QuestionSet) -> None:
    """Scenes are smooth enough for a dark or turned one to be mended."""
    some = [Question.of(task) for task in tasks_of(documents, as_it_is)]
    made = make_tasks(lambda rng, part: some[int(rng.integers(2))], {"dark": 2, "rotate90": 2}, 0, "hub")
    assert {t.meta["kind"] for t in made} == {"documents"} and {t.question for t in made} <= {"Who?", "What?"}


def test_multi_hop_questions_of_text_alone(tmp_path: Path) -> None:
    rows = [
        {"id": f"test_{k}", "question": f"Who is {k}?", "golden_answers": golds}
        for k, golds in enumerate((["Ann"], [], ["Bob", "Robert"], ["Cid"]))
    ]
    (tmp_path / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    source = QuestionSet(*(str(tmp_path), "bamboogle", "test", "", "ours"), name="bamboogle", answer="golden_answers")
    tasks = text_tasks(source, 2)
    assert [(t.id, t.target, t.images) for t in tasks] == [
        ("bamboogle-00000", ("Ann",), ()),
        ("bamboogle-00002", ("Bob", "Robert"), ()),
    ]


def mat(folder: Path, **changed: object) -> Path:
    """A copy of MAT with one task of each kind, laid out as on the hub."""
    place = folder / "MAT-Benchmark"
    coding = {"id": 7, "question": "Size?", "answers": ["473ml"], "type": ["rotation90", "dark"], "split": "hard"}
    coding |= {"ori_image_path": "a_ori.png", "processed_image_path": "a_proc.png"} | changed
    search = {"id": 3, "question": "Who?", "answer": "Ann", "image_path": "b.jpg"}
    for name, row, picture in (("Coding", coding, "a_proc.png"), ("Search", search, "b.jpg")):
        (place / f"MAT-{name}-image").mkdir(parents=True)
        Image.new("RGB", (40, 30), "red").save(place / f"MAT-{name}-image" / picture)
        (place / f"MAT-{name}.json").write_text(json.dumps([row]))
    return folder


def test_the_papers_benchmark_is_read_as_it_lies(tmp_path: Path) -> None:
    (coding,), (search,) = benchmark(mat(tmp_path))
    assert (coding.id, coding.target, coding.question) == ("mat-coding-7", ("473ml",), "Size?")
    assert (coding.meta["category"], coding.meta["difficulty"]) == ("mat:rotation90+dark", "hard")
    assert coding.images[0].image.size == (40, 30) and coding.images[0].name == "image"
    assert (search.target, search.meta["queries"]) == (("Ann",), [])


def test_what_is_missing_of_it_is_named(tmp_path: Path) -> None:
    with pytest.raises(HubError, match=r"no MAT-Coding\.json in it"):
        benchmark(tmp_path)
    with pytest.raises(HubError, match=r"MAT picture gone\.png: it isn't among the 2 downloaded"):
        benchmark(mat(tmp_path / "one", processed_image_path="gone.png"))


def rows_of(folder: Path, part: str, rows: list[Any], **colours: str) -> None:
    """A listing of MAT with its folder of images of one colour each."""
    place = folder / "MAT-Benchmark"
    (place / f"MAT-{part}-image").mkdir(parents=True, exist_ok=True)
    for name, colour in colours.items():
        Image.new("RGB", (40, 30), colour).save(place / f"MAT-{part}-image" / f"{name}.png")
    (place / f"MAT-{part}.json").write_text(json.dumps(rows))


CODING = {"id": 0, "question": "Size?", "answers": ["1"], "type": ["dark"], "split": "hard"}
SEARCH = {"id": 0, "question": "Who?", "answer": "Ann"}


def colour(task: Task) -> tuple[int, ...]:
    return task.images[0].image.getpixel((0, 0))  # type: ignore[return-value]


@pytest.mark.parametrize("path", ["{name}.png", "MAT-{part}-image/{name}.png", "images/{name}.png"])
def test_images_of_one_name_in_both_folders_are_two(path: str, tmp_path: Path) -> None:
    rows_of(tmp_path, "Coding", [CODING | {"processed_image_path": path.format(part="Coding", name="_1")}], _1="red")
    rows_of(tmp_path, "Search", [SEARCH | {"image_path": path.format(part="Search", name="_1")}], _1="blue")
    (coding,), (search,) = benchmark(tmp_path)
    assert colour(coding) == (255, 0, 0) and colour(search) == (0, 0, 255)


def test_the_first_half_of_its_searches_is_simple(tmp_path: Path) -> None:
    """Its rows don't tell, as coding's do; were all of them Hard, half of Table 1's columns would stay empty."""
    rows_of(tmp_path, "Coding", [CODING | {"processed_image_path": "a.png"}], a="red")
    rows_of(tmp_path, "Search", [SEARCH | {"id": k, "image_path": "b.png"} for k in range(150)], b="blue")
    coding, search = benchmark(tmp_path)
    assert [task.meta["difficulty"] for task in search] == ["simple"] * 75 + ["hard"] * 75
    assert coding[0].meta["difficulty"] == "hard"


def test_a_path_into_the_other_folder_is_followed(tmp_path: Path) -> None:
    rows_of(tmp_path, "Search", [SEARCH | {"image_path": "1.png"}], **{"1": "blue"})
    for path in ("MAT-Search-image/1.png", "MAT-Benchmark/MAT-Search-image/1.png"):
        rows_of(tmp_path, "Coding", [CODING | {"processed_image_path": path}], **{"1": "red"})
        assert colour(benchmark(tmp_path)[0][0]) == (0, 0, 255)


def test_images_of_one_name_in_folders_of_ones_own_are_told_by_their_paths(tmp_path: Path) -> None:
    named = [CODING | {"id": k, "processed_image_path": f"{k}/a.png"} for k in ("x", "y")]
    rows_of(tmp_path, "Coding", [*named, CODING | {"processed_image_path": "a.png"}])
    rows_of(tmp_path, "Search", [SEARCH | {"image_path": "b.png"}], b="blue")
    for name, shade in (("x", "red"), ("y", "lime")):
        (tmp_path / "MAT-Benchmark" / name).mkdir()
        Image.new("RGB", (40, 30), shade).save(tmp_path / "MAT-Benchmark" / name / "a.png")
    with pytest.warns(UserWarning, match=r"MAT picture a\.png: it might be any of .*x/a\.png, .*y/a\.png \(row 2\)"):
        coding, _ = benchmark(tmp_path)
    assert [colour(task) for task in coding] == [(255, 0, 0), (0, 255, 0)]


def test_bad_rows_of_the_benchmark_are_left_out_counted_and_named(tmp_path: Path) -> None:
    (tmp_path / "MAT-Benchmark" / "MAT-Coding-image").mkdir(parents=True)
    (tmp_path / "MAT-Benchmark" / "MAT-Coding-image" / "cut.png").write_bytes(b"\x89PNG oops")
    Image.new("RGB", (400, 1)).save(tmp_path / "MAT-Benchmark" / "MAT-Coding-image" / "wide.png")
    good = CODING | {"processed_image_path": "a.png"}
    bad: list[tuple[Any, str]] = [
        (good | {"answers": None}, "no gold answer (answers=None)"),
        (good | {"answers": []}, "no gold answer (answers=[])"),
        (good | {"answers": [" ", None]}, "no gold answer"),
        (good | {"question": None}, "no question (question=None)"),
        (good | {"processed_image_path": "gone.png"}, "MAT picture gone.png: it isn't among the"),
        (good | {"processed_image_path": None}, "MAT picture None"),
        (good | {"processed_image_path": "cut.png"}, "a picture cannot be read and is left out"),
        (good | {"processed_image_path": "wide.png"}, "it has 400 x 1 pixels"),
        ({"id": 9}, "none of the fields type; it has id"),
        (["a"], "list ['a'] where an object is expected"),
    ]
    rows_of(tmp_path, "Search", [SEARCH | {"image_path": "a.png"}], a="blue")
    for row, why in bad:
        rows_of(tmp_path, "Coding", [row, good | {"answers": "hello"}], a="red")
        with pytest.warns(UserWarning) as told:
            (coding,), _ = benchmark(tmp_path)
        assert coding.target == ("hello",)
        (said,) = [str(w.message) for w in told]
        assert why in said and "(row 0); 1 of 2 rows are left out" in said and "MAT-Coding.json" in said
        rows_of(tmp_path, "Coding", [row], a="red")
        with pytest.raises(HubError, match=r"MAT-Coding\.json: .*none of its 1 rows can be used"):
            benchmark(tmp_path)


def test_a_listing_that_is_no_list_is_named(tmp_path: Path) -> None:
    rows_of(tmp_path, "Search", [SEARCH | {"image_path": "a.png"}], a="blue")
    for text in ("{}", "oops"):
        rows_of(tmp_path, "Coding", [])
        (tmp_path / "MAT-Benchmark" / "MAT-Coding.json").write_text(text)
        with pytest.raises(HubError, match=r"MAT-Coding\.json: .*download it again"):
            benchmark(tmp_path)


def test_broken_images_of_the_benchmark_end_no_check_for_leaks(tmp_path: Path) -> None:
    rows_of(tmp_path, "Coding", [], a="red")
    (tmp_path / "MAT-Benchmark" / "broken.png").write_bytes(b"oops")
    (tmp_path / "MAT-Benchmark" / "._a.png").write_bytes(b"a file manager's notes")
    with pytest.warns(UserWarning, match=r"broken\.png: .*1 of 2 rows"):
        assert [name for name, _ in benchmark_images(tmp_path)] == ["a.png"]
