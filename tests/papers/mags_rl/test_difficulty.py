"""The judge of difficulty: its scores are read, the sets have the paper's sizes, its agreement is worked out."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_openai import FakeOpenAI
from PIL import Image

from kit.chat import Chat
from kit.data.store import save_tasks
from kit.episode import Episode, NamedImage, Task
from kit.policy.endpoint import EndpointError, ServedPolicy
from kit.policy.scripted import ScriptedPolicy
from kit.train.demonstrations import collect
from papers.mags_rl.difficulty import (
    VERDICT,
    ZOOM_SETS,
    JudgeEnv,
    agreement,
    hub_sets,
    is_judged,
    judged,
    of_score,
    zoom_score,
    zoom_sets,
    zoom_tests,
)


def task(name: str, source: str = "vsr", difficulty: str = "") -> Task:
    shown = (NamedImage("image", Image.new("RGB", (28, 28), "white")),)
    return Task(name, shown, f"What is {name}?", ("it",), {"set": source, "difficulty": difficulty})


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ('{"reasoning": "x", "zoom_score": 8}', 8.0),
        ("```json\n{ reasoning: [tiny], zoom_score: [3] }\n```", 3.0),
        ("'ZOOM_SCORE': '4.5'", 4.5),
        ('{"zoom_score": 2} or rather {"zoom_score": 9}', 9.0),
        ('{"zoom_score": 0}', None),
        ('{"zoom_score": 11}', None),
        ('{"zoom_score": -3}', None),
        ('{"zoom_score": NaN}', None),
        ("unclear", None),
        ("", None),
    ],
)
def test_a_score_is_read_or_there_is_none(reply: str, score: float | None) -> None:
    assert zoom_score(reply) == score


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ('{"zoom_score": "8/10"}', 8.0),
        ("Zoom score: **7**", 7.0),
        ("zoom_score: 8 out of 10.", 8.0),
        ('<think>{"zoom_score": 3}</think>{"zoom_score": 9}', 9.0),
        ('{"reasoning": "unclear", "zoom_score": null}', None),
        ('{"reasoning": "unclear"}', None),
        ("It is unclear.", None),
    ],
)
def test_a_judgement_is_a_score_or_says_that_there_is_none(reply: str, score: float | None) -> None:
    assert is_judged(reply) and zoom_score(reply) == score


NO_JUDGEMENT = [
    "",
    '{"zoom_score": 0}',
    '{"zoom_score": 85}',
    '{"zoom_score": -3}',
    '{"zoom_score": "high"}',
    '{"zoom_score": 8-9}',
    "zoom_score: 3 or 4",
    '{"zoom_score": 7/5}',
    '"zoom_score": [3, 4]',
    '{"reasoning": "the sign is',
    '<think>{"zoom_score": 3}',
]


@pytest.mark.parametrize("reply", NO_JUDGEMENT)
def test_a_reply_that_is_no_judgement_is_asked_for_again_and_not_kept(tmp_path: Path, chat: Chat, reply: str) -> None:
    assert not is_judged(reply) and zoom_score(reply) is None
    file, replies = tmp_path / "judged.jsonl", [reply, '{"zoom_score": 9}']
    assert judged(ScriptedPolicy(chat, lambda episode: replies.pop(0)), chat, [task("a")], file) == {"a": 9.0}
    with pytest.raises(EndpointError, match=r"in 3 tries no reply that is a score from 1 to 10"):
        judged(ScriptedPolicy(chat, lambda episode: reply), chat, [task("a"), task("b")], file)
    assert judged(ScriptedPolicy(chat, lambda episode: "unclear"), chat, [task("a"), task("b")], file) == {"a": 9.0}


@pytest.mark.parametrize("reply", NO_JUDGEMENT)
def test_what_the_file_holds_and_is_no_judgement_is_asked_anew(tmp_path: Path, chat: Chat, reply: str) -> None:
    file = tmp_path / "judged.jsonl"
    kept = ScriptedPolicy(chat, lambda episode: reply or " ")
    collect(kept, chat, [task("a")], JudgeEnv, VERDICT, file)
    for _ in range(2):
        assert judged(ScriptedPolicy(chat, lambda episode: '{"zoom_score": 4}'), chat, [task("a")], file) == {"a": 4.0}


def test_a_fault_of_the_endpoint_is_no_judgement(tmp_path: Path, chat: Chat) -> None:
    cut = '{"choices": [{"message": {"content": "{\\"zoom_score\\": 4}, as"}, "finish_reason": "length"}]}'
    nothing = '{"choices": [{"message": {"content": null}, "finish_reason": "stop"}]}'
    with FakeOpenAI(lambda body: '{"zoom_score": 9}') as server:
        judge = ServedPolicy(server.url, "small", chat, retries=1, sleep=lambda seconds: None)
        for number, body in enumerate((cut, nothing)):
            server.faults = [body]
            file = tmp_path / f"judged-{number}.jsonl"
            assert judged(judge, chat, [task("a")], file) == {"a": 9.0}
            server.faults = [body] * 9
            with pytest.raises(
                EndpointError, match=r"model small: (in 3 tries .* cut at max_new_tokens|no answer in 2)"
            ):
                judged(judge, chat, [task("a"), task("b")], file)
            server.faults = []
            assert judged(judge, chat, [task("a"), task("b")], file) == {"a": 9.0, "b": 9.0}, "nothing was kept"


def test_scores_stand_for_difficulties() -> None:
    assert [of_score(score) for score in (1, 3, 3.5, 7, 7.5, 10)] == [
        "easy",
        "easy",
        "medium",
        "medium",
        "hard",
        "hard",
    ]


def test_a_judge_is_asked_once_about_each_task(tmp_path: Path, chat: Chat) -> None:
    asked = []

    def says(episode: Episode) -> str:
        asked.append(episode.task.id)
        return {"a": '{"zoom_score": 9}', "b": "It is unclear."}[episode.task.id]

    judge, file = ScriptedPolicy(chat, says), tmp_path / "judged.jsonl"
    assert judged(judge, chat, [task("a")], file) == {"a": 9.0}
    assert judged(judge, chat, [task("a"), task("b")], file) == {"a": 9.0}, "the unclear one is left out"
    assert asked == ["a", "b"]


def test_each_set_has_the_papers_size_and_unclear_questions_are_dropped() -> None:
    """Table 3: 288 + 491 + 500, 1000 + 500 + 999, 46 + 139 + 365."""
    assert {name: sum(sizes.values()) for name, sizes in ZOOM_SETS.items()} == {
        "easy": 1279,
        "medium": 2499,
        "hard": 550,
    }
    tasks = [task(f"vsr-{k}") for k in range(50)] + [task("gqa-0", "gqa"), task("unclear")]
    scores = {one.id: 9.0 for one in tasks[:51]}
    sets = zoom_sets(tasks, scores)
    assert [one.id for one in sets["hard"]] == [*(f"vsr-{k}" for k in range(46)), "gqa-0"]
    assert not sets["easy"] and not sets["medium"]
    assert sets["hard"][0].meta["difficulty"] == "hard" and sets["hard"][0].meta["zoom_score"] == 9.0


def test_agreement_by_hand() -> None:
    """Three of four are the same; by chance 1/2 · 1/4 + 1/2 · 3/4 = 1/2 would be: kappa is (3/4 - 1/2) / (1/2)."""
    tasks = [task("a", difficulty="easy"), task("b", difficulty="easy"), task("c", difficulty="hard"),
             task("d", difficulty="hard"), task("e", difficulty="hard")]  # fmt: skip
    found = agreement(tasks, {"a": 1, "b": 8, "c": 10, "d": 9})
    assert (found.n, found.same, found.kappa) == (4, 0.75, 0.5)
    assert found.pairs == {("easy", "easy"): 1, ("easy", "hard"): 1, ("hard", "hard"): 2}
    assert agreement(tasks[2:], {"c": 9, "d": 9}).kappa == 0.0, "nothing varies"
    with pytest.raises(ValueError, match="agreement of 5 tasks: the judge has scored none"):
        agreement(tasks, {})


def hub(folder: Path, *without: str) -> Path:
    """What the data script writes from the hub, a task a file, but for some."""
    stages = {f"hub-stage{number}": task(f"s{number}") for number in (1, 2)}
    zoom = {f"zoom-{level}": task(level, "gqa", level) for level in ZOOM_SETS}
    for name, one in (stages | zoom).items():
        if name not in without:
            save_tasks(folder / f"{name}.jsonl", [one])
    return folder


def test_the_hubs_sets_are_loaded_all_together(tmp_path: Path) -> None:
    sets = hub_sets(str(hub(tmp_path)))
    assert {name: [one.id for one in some] for name, some in sets.items()} == {
        "stage1": ["s1"],
        "stage2": ["s2"],
        **{f"zoom-{level}": [level] for level in ZOOM_SETS},
    }
    assert [one.id for one in zoom_tests(tmp_path)] == ["easy", "medium", "hard"]


def test_without_the_hub_there_is_nothing(tmp_path: Path) -> None:
    assert hub_sets("") == {} and zoom_tests(tmp_path) == []
    with pytest.raises(FileNotFoundError, match=r"data='.*' has no hub-stage\*.jsonl or zoom-\*.jsonl"):
        hub_sets(str(tmp_path))


@pytest.mark.parametrize("lacking", ["hub-stage2", "zoom-medium"])
def test_a_missing_set_is_named_with_its_folder(tmp_path: Path, lacking: str) -> None:
    folder = hub(tmp_path, lacking)
    with pytest.raises(ValueError, match=rf"data='.*': {lacking}.jsonl missing; make all of them by .*--judge URL"):
        hub_sets(str(folder))


def test_an_empty_set_is_a_missing_one(tmp_path: Path) -> None:
    save_tasks(hub(tmp_path) / "zoom-hard.jsonl", [])
    for load in (zoom_tests, lambda folder: hub_sets(str(folder))):
        with pytest.raises(ValueError, match=r"zoom-hard\.jsonl missing or empty"):
            load(tmp_path)


@pytest.mark.parametrize(
    ("odd", "said"),
    [
        (task("x", "gqa", "easy"), r"zoom-hard.jsonl:2, task x: difficulty='easy', set='gqa'"),
        (task("x", "docvqa", "hard"), r"task x: difficulty='hard', set='docvqa'; .* one of vsr, tallyqa, gqa"),
        (Task("x", task("x").images, "?", ("it",), {}), r"task x: difficulty=None, set=None; .* difficulty='hard'"),
    ],
)
def test_tasks_of_another_layout_are_named_with_file_and_line(tmp_path: Path, odd: Task, said: str) -> None:
    save_tasks(hub(tmp_path) / "zoom-hard.jsonl", [task("hard", "gqa", "hard"), odd])
    with pytest.raises(ValueError, match=said):
        hub_sets(str(tmp_path))
