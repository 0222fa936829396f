"""A reader's own questions: each line is read rightly or told by its number, all in one message."""

from __future__ import annotations

import codecs
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from kit.data.store import load_tasks, save_tasks
from kit.episode import Task
from papers.visual_arft.own_questions import OwnQuestionsError, folder_questions
from pictures.scenes import scene

LIMIT = 401_408
"""Pixels of an image, at most."""

GOOD: dict[str, Any] = {"image": "a.png", "question": "What?", "answers": ["it"]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    Image.fromarray(scene(np.random.default_rng(0), 112)[:56]).save(tmp_path / "a.png")
    Image.new("RGB", (400, 1)).save(tmp_path / "wide.png")
    Image.new("RGB", (64, 13200)).save(tmp_path / "tall.png")
    (tmp_path / "cut.png").write_bytes((tmp_path / "a.png").read_bytes()[:300])
    return tmp_path


def write(folder: Path, *lines: bytes | dict[str, Any], end: bytes = b"\n") -> Path:
    data = [line if isinstance(line, bytes) else json.dumps(line, ensure_ascii=False).encode() for line in lines]
    (folder / "questions.jsonl").write_bytes(end.join(data))
    return folder


@pytest.mark.parametrize(
    "data",
    [
        b"%s\n%s\n",
        b"%s\n%s",
        b"%s\n%s\n\n",
        b"\n%s\n  \n%s\n \t\n",
        codecs.BOM_UTF8 + b"%s\n%s\n",
        codecs.BOM_UTF8 + b"\n%s\n%s\n",
        b"%s\r\n%s\r\n\r\n",
    ],
)
def test_blank_lines_marks_and_line_ends_are_passed_over(folder: Path, data: bytes) -> None:
    line = json.dumps(GOOD).encode()
    (folder / "questions.jsonl").write_bytes(data % (line, line))
    assert [q.question for q in folder_questions(folder, LIMIT)] == ["What?", "What?"]


@pytest.mark.parametrize("sign", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "é"])
def test_only_a_newline_ends_a_line(folder: Path, sign: str) -> None:
    text = f"What{sign}is it?"
    line = json.dumps({**GOOD, "question": text}, ensure_ascii=ord(sign) < 32)  # JSON has no bare control characters
    (folder / "questions.jsonl").write_text(f"{line}\n{line}\n", encoding="utf-8")
    assert [q.question for q in folder_questions(folder, LIMIT)] == [text, text]


@pytest.mark.parametrize(
    ("answers", "golds"),
    [("hello", ("hello",)), (["a", "b"], ("a", "b")), (12.5, ("12.5",)), ([3, "three"], ("3", "three"))],
)
def test_one_answer_or_several(folder: Path, answers: Any, golds: tuple[str, ...]) -> None:
    (found,) = folder_questions(write(folder, {**GOOD, "answers": answers}), LIMIT)
    assert found.target == golds


@pytest.mark.parametrize(("box", "read"), [([0, 0, 1, 1], (0, 0, 1, 1)), ([0.25, 0, 0.5, 0.5], (0.25, 0, 0.5, 0.5))])
def test_boxes_are_shares(folder: Path, box: list[float], read: tuple[float, ...]) -> None:
    assert folder_questions(write(folder, {**GOOD, "box": box}), LIMIT)[0].meta["box"] == list(read)


@pytest.mark.parametrize("box", [None, []])
def test_without_a_box_all_of_the_image_is_meant(folder: Path, box: Any) -> None:
    assert "box" not in folder_questions(write(folder, {**GOOD, "box": box}), LIMIT)[0].meta


@pytest.mark.parametrize("more", ["id", "licence", "image_id", "question_id", "answer", "kind", "split"])
def test_further_fields_are_passed_over(folder: Path, more: str) -> None:
    assert folder_questions(write(folder, {**GOOD, more: "x"}), LIMIT)[0].question == GOOD["question"]


BAD: list[tuple[bytes | dict[str, Any], str]] = [
    (b"[1, 2]", "list where an object is expected"),
    (b'"text"', "str where an object is expected"),
    (b"null", "NoneType where an object is expected"),
    (b'{"image": "a.png"', "not JSON"),
    ('{"question": "caf\u00e9"}'.encode("latin-1"), "not UTF-8"),
    (b'{"image": "a.png", "question": "q", "answers": "x", "answers": "y"}', "'answers' stands there twice"),
    (b'{"image": "a.png", "question": "q", "question": "r", "answers": "x"}', "'question' stands there twice"),
    ({**GOOD, "bbox": [0, 0, 0.5, 0.5]}, "'bbox': no such field; did you mean 'box'?"),
    ({**GOOD, "Box": [0, 0, 0.5, 0.5]}, "'Box': no such field; did you mean 'box'?"),
    ({**GOOD, "boxes": [0, 0, 0.5, 0.5]}, "'boxes': no such field; did you mean 'box'?"),
    ({"image": "a.png", "question": "q", "answer": "x"}, "'answer': no such field; did you mean 'answers'?"),
    ({**GOOD, "question": None}, "question=None: give a text"),
    ({**GOOD, "question": " "}, "question=' ': give a text"),
    ({**GOOD, "question": ["a", "b"]}, "give a text"),
    ({"image": "a.png", "answers": ["it"]}, "KeyError: 'question'"),
    ({**GOOD, "answers": None}, "no answer (answers=None)"),
    ({**GOOD, "answers": []}, "no answer (answers=[])"),
    ({**GOOD, "answers": ""}, "no answer: ''"),
    ({**GOOD, "answers": ["it", None]}, "no answer: None"),
    ({**GOOD, "answers": {"text": "it"}}, "no answer: {'text': 'it'}"),
    ({**GOOD, "image": "gone.png"}, "FileNotFoundError"),
    ({**GOOD, "image": "cut.png"}, "a picture cannot be read (OSError"),
    ({**GOOD, "image": "questions.jsonl"}, "a picture cannot be read (UnidentifiedImageError"),
    ({**GOOD, "image": None}, "image=None: give the name of one file"),
    ({**GOOD, "image": 5}, "int 5, which is no image"),
    ({**GOOD, "image": "wide.png"}, "it has 400 x 1 pixels; the longer side may be at most 200 times the shorter one"),
    ({**GOOD, "image": "tall.png"}, "shrunk from 64 x 13200 pixels, it has 44 x 9098 pixels"),
    (
        {**GOOD, "box": [28, 14, 56, 28]},
        "not pixels; if these are pixels of its 112 x 56, write [0.25, 0.25, 0.5,",
    ),
    ({**GOOD, "box": [0.5, 0, 0.25, 1]}, "left must be below right"),
    ({**GOOD, "box": [0, 0.5, 1, 0.5]}, "left must be below right"),
    ({**GOOD, "box": [-0.1, 0, 1, 1]}, "from 0 to 1"),
    ({**GOOD, "box": [0, 0, 1]}, "a box that isn't four numbers"),
    ({**GOOD, "box": {"x": 1}}, "a box that isn't four numbers"),
    ({**GOOD, "box": [0, 0, "x", 1]}, "could not convert"),
    ({**GOOD, "box": [0, 0, None, 1]}, "TypeError"),
    (b'{"image": "a.png", "question": "?", "answers": ["x"], "box": [NaN, 0, 1, 1]}', "NaN is not JSON"),
    (b'{"image": "a.png", "question": "?", "answers": ["x"], "box": [0, 0, 1e999, 1]}', "not pixels"),
]


@pytest.mark.parametrize(("line", "message"), BAD)
def test_a_wrong_line_is_told_by_its_number(folder: Path, line: bytes | dict[str, Any], message: str) -> None:
    with pytest.raises(OwnQuestionsError) as caught:
        folder_questions(write(folder, GOOD, b"", line), LIMIT)
    assert f"{folder / 'questions.jsonl'}, line 3: " in str(caught.value) and message in str(caught.value)


def test_all_wrong_lines_come_in_one_message(folder: Path) -> None:
    with pytest.raises(OwnQuestionsError) as caught:
        folder_questions(write(folder, GOOD, *(line for line, _ in BAD)), LIMIT)
    first, *lines = str(caught.value).splitlines()
    assert first == f"{len(BAD)} questions can't be used:" and len(lines) == len(BAD)
    for number, (line, (_, message)) in enumerate(zip(lines, BAD, strict=True), 2):
        assert f"questions.jsonl, line {number}: " in line and message in line


@pytest.mark.parametrize("data", [b"", b"\n\n", codecs.BOM_UTF8])
def test_a_file_without_a_question_is_an_error(folder: Path, data: bytes) -> None:
    with pytest.raises(OwnQuestionsError, match="no question in it"):
        folder_questions(write(folder, data), LIMIT)


def test_stored_tasks_know_their_file(tmp_path: Path) -> None:
    file = tmp_path / "tasks.jsonl"
    tasks = [Task("a", (), "What?", ("it",)), Task("b", (), "Why?", ("so",))]
    save_tasks(file, tasks)
    file.write_bytes(codecs.BOM_UTF8 + file.read_bytes())
    assert load_tasks(file) == tasks and load_tasks(file).path == file
    file.write_bytes(file.read_bytes() + b"\xe9\n")
    with pytest.raises(ValueError, match=r"tasks\.jsonl:3: not UTF-8"):
        load_tasks(file)
