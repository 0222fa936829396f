"""What claims say, and since when, is read as it is written; what isn't whole is refused by name."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from kit.evaluate.intervals import Interval
from kit.files import ROOT
from papers.claims import as_stated
from papers.registered import FILE, Registered, RegisteredError, Spread, registered
from papers.registry import PAPERS, find_paper
from papers.verdicts import by_verdict, in_lines, why

WHOLE = """
[stages]
sft = "after the cold start"
grpo = "after reinforcement"

[C1]
statement = "reinforcement helps"
source = "Table 3"
seeds = 5
images = 300
tasks = "drawn questions"
numbers = {last = 0.25, budgets = [6, 12]}

[C1.checks.gain]
name = "gain"
kind = "more"
arms = ["sft", "grpo"]
margin = 0.1
spread = {seed = 0.05, image = 0.4, rest = 0.3, seen = "results of October"}

[C1.checks.calls]
name = "calls"
kind = "no_less"
arms = ["sft", "grpo"]
margin = 0.2

[C1.checks.form]
name = "form"
kind = "equal"
arms = ["grpo"]
margin = 0.05
"""
SOME = Interval(0.2, 0.15, 0.25, 10)


def loaded(tmp_path: Path, text: str) -> Registered:
    """What a file says."""
    (tmp_path / "claims.toml").write_text(text, encoding="utf-8")
    return Registered.load(tmp_path / "claims.toml")


def test_a_file_says_what_it_says(tmp_path: Path) -> None:
    """Statement, checks, numbers and spreads come out as they are written."""
    found = loaded(tmp_path, WHOLE)
    assert found.statements == {"C1": "reinforcement helps"} and list(found) == ["C1"] and len(found) == 1
    assert found["C1"].numbers == {"last": 0.25, "budgets": [6, 12]}
    assert found["C1"].checks["gain"].spread == Spread(0.05, 0.4, 0.3, "results of October")
    assert found["C1"].checks["gain"].arms == ("sft", "grpo")


@pytest.mark.parametrize(
    ("key", "limit", "side", "margin"),
    [("gain", 0, "above", 0.1), ("calls", -0.2, "above", 0), ("form", 0.05, "within", 0)],
)
def test_a_kind_sets_limit_side_and_margin(tmp_path: Path, key: str, limit: float, side: str, margin: float) -> None:
    """Each kind of check is the check that its words say."""
    check = loaded(tmp_path, WHOLE)["C1"].check(key, SOME, "because")
    assert (check.name, check.interval, check.untestable) == (key, SOME, "because")
    assert (check.limit, check.side, check.margin) == (limit, side, margin)


def test_a_claim_has_its_statement_and_its_reason(tmp_path: Path) -> None:
    """A claim that can't be told here whatever is trained says so, measured or not."""
    text = WHOLE.replace('source = "Table 3"', 'source = "Table 3"\nuntestable = "no such sampling"')
    claim = loaded(tmp_path, text)["C1"].claim(note="n", untestable="mute")
    assert (claim.name, claim.statement, claim.note) == ("C1", "reinforcement helps", "n")
    assert claim.verdict == "not testable here" and claim.untestable == "no such sampling"
    assert loaded(tmp_path, WHOLE)["C1"].claim(untestable="mute").untestable == "mute"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('kind = "more"', 'kind = "better"', "C1, check gain: kind 'better'; choose one of more, no_less, equal"),
        ('["sft", "grpo"]', '["sft", "dapo"]', "C1, check gain: no run makes arm 'dapo'; stages are sft, grpo"),
        ('["sft", "grpo"]', '"grpo"', "C1, check gain: arms 'grpo'"),
        ('["sft", "grpo"]', "[]", "C1, check gain: arms"),
        ("margin = 0.1", "", "C1, check gain: 'margin' is missing"),
        ("margin = 0.1", "margin = 0", "C1, check gain: margin 0: say which"),
        ("margin = 0.1", 'margin = "0.1"', "C1, check gain: margin '0.1'; write a number"),
        ("margin = 0.1", "margin = -0.1", "C1, check gain: margin -0.1; write a number of at least 0"),
        ("margin = 0.1", "margin = nan", "C1, check gain: margin nan"),
        ("margin = 0.2", "margin = 0.2\nlimit = 0.1", "C1, check calls: limit 0.1: of kind 'no_less'"),
        ("margin = 0.2", "margn = 0.2", "C1, check calls: 'margn' is unknown; there are name, kind"),
        ("rest = 0.3, ", "", "C1, check gain, spread: 'rest' is missing"),
        ("rest = 0.3", "rest = true", "C1, check gain, spread: rest True; write a number"),
        (', seen = "results of October"', "", "C1, check gain, spread: 'seen' is missing"),
        ("seeds = 5", "seeds = 0", "C1: seeds 0; write a whole number of at least 1"),
        ("seeds = 5", "seeds = 2.5", "C1: seeds 2.5; write a whole number"),
        ('statement = "reinforcement helps"', "", "C1: 'statement' is missing"),
        ('"drawn questions"', '" "', "C1: tasks ' '; write it in words"),
        ("[stages]", "C9 = 1\n[stages]", "C9: 1 is no table"),
        ('"after reinforcement"', "2", "stage grpo 2; write it in words"),
        ("[C1]", "[C1", "claims.toml: "),
    ],
)
def test_a_wrong_file_is_refused_by_name(tmp_path: Path, old: str, new: str, told: str) -> None:
    """What is missing, unknown or no value of its kind is named, with the claim and the check."""
    assert old in WHOLE
    with pytest.raises(RegisteredError) as error:
        loaded(tmp_path, WHOLE.replace(old, new, 1))
    assert told in str(error.value) and "claims.toml: " in str(error.value)


def test_a_claim_says_what_it_says_since_its_last_change(tmp_path: Path) -> None:
    """Of a line in ``changed`` the latest day counts, if it is later than the file's."""
    assert loaded(tmp_path, WHOLE).since("C1") is None
    dated = f"stated = 2026-10-05\n{WHOLE}"
    assert loaded(tmp_path, dated).since("C1") == date(2026, 10, 5)
    for lines, day in (
        (["2026-10-07: more images", "2026-10-09: the margin was 0.2"], 9),
        (["until 2026-10-01 a tie"], 5),
    ):
        told = dated.replace("images = 300", f"images = 300\nchanged = {lines}")
        assert loaded(tmp_path, told).since("C1") == date(2026, 10, day)
    with pytest.raises(RegisteredError, match="stated 'October'; write a day, such as 2026-11-28"):
        loaded(tmp_path, f"stated = 'October'\n{WHOLE}")


def test_a_claim_without_checks_says_why(tmp_path: Path) -> None:
    """Without a check a claim must say that it is untestable."""
    text = WHOLE[: WHOLE.index("[C1.checks.gain]")]
    with pytest.raises(RegisteredError, match="C1: no checks; state at least one, or why it is untestable"):
        loaded(tmp_path, text)
    assert loaded(tmp_path, f'{text}\nuntestable = "no such sampling"')["C1"].claim().verdict == "not testable here"


def test_a_check_that_was_not_stated_is_refused(tmp_path: Path) -> None:
    """A check has to be stated before it is measured; a paper that states nothing has no file."""
    with pytest.raises(RegisteredError, match="C1: check 'cost' wasn't stated; there are gain, calls, form"):
        loaded(tmp_path, WHOLE)["C1"].check("cost", SOME)
    with pytest.raises(RegisteredError, match=r"claims\.toml"):
        Registered.load(tmp_path / "claims.toml.none")


@pytest.mark.parametrize("name", [name for name in PAPERS if (ROOT / "papers" / name / FILE).is_file()])
def test_a_papers_statements_are_the_registered_ones(name: str) -> None:
    """What a paper says of its claims is what its file says."""
    assert find_paper(name).load_claims() == registered(name).statements
    assert registered(name).stated is not None, "results tell whether that was before the trainings"


def test_claims_are_told_with_why_and_what_would_decide_them(tmp_path: Path) -> None:
    claims = loaded(tmp_path, WHOLE)
    stated = claims["C1"]
    open_ = stated.claim(stated.check("gain", Interval(0.2, -0.1, 0.5, 40))).record()
    row = claims.table({"C1": open_}).splitlines()[2]
    assert row == (
        "| C1 | reinforcement helps | undecided | gain 0.200 [-0.100, 0.500], must be above 0 "
        "| more seeds or tasks: how many isn't known |"
    )
    assert claims.table({"C1": {**open_, "more_seeds": 2}}).endswith("| 2 more seeds |")
    one = stated.claim(stated.check("gain", Interval(0.2, float("-inf"), float("inf"), 40))).record()
    assert claims.table({"C1": one}).endswith("must be above 0 | several seeds |")
    closed = stated.claim(stated.check("gain", Interval(0.2, -0.1, 0.5, 40), "nobody answered")).record()
    assert claims.table({"C1": closed}).endswith("| not testable here | nobody answered | another set-up |")
    none = {**open_, "checks": [], "evidence": "one arm was trained"}
    assert claims.table({"C1": none}).endswith("| one arm was trained | the runs that it compares |")
    other = claims.table({"C1": {**open_, "statement": "it hurts"}})
    takes = "measuring it as stated: the figures are of an older statement"
    assert other.endswith(f'| not measured as stated | an older statement, "it hurts": undecided | {takes} |')


def test_claims_are_named_by_their_verdicts_in_the_verdicts_order() -> None:
    found = {"A1": "undecided", "A2": "holds", "A3": "doesn't", "A4": "holds"}
    told = by_verdict({name: {"verdict": verdict} for name, verdict in found.items()})
    assert told == "holds: A2, A4; doesn't: A3; undecided: A1" and by_verdict({}) == ""
    assert by_verdict({"A1": {"verdict": "undecided", "measured": "it hurts"}}) == "not measured as stated: A1"
    equal = {
        name: {"verdict": "equal", "checks": [{"side": side}]} for name, side in (("R5", "above"), ("R3", "within"))
    }
    assert by_verdict(equal) == "equal as claimed: R3; equal where a gain is claimed: R5"


def test_a_claim_that_holds_is_told_with_all_of_its_checks() -> None:
    """One of equality says *equal* itself, and decides as well."""
    found = {"low": 0.1, "high": 0.3, "n": 5}
    more = {"name": "calls", "value": 0.2, "side": "above", "limit": 0.0, "verdict": "holds", **found}
    same = more | {"name": "accuracy", "side": "within", "limit": 0.5, "verdict": "equal"}
    told = why({"verdict": "holds", "checks": [more, same]})
    assert told == "calls 0.200 [0.100, 0.300], must be above 0; accuracy 0.200 [0.100, 0.300], must be within ±0.5"


def test_a_claim_is_told_in_lines_and_an_older_statement_by_itself(tmp_path: Path) -> None:
    claims = loaded(tmp_path, WHOLE)
    stated = claims["C1"]
    gain, form = (stated.check(key, Interval(0.2, -0.1, 0.5, 40)) for key in ("gain", "form"))
    record = stated.claim(gain, form).record()
    checks = "  gain 0.200 [-0.100, 0.500], must be above 0.000\n  form 0.200 [-0.100, 0.500], must be within ±0.050"
    assert in_lines(record) == f"undecided\n{checks}"
    other = as_stated({"C1": {**record, "statement": "it hurts"}}, claims.statements)["C1"]
    assert in_lines(other) == f'not measured as stated\nan older statement, "it hurts": undecided\n{checks}'
