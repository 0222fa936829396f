"""The hub path of Visual-ARFT, on data in local folders (the same loading code)."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import islice
from pathlib import Path

import datasets
import numpy as np
import pytest
from PIL import Image

from kit.data.hub import HubError
from kit.data.scenes import scene
from kit.papers.visual_arft.hub_questions import HubQuestions, benchmark, questions, text_tasks
from kit.papers.visual_arft.mat_coding import make_tasks


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> HubQuestions:
    folder = tmp_path_factory.mktemp("documents")
    rows = {
        "image": [Image.fromarray(scene(np.random.default_rng(k), 224)) for k in range(4)],
        "question": ["Who?", "What?", "When?", "Where?"],
        "answers": [["me", "I", "me"], ["that"], [], ["  "]],
    }
    kinds = {"image": datasets.Image(), "question": datasets.Value("string")}
    features = datasets.Features(kinds | {"answers": datasets.Sequence(datasets.Value("string"))})
    datasets.Dataset.from_dict(rows, features=features).to_parquet(folder / "train.parquet")
    return HubQuestions(str(folder), "documents", "train", "image", "ours")


def test_questions_with_an_answer_come_with_their_pictures(documents: HubQuestions) -> None:
    found = list(questions(documents, None, max_pixels=112 * 112))
    assert [(q.question, q.answers, q.image.size) for q in found] == [
        ("Who?", ("me", "I"), (112, 112)),
        ("What?", ("that",), (112, 112)),
    ]
    assert len({q.source for q in found}) == 2


def test_they_can_be_distorted(documents: HubQuestions) -> None:
    """Scenes are smooth enough for a dark or turned one to be mended."""
    some = list(questions(documents, None))
    made = make_tasks(lambda rng, part: some[int(rng.integers(2))], {"dark": 2, "rotate90": 2}, 0, "hub")
    assert {t.meta["kind"] for t in made} == {"documents"} and {t.question for t in made} <= {"Who?", "What?"}


def test_a_missing_column_is_named(documents: HubQuestions) -> None:
    with pytest.raises(HubError, match="no column 'answer'; it has image, question, answers"):
        next(questions(replace(documents, answers="answer"), None))


def test_multi_hop_questions_of_text_alone(tmp_path: Path) -> None:
    rows = [
        {"id": f"test_{k}", "question": f"Who is {k}?", "golden_answers": golds}
        for k, golds in enumerate((["Ann"], [], ["Bob", "Robert"], ["Cid"]))
    ]
    (tmp_path / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    source = HubQuestions(str(tmp_path), "bamboogle", "test", "", "ours", answers="golden_answers")
    tasks = text_tasks(source, None, 2)
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


def test_rows_are_read_as_they_come(documents: HubQuestions) -> None:
    assert len(list(islice(questions(documents, None), 1))) == 1
