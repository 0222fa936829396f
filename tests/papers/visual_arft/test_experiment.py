"""Visual-ARFT's experiment: sets, search engines by name, and a run that goes on or stops when search fails."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fake_serper import FakeSerper

from kit.chat import Chat
from kit.episode import Action, Episode, Observation, Task, Turn
from kit.policy.scripted import ScriptedPolicy
from kit.tools.search import SearchError
from papers.visual_arft.experiment import Play, Tools, coding_sets, search_engine
from papers.visual_arft.experiment import test_sets as sets_to_test
from papers.visual_arft.reward import ADVANTAGES, make_reward
from papers.visual_arft.serper import Serper

TASK = Task("t", (), "What is the capital of Chad?", ("N'Djamena",), {"tools": ["search"]})


def test_coding_sets_share_no_picture_and_have_the_shares_asked_for() -> None:
    train, test = coding_sets(seed=0, train=1, test=0.1)
    assert (len(train), len(test)) == (12, 7 + 5 * 3)
    assert not {t.images[0].sha256 for t in train} & {t.images[0].sha256 for t in test}
    assert not {t.id for t in train} & {t.id for t in test}


def test_the_test_is_the_same_for_every_seed() -> None:
    (train, test), (other, same) = (coding_sets(seed, train=1, test=0.05) for seed in (0, 1))
    assert [t.images[0].sha256 for t in test] == [t.images[0].sha256 for t in same]
    assert not {t.images[0].sha256 for t in train} & {t.images[0].sha256 for t in other}


def test_a_search_engine_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    assert search_engine().search("Chad capital name")[0].text == "N'Djamena"
    monkeypatch.delenv("SERPER_API_KEY", raising=False)
    with pytest.raises(SearchError, match="SERPER_API_KEY"):
        search_engine("serper")
    with pytest.raises(ValueError, match=r"search='google': choose 'offline' or 'serper'"):
        search_engine("google")


def look_up(episode: Episode) -> str:
    """Searches twice, then answers whatever was found."""
    queries = ("capital of Chad", "Chad, its capital")
    if len(episode.turns) < 2:
        return f"<think>?</think><search>{queries[len(episode.turns)]}</search>"
    return "<think>so</think><answer>N'Djamena</answer>"


@pytest.fixture
def web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A server that answers one query; then its credits are used up."""
    monkeypatch.setenv("SERPER_API_KEY", "secret")
    with FakeSerper({"capital of Chad": [("Chad", "Its capital is N'Djamena.")]}) as server:
        server.credits = 1
        yield Serper(tmp_path / "answers.sqlite", url=server.url, sleep=lambda seconds: None), tmp_path, server


def test_a_run_stops_when_searching_fails_and_keeps_what_was_found(web: Any, chat: Chat) -> None:
    search, folder, server = web
    how = Play(prompt="brief", max_new_tokens=60)
    with pytest.raises(SearchError, match=r"search 'Chad, its capital'.*credits"):
        how(ScriptedPolicy(chat, look_up), chat, Tools(search=search), [TASK], temperature=0.0)
    search.close()
    again = Serper(folder / "answers.sqlite", url=server.url, sleep=lambda seconds: None)
    assert again.search("capital of Chad")[0].title == "Chad"  # without a credit left
    again.close()


def test_how_tasks_are_told_is_kept_beside_them(tmp_path: Path) -> None:
    Play(prompt="brief", k=2, snippet_chars=80, max_turns=3).keep(tmp_path)
    assert Play.kept(tmp_path, max_turns=7) == Play(prompt="brief", k=2, snippet_chars=80, max_turns=7)


def test_tasks_nobody_has_made_say_how_to_make_them(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="python -m kit run 21 --name mine"):
        Play.kept(tmp_path / "mine" / "data")


def test_the_papers_benchmark_is_the_test_where_it_is_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no mat-coding.jsonl or coding-test.jsonl, the test tasks of coding"):
        sets_to_test(tmp_path)
    for name in ("coding-test", "search-test", "text-test"):
        (tmp_path / f"{name}.jsonl").touch()
    assert [path.stem for path in sets_to_test(tmp_path).values()] == ["coding-test", "search-test", "text-test"]
    (tmp_path / "mat-coding.jsonl").touch()
    assert {setting: path.stem for setting, path in sets_to_test(tmp_path).items()} == {
        "coding": "mat-coding",
        "search": "search-test",
        "text": "text-test",
    }


def test_rewards_by_name() -> None:
    """Code that failed, then an answer half right: F1 of {red, car} against {red, cars} is 1/2."""
    code = Turn(
        (), (), "<think>.</think><code># look</code>", Action("code", "# look"), Observation("", status="error")
    )
    answer = Turn((), (), "<think>.</think><answer>the red car</answer>", Action("answer", "the red car"))
    played = Episode(TASK, (), (code, answer), "answer")

    def turns(reward: str, code: str) -> tuple[float, ...]:
        return tuple(make_reward(reward, code)(played, ("red cars",)).turns)

    assert turns("steps", "ran") == (1.0, 1.5)
    assert turns("steps", "any") == (2.0, 1.5)
    assert turns("steps_em", "any") == (2.0, 1.0)
    assert [make_reward(name)(played, ("red cars",)).total for name in ("f1", "em")] == [1.5, 1.0]
    assert {name for name in ADVANTAGES if make_reward(name)(played, ("red cars",)).turns} == {"steps", "steps_em"}
    with pytest.raises(ValueError, match=r"^reward='bleu': choose one of f1, em, steps, steps_em$"):
        make_reward("bleu")
    with pytest.raises(ValueError, match=r"^code_reward='none': choose one of ran, any$"):
        make_reward("steps", "none")
