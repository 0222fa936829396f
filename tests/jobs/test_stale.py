"""Published figures are made by the code they stand with, or a change was declared, with a reason, to leave them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from kit.files import read_json, write_json
from kit.jobs import stale as module
from kit.jobs.readme import block
from kit.jobs.stale import Unchanged, changed, complain, declare, declared, forget, published_figures, stale
from kit.papers.registry import Paper, find_paper

NOW = {"kit/a.py": "a2", "kit/b.py": "b1", "kit/new.py": "n1"}
THEN = {"kit/a.py": "a1", "kit/b.py": "b1", "kit/old.py": "o1"}


def said(file: str, before: str, after: str) -> Unchanged:
    return Unchanged("agile", file, before, after, "only names were changed", "2026-11-25")


def test_no_published_figure_is_stale() -> None:
    """If this fails: ``python -m kit results`` makes them anew, ``--plan`` says how long that takes."""
    assert complain() == []


def test_every_declaration_is_of_a_published_file_and_still_needed() -> None:
    """A declaration is for one change of one file: what a later stamp covers is no longer said."""
    for paper, figures, results in published_figures():
        folder = module.results_folder(paper)
        known = [one for one in declared(folder) if one.figures == figures.name]
        assert results is not None or not known
        for one in known:
            rest = [other for other in known if other is not one]
            assert one.file in changed(results["code"]["files"], module.stamp_of(paper, figures), rest), one


def test_what_has_changed_is_named_with_the_hash_before() -> None:
    assert changed(THEN, NOW) == {"kit/a.py": "a1", "kit/new.py": "", "kit/old.py": "o1"}
    assert changed(NOW, NOW) == {}


def test_a_declaration_covers_one_change_and_no_later_one() -> None:
    one = said("kit/a.py", "a1", "a2")
    assert changed(THEN, NOW, [one]) == {"kit/new.py": "", "kit/old.py": "o1"}
    assert changed(THEN, NOW | {"kit/a.py": "a3"}, [one])["kit/a.py"] == "a2"
    assert "kit/a.py" not in changed(THEN, NOW | {"kit/a.py": "a3"}, [one, said("kit/a.py", "a2", "a3")])
    assert changed(THEN, NOW, [said("kit/a.py", "a0", "a2")])["kit/a.py"] == "a1", "it was of another change"
    assert changed(THEN, NOW, [said("kit/new.py", "", "n1"), said("kit/old.py", "o1", "")]) == {"kit/a.py": "a1"}


@pytest.fixture
def paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Paper]:
    """AGILE with results of its own, of which the first file was made before today's code."""
    found = replace(find_paper("agile"), notebooks_dir=tmp_path / "notebooks")
    assert found.published is not None
    monkeypatch.setattr(module, "papers", lambda: {"agile": found})
    monkeypatch.setattr(module, "stamp_of", lambda paper, figures: dict(NOW))
    for figures, files in zip(found.published.figures, (THEN, NOW), strict=True):
        write_json(tmp_path / "results" / f"{figures.name}.json", {"code": {"files": files}})
    return found


def test_a_stale_file_is_named_with_what_changed_and_the_command(paper: Paper) -> None:
    [text] = complain()
    assert text.startswith("results/agile.json is stale: changed since it was made: kit/a.py, kit/new.py, kit/old.py. ")
    assert "python -m kit results agile; --plan says" in text and '--unchanged "REASON"' in text


def test_declaring_writes_what_changed_with_its_hashes(paper: Paper, tmp_path: Path) -> None:
    added = declare(paper, "  only names were changed  ")
    assert [(one.file, one.before, one.after) for one in added] == [
        ("kit/a.py", "a1", "a2"),
        ("kit/new.py", "", "n1"),
        ("kit/old.py", "o1", ""),
    ]
    assert {one.because for one in added} == {"only names were changed"} and {one.figures for one in added} == {"agile"}
    assert read_json(tmp_path / "results" / "unchanged.json") == [asdict(one) for one in added]
    assert complain() == [] and declare(paper, "only names were changed") == []
    forget(tmp_path / "results", "agile")
    assert declared(tmp_path / "results") == [] and len(complain()) == 1


def test_a_declaration_without_a_reason_is_refused(paper: Paper, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="--unchanged 'fine': say in 20 characters or more why"):
        declare(paper, "fine")
    assert not (tmp_path / "results" / "unchanged.json").exists()


def test_results_without_a_stamp_are_named(paper: Paper) -> None:
    assert paper.published is not None
    with pytest.raises(
        ValueError, match=r"results/agile.json carries no stamp .* python -m kit results agile makes it"
    ):
        stale(paper, paper.published.figures[0], {})
    write_json(paper.notebooks_dir.parent / "results" / "agile.json", {"metrics": {}})
    assert [text.partition(":")[0] for text in complain()] == [
        "results/agile.json carries no stamp of the code that made it"
    ]


def test_the_results_page_shows_declarations_beside_the_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    some = [said("kit/b.py", "1", "2"), said("kit/a.py", "1", "2")]
    some.append(replace(some[0], figures="visual_arft", because="of another paper's figures"))
    monkeypatch.setattr("kit.jobs.readme.declared", lambda folder: some)
    results: dict[str, Any] = {
        **{"notebook": "14_agile_claims", "profile": "laptop", "commit": "abc1234", "seed": 0, "metrics": {}},
        **{"hardware": {"cpu": "a processor", "cores": 2, "gpus": []}, "code": {"files": {}, "note": "Stamped late."}},
    }
    text = block("agile", results)
    assert "\n\nStamped late.\n\n" in text and "another paper" not in text
    assert "declared to leave these figures as they are: `kit/a.py`, `kit/b.py`: only names were changed." in text
