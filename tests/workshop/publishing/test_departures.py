"""Items and departures: every difference from a paper is declared, in full, and whatever is called the same is so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kit.files import ROOT
from papers.fidelity import Fidelity, FidelityError, Row
from papers.registry import PAPERS, find_paper
from workshop.publishing import departures
from workshop.publishing.declared import SHARED, Departure, DepartureError, bullets, declared
from workshop.publishing.departures import listed, page, problems, unused, value_at, write

FILE = Path("module.py")
BULLET = "[counting-less] Paper: all. Here: Half: the first. Why: Time. May change: Little."


def test_a_bullet_has_four_parts() -> None:
    assert Departure.of(BULLET, FILE) == Departure(
        "counting-less", "All.", "Half: the first.", "Time.", "Little.", FILE
    )


@pytest.mark.parametrize(
    "part", ["[counting-less] ", "Paper: all.", "Here: Half: the first.", "Why: Time.", "May change:"]
)
def test_a_bullet_that_lacks_a_part_is_refused(part: str) -> None:
    with pytest.raises(DepartureError, match=r"module\.py: departure .* write - \[NAME\] Paper: "):
        Departure.of(BULLET.replace(part, ""), FILE)


@pytest.mark.parametrize("heading", ["Departures", "Departures from the paper"])
def test_bullets_may_be_wrapped_anywhere_and_end_with_their_section(heading: str) -> None:
    wrapped = BULLET.replace(" Here:", "\nHere:").replace("Little.", "Little.\n\n- [b] and\n  more")
    text = f"First line.\n\n- no bullet of ours\n\n{heading}\n- {wrapped}\n\nText after it.\n\n- nor this"
    assert bullets(text, FILE) == [BULLET, "[b] and more"]
    assert bullets("First line.\n\n- a list", FILE) == []


@pytest.mark.parametrize("text", ["Departures: one.", "Departures\nnone", "Departures", "Departures\n\nText."])
def test_a_section_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(DepartureError, match=r"module\.py: .*(bullets|declare one)"):
        bullets(f"First line.\n\n{text}", FILE)


def module(folder: Path, name: str, *slugs: str) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = "\n".join(f"- {BULLET.replace('counting-less', slug)}" for slug in slugs)
    file.write_text(f'"""First line.\n\nDepartures\n{lines}\n"""\n')
    return file


def test_departures_belong_to_the_paper_in_whose_package_they_are_declared(tmp_path: Path) -> None:
    files = [module(tmp_path, "counting/env.py", "counting-a"), module(tmp_path, "loop.py", "shared-b", "shared-c")]
    found = declared(files, {"counting": tmp_path / "counting"})
    assert {name: [one.slug for one in some] for name, some in found.items()} == {
        "counting": ["counting-a"],
        SHARED: ["shared-b", "shared-c"],
    }


@pytest.mark.parametrize(
    ("place", "slug", "said"),
    [
        ("other.py", "counting-a", "begin its name with shared-"),
        ("counting/env.py", "shared-a", "don't begin its name with shared-"),
        ("other.py", "shared-b", "is declared in .* as well"),
    ],
)
def test_a_name_of_another_owner_and_one_declared_twice_are_refused(
    tmp_path: Path, place: str, slug: str, said: str
) -> None:
    files = [module(tmp_path, "loop.py", "shared-b"), module(tmp_path, place, slug)]
    with pytest.raises(DepartureError, match=said):
        declared(files, {"counting": tmp_path / "counting"})


GOOD = Row("x", "reward", "3", "It is so.", "kit.rollout:rollout")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"kind": "idea"}, "kind 'idea'"),
        ({"why": "No time."}, "say one thing"),
        ({"where": ""}, "say one thing"),
        ({"departs": ("a",), "why": "No time."}, "say one thing"),
        ({"where": "rollout.py"}, "write node:NN.PARAMETER or MODULE:ATTRIBUTE"),
        ({"kind": "hyper-parameter"}, "has a value to compare with"),
        ({"paper": "no sentence"}, "as a sentence"),
    ],
)
def test_an_item_that_is_not_whole_is_refused(change: dict[str, str], said: str) -> None:
    with pytest.raises(FidelityError, match=said):
        replace(GOOD, **change)  # type: ignore[arg-type]


def test_a_file_is_read_and_one_that_is_not_whole_is_named(tmp_path: Path) -> None:
    row = 'id = "x", kind = "reward", source = "3", paper = "It is so."'
    file = tmp_path / "fidelity.toml"
    file.write_text(f'intro = "One."\nrows = [\n  {{ {row}, where = "kit.rollout:rollout" }},\n]\n')
    assert Fidelity.load(file) == Fidelity("One.", (GOOD,))
    for text in ("intro = 3 4", 'intro = "One."', f'intro = ""\nrows = [{{ {row}, whre = "a:b" }}]'):
        file.write_text(text)
        with pytest.raises(FidelityError, match=r"fidelity\.toml: "):
            Fidelity.load(file)


def test_two_items_of_one_name_are_refused() -> None:
    with pytest.raises(FidelityError, match="'x' is listed twice"):
        Fidelity("Two.", (GOOD, GOOD))


def with_items(monkeypatch: pytest.MonkeyPatch, *rows: Row) -> list[str]:
    """The problems of a registered paper if these were its items."""
    name = next(iter(PAPERS))
    paper = find_paper(name)
    monkeypatch.setattr(type(paper), "load_fidelity", lambda self: Fidelity("Some.", rows))
    monkeypatch.setattr(type(paper), "load_claims", lambda self: {"C1": "it is so"})
    one = Departure("own-declared", "All.", "Half.", "Time.", "Little.", FILE)
    return problems(paper, {name: [one], SHARED: []})


def test_whatever_is_incomplete_or_untrue_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    said = with_items(
        monkeypatch,
        Row("a", "data", "3", "One.", departs=("nobody-declares",)),
        Row("b", "hyper-parameter", "3", "Seven rollouts.", "node:13.group_size", 7),
        Row("c", "reward", "3", "Two.", "kit.rollout:no_such_thing"),
        Row("d", "reward", "3", "Two.", "node:99.steps"),
    )
    assert said[:3] == [
        "nobody-declares: no module declares this departure",
        f"own-declared: declared, and no item of {next(iter(PAPERS))} names it",
        "claim C1: no item has this id",
    ]
    assert said[3] == "b: the paper has 7, node:13.group_size is 8"
    assert said[4].startswith("c: nothing is at kit.rollout:no_such_thing")
    assert said[5] == "d: nothing is at node:99.steps: 'no notebook 99'"
    assert any(text.startswith("node:13.learning_rate: give it an item") for text in said)
    assert not any(text.startswith(("node:13.group_size: give", "node:13.threads")) for text in said)


def test_a_value_is_found_in_the_profile_in_its_defaults_and_in_the_code() -> None:
    assert value_at("node:13.group_size") == 8
    assert value_at("node:11.m") == 2, "the profile leaves the parameter's own value"
    assert value_at("kit.train.sft:SFTSettings.warmup") == 0.1


def test_the_page_tells_each_status_in_a_table_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    paper = find_paper(next(iter(PAPERS)))
    rows = (
        GOOD,
        Row("a", "data", "3", "One.", departs=("own-a",)),
        Row("b", "claim", "4", "A <tag> | b.", why="No `<GPU>`."),
    )
    rows += (Row("c", "hyper-parameter", "Table 5", "Eight rollouts.", "node:13.group_size", 8),)
    monkeypatch.setattr(type(paper), "load_fidelity", lambda self: Fidelity("In plain words.", rows))
    monkeypatch.setattr(departures, "listed", lambda: {paper.name: paper})
    one = Departure("own-a", "All.", "See :mod:`kit.rollout`.", "``A``.", "Little.", ROOT / "kit" / "rollout.py")
    monkeypatch.setattr(departures, "departures", lambda: {paper.name: [one]})
    text = page()
    assert "In plain words.\n\n4 items: 2 the same, 1 that depart (1 rows below), 1 not run." in text
    assert "| 3 | All. | See `kit.rollout`. | `A`. | Little. | [`rollout.py`](../kit/rollout.py) |" in text
    assert "| 4 | A &lt;tag> \\| b. | No `<GPU>`. |" in text
    assert "| 3 | It is so. | `kit.rollout:rollout` |" in text
    assert "| Table 5 | Eight rollouts. | `node:13.group_size` = `8` |" in text
    (tmp_path / "docs").mkdir()
    assert write(tmp_path) and not write(tmp_path)


@pytest.mark.parametrize("name", PAPERS)
def test_every_item_of_a_paper_is_true_and_every_departure_has_one(name: str) -> None:
    assert problems(find_paper(name), departures.departures()) == []


def test_every_departure_of_a_shared_module_belongs_to_a_paper() -> None:
    assert unused(departures.departures()) == []


@pytest.mark.parametrize("name", PAPERS)
def test_a_registered_paper_lists_its_items_under_every_kind(name: str) -> None:
    kinds = {item.kind for item in listed()[name].load_fidelity().rows}
    assert kinds == {"hyper-parameter", "prompt", "environment", "data", "reward", "training", "metric", "claim"}
