"""The scripted experts: their episodes are sound in the real environment, and they can borrow a pupil's words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kit.chat import Chat
from kit.episode import Task
from kit.policy.scripted import ScriptedPolicy
from papers.visual_arft.corpora import documents
from papers.visual_arft.countries import Countries
from papers.visual_arft.experiment import Play, Tools, coding_demonstrations, search_demonstrations
from papers.visual_arft.expert import GIVES_UP, expert, search_turns, turns_of, undecided
from papers.visual_arft.index import Index
from papers.visual_arft.mat_coding import CATEGORIES, drawn, make_tasks, restored
from papers.visual_arft.mat_search import in_words, text_questions
from papers.visual_arft.mat_search import make_tasks as make_search_tasks
from papers.visual_arft.reward import score, step_score
from pictures.scenes import scene

POOL = [scene(np.random.default_rng(0), 168)]
PLAY = Play(prompt="brief", k=3, snippet_chars=120, max_new_tokens=200, max_episode_tokens=4000)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return Index(documents(), tmp_path_factory.mktemp("index"))


@pytest.fixture(scope="module")
def searches(index: Index) -> tuple[list[Task], list[Task]]:
    return make_search_tasks(Countries(), index, 0, 8, 12)


def same(first: str, second: str) -> float:
    return float(first == second)


def test_its_episodes_earn_all_there_is_in_one_environment(
    chat: Chat, box: Any, index: Index, searches: tuple[list[Task], list[Task]]
) -> None:
    """Coding and searching tasks in one batch, as they are trained on."""
    coding = make_tasks(drawn(POOL, "d"), dict.fromkeys(CATEGORIES, 1), 0, "t")
    tasks = [*coding, *searches[0], *searches[1]]
    played = PLAY(ScriptedPolicy(chat, expert), chat, Tools(box, index), tasks, temperature=0.0)
    for episode in played:
        queries = episode.task.meta.get("queries", ())
        assert score(episode, episode.task.target).total == 2.0, episode.task.id
        assert step_score(episode, episode.task.target, queries, same).total == pytest.approx(2.0)
    for episode in played[: len(coding)]:
        shown = [p.image for turn in episode.turns if turn.observation for p in turn.observation.images]
        if episode.task.meta["category"] != "crop":
            assert restored(episode.task, shown), episode.task.meta["category"]


def test_what_is_shown_of_searching_is_about_an_invented_world(chat: Chat) -> None:
    ((tasks, search),) = search_demonstrations(8, 1)
    assert [task.meta["difficulty"] for task in tasks] == ["simple", "hard"] * 4
    assert [task.images == () for task in tasks] == [True, False, False, False, False, False, True, False]
    assert len({task.meta["source"] for task in tasks}) == 8
    assert not {name for task in tasks for name in task.meta["countries"]} & set(Countries().names)
    for task in tasks:
        found = [search.search(query, 1)[0].source for query in task.meta["queries"]]
        assert found == task.meta["documents"]
    played = PLAY(ScriptedPolicy(chat, expert), chat, Tools(None, search), tasks, temperature=0.0)
    assert [score(episode, episode.task.target).total for episode in played] == [2.0] * 8


def test_an_undecided_expert_gives_up_in_a_share_of_both_kinds(chat: Chat, box: Any) -> None:
    """By a task's id alone, so that a larger share holds all of a smaller one; where it acts nothing is changed."""
    ((searching, search),) = search_demonstrations(40, 1)

    def play(script: Any, tasks: Any) -> list[Any]:
        return PLAY(ScriptedPolicy(chat, script), chat, Tools(box, search), tasks, temperature=0.0)

    shown = play(expert, [*coding_demonstrations(24, 1), *searching])
    silent = {share: undecided(shown, share, play) for share in (0.0, 0.4, 1.0)}
    assert silent[0.0] == shown
    assert [e.task.id for e in silent[0.4]] == [e.task.id for e in shown]
    gave = [e for e in silent[0.4] if e.turns[0].text == GIVES_UP]
    assert all(e.turns[0].text == GIVES_UP for e in silent[1.0])
    assert all(one in gave or one == first for one, first in zip(silent[0.4], shown, strict=True))
    for kind, n in (("code", 24), ("search", 40)):
        assert 0.2 * n < sum(e.task.meta["tools"] == [kind] for e in gave) < 0.6 * n
    for episode in gave:  # the form is right, and nothing else
        assert (episode.calls, score(episode, episode.task.target).parts) == (0, {"format": 1.0, "answer": 0.0})


def test_sheets_to_be_shown_are_of_every_category() -> None:
    made = coding_demonstrations(12, 1)
    assert len(made) == 12 and {task.meta["category"] for task in made} == set(CATEGORIES)


def test_questions_in_words_are_about_the_tests_countries(
    index: Index, searches: tuple[list[Task], list[Task]]
) -> None:
    tested = {name for task in searches[1] for name in task.meta["countries"]}
    texts = text_questions(Countries(), index, 5, 0, searches[1])
    assert len(texts) == 5 and {name for task in texts for name in task.meta["countries"]} <= tested


def test_a_question_in_words_names_the_country_and_lacks_the_first_step(
    index: Index, searches: tuple[list[Task], list[Task]]
) -> None:
    for task in searches[0]:
        asked = in_words(task)
        assert asked.images == () and f" of {task.meta['source']}?" in asked.question
        assert asked.meta["queries"] == task.meta["queries"][1:] and asked.target == task.target
        first = search_turns(asked)[0]
        assert first == f"<think>{asked.question}</think><search>{asked.meta['queries'][0]}</search>"


def test_what_was_found_takes_its_place_in_the_question(searches: tuple[list[Task], list[Task]]) -> None:
    task = next(task for task in searches[0] if task.meta["difficulty"] == "hard")
    country, (_, partner, answer) = task.meta["source"], task.meta["says"]
    fact, _, trade = task.question.removesuffix(" of the country with this flag?").partition(" of the ")
    _, second, third, last = search_turns(task)
    asked = f"{fact} of the {trade} of {country}?"
    assert second == f"<think>It is {country}. {asked}</think><search>{country} {trade}</search>"
    wanted = fact.removeprefix("What is the ")
    assert third == f"<think>It is {partner}. {fact} of {partner}?</think><search>{partner} {wanted}</search>"
    assert last == f"<think>It is {answer}.</think><answer>{answer}</answer>"


def test_a_sheet_is_read_then_asked_again_then_answered() -> None:
    (task,) = make_tasks(drawn((), "d"), {"dark": 1}, 3, "t")
    mend, last = turns_of(task)
    assert mend == "<think>dark.</think><code>image_1 = brighten(image)</code>"
    answer = task.target[0]
    assert last == f"<think>{task.meta['reading']}. {task.question}</think><answer>{answer}</answer>"


def test_a_whole_picture_is_read_at_once() -> None:
    (task,) = make_tasks(drawn((), "d"), {"none": 1}, 0, "t")
    (only,) = turns_of(task)
    assert only.startswith("<think>nothing; ") and only.endswith(f"<answer>{task.target[0]}</answer>")


def test_the_index_is_not_built_twice(index: Index, tmp_path: Path) -> None:
    """The kit's documents are the same whenever they are read: their index is found again."""
    first = Index(documents(), tmp_path)
    before = sorted(path.name for path in tmp_path.iterdir())
    again = Index(documents(), tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == before and first.size == again.size
