"""The generated blocks of the README and docs/results.md: figures from results files only."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from kit.files import ROOT
from papers.registered import Registered, registered
from workshop.jobs.finding import ONE_TRAINING
from workshop.publishing.claimed import counted, plain, since
from workshop.publishing.readme import BEGIN, END, PAGES, block, fill, filled, headline

RESULTS = {
    "notebook": "14_agile_claims",
    "profile": "laptop",
    "commit": "abc1234",
    "seed": 0,
    "hardware": {"cpu": "a processor", "cores": 2, "memory_gb": 8.0, "gpus": []},
    "versions": {},
    "minutes": 19.5,
    "metrics": {
        "sft/acc_2x2": {"value": 0.25, "low": 0.2, "high": 0.3, "n": 72},
        "grpo/acc_2x2": {"value": 0.875, "low": 0.8, "high": 0.93, "n": 72},
    },
    "claims": {"A2": {"verdict": "holds", "evidence": "grpo | sft"}},
}


def test_the_block_shows_metrics_claims_and_where_they_come_from() -> None:
    lines = block("agile", RESULTS).splitlines()
    assert lines[:2] == ["### AGILE", ""] and lines[3] == ""
    assert lines[2].startswith("What moved *2×2 solved*, the table's first row? Reinforcement raised it")
    assert lines[2].endswith(ONE_TRAINING)
    assert lines[4] == "|  | untrained | sft | grpo |"
    assert lines[6] == (
        "| 2×2 solved | not run (paper 0.095) | 0.250 [0.200, 0.300] (paper 0.220) "
        "| 0.875 [0.800, 0.930] (paper 0.828) |"
    )
    assert lines[10].endswith("| not run (paper 0.311) | not run (paper 0.110) | not run (paper 0.621) |")
    assert lines[12] == "*sft* and *grpo* are of 1 training; tasks of each, row by row: 72."
    assert lines[14].startswith("Columns. *untrained*: the untrained model as an agent; *sft*: after the cold start;")
    assert "| A2 |  | holds | grpo \\| sft |  |" in lines
    assert any(line.startswith("- A2: of a start whose") for line in lines), "what claims.toml says beside its verdict"
    assert lines[-7] == "<details><summary>How these figures were made</summary>" and lines[-1] == "</details>"
    assert lines[-5] == (
        "Value and 95 % interval. The paper's model, Qwen2.5-VL-7B, is 2,200 times larger and saw other pictures. "
        "Trained at a commit that nobody recorded. Measured by 14_agile_claims, profile laptop, seed 0, "
        "at commit abc1234, "
        "on 2 cores of a processor. Training time was not recorded with these figures."
    )
    assert lines[-3] == "`results/agile.json` was made by other code, and not proved current since."


def test_an_arm_that_was_measured_otherwise_stands_beside_no_number_of_the_papers() -> None:
    right = {"value": 0.139, "low": 0.073, "high": 0.232, "n": 252}
    told = block("vista_gym", {**RESULTS, "notebook": "of_no_paper", "metrics": {"no_tools/acc_all": right}})
    head, _, row = (line.split(" | ") for line in told[told.index("|  |") :].splitlines()[:3])
    assert row[head.index("no_tools")] == "0.139 [0.073, 0.232]"
    assert row[head.index("no_tools_reasoning |")].startswith("not run (paper 0.576)")


@pytest.mark.parametrize(
    ("name", "times"),
    [
        ("agile", "2,200"),
        ("visual_arft", "2,200"),
        ("codedance", "2,200"),
        ("mags_rl", "930"),
        ("vista_gym", r"2,\d00"),
    ],
)
def test_how_much_larger_a_papers_model_is_comes_from_its_name_and_our_weights(name: str, times: str) -> None:
    """3,241,472 weights here: 7 billion are 2,159 times as many, 3 billion 925 times."""
    told = block(name, {**RESULTS, "notebook": "of_no_paper", "metrics": {}})
    assert re.search(rf"The paper's model, \S+-\dB, is {times} times larger", told)
    assert "larger" not in block(name, {**RESULTS, "notebook": "of_no_paper", "metrics": {}, "profile": "node"})


def test_uncommitted_files_are_told_in_full() -> None:
    changed = {**RESULTS, "commit": "34c6b2024ed75fad2f560dfaa982c35f88cf22a5+changes"}
    assert "at commit 34c6b2024ed75fad2f560dfaa982c35f88cf22a5 and files that were not committed, on 2" in block(
        "agile", changed
    )
    assert "committed" not in block("agile", RESULTS)


def test_each_results_file_is_told_to_be_current_or_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workshop.publishing.current.digest_of", lambda paper, figures: f"today's of {figures.name}")
    parts = [{"notebook": "15_agile_general", "digest": "an older one"}]
    told = block("agile", {**RESULTS, "digest": "today's of agile", "parts": parts}).splitlines()[-3]
    assert told == (
        "`results/agile.json` is current: it is of the code as it is. "
        "`results/agile-general.json` was made by other code, and not proved current since."
    )
    proved = {**RESULTS, "digest": "an older one", "proved": {"digest": "today's of agile", "compared": 7}}
    current = "`results/agile.json` is current: no change since that proof touches it."
    assert block("agile", proved).endswith(f"{current}\n\n</details>")


def test_what_trained_a_figure_and_what_is_lacking_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Results that were made of stored outcomes: whole hashes, all machines, and which of the two codes is another."""
    monkeypatch.setattr("workshop.publishing.current.digest_of", lambda paper, figures: "figures")
    monkeypatch.setattr("workshop.publishing.current.training_digest", lambda paper: "training")
    monkeypatch.setattr("workshop.publishing.current.outcomes_hash", lambda paper, figures: "outcomes")
    machines = ["2 cores of a processor", "NVIDIA H100"]
    trained = {"digest": "training", "commits": ["a" * 40, "b" * 40], "machines": machines, "outcomes": "outcomes"}
    told = {**RESULTS, "trained": trained, "digest": "figures", "lacking": ["deed: no seed yet, of 1"]}
    text = block("agile", told)
    assert f"same training code (digest training): {'a' * 40}, {'b' * 40}. Measured by" in text
    assert "on 2 cores of a processor; NVIDIA H100." in text
    assert text.endswith("it is of the code as it is. Not there: deed: no seed yet, of 1.\n\n</details>")
    for name, value, why in (
        ("digest", "older", "`results/agile.json` has figures by other code; python -m kit results --figures makes"),
        ("trained", {**trained, "outcomes": "older"}, "isn't of the outcomes that are stored; python -m kit results"),
        ("trained", {**trained, "digest": "older"}, "is current"),
    ):
        assert why in block("agile", {**told, name: value})
    both = {**told, "digest": "older", "trained": {**trained, "digest": "older"}}
    assert "was made by other code, and not proved current since" in block("agile", both)


def test_marks_stand_for_all_papers(tmp_path: Path) -> None:
    claims = {"A1": {"verdict": "holds"}, "A2": {"verdict": "doesn't"}, "A3": {"verdict": "doesn't"}}
    results = {"agile": {**RESULTS, "claims": claims}, "codedance": None}
    marks = "".join(f"<!-- results:begin {name} -->old{END}\n" for name in ("claims", "papers", "came_out"))
    lines = filled(marks, results, headline, "README.md").splitlines()
    assert lines[1] == "The kit tests 3 claims of the papers. By these figures 1 holds, 2 don't hold."
    agile, codedance = (
        next(line for line in lines if line.startswith(f"| {name} |")) for name in ("AGILE", "CodeDance")
    )
    assert "Solve jigsaw puzzles" in agile
    assert agile.endswith("| [11](notebooks/11_agile.ipynb) to 15 | 1 holds, 2 don't hold |")
    assert codedance.endswith("| [31](notebooks/31_codedance.ipynb) to 34 | not measured yet |")
    assert lines[-3] == (
        "| AGILE: 2×2 solved | not run | not run | 0.25 [0.20, 0.30] | 0.88 [0.80, 0.93] "
        "| +0.62 [0.53, 0.70] | not run | 1 |"
    ), "0.875 - 0.25 = 0.625, less hypot(0.075, 0.05) = 0.090, more hypot(0.055, 0.05) = 0.074"
    assert lines[-2].startswith("| CodeDance: hard questions, right | not measured yet |")
    nested = filled("<!-- results:begin papers -->" + END, results, headline, "docs/results.md")
    assert "[11](../notebooks/11_agile.ipynb)" in nested


def first(**stages: tuple[float, float, float]) -> str:
    """The README's first sentence, of values that are named ``STAGE__METRIC``."""
    records = {n.replace("__", "/"): dict(zip(("value", "low", "high"), v, strict=True)) for n, v in stages.items()}
    metrics = {name: {**record, "n": 72} for name, record in records.items()}
    some = {**RESULTS, "seed": [0, 1], "training_minutes": 21.0, "metrics": metrics}
    text = filled(f"<!-- results:begin first -->old{END}", {"agile": some, "codedance": None}, headline, "README.md")
    return text.splitlines()[1]


def test_the_first_sentence_is_short_and_gives_a_reason_only_where_there_is_one() -> None:
    """21 minutes of two seeds are 10.5 each, told as 10."""
    low, high = (0.22, 0.1, 0.4), (0.81, 0.7, 0.9)
    both = {"direct__acc_2x2": low, "grpo__acc_2x2": high}
    told = "Asked directly, the tiny model gets 0.22 of such tasks right; after 10 minutes of training on 2 cores 0.81"
    assert first(**both) == f"{told}." and len(told.split()) <= 25
    assert first(**both, grpo__observation_gap_swapped=(0.6, 0.5, 0.7)) == f"{told}, because it has learnt to look."
    assert first(**both, grpo__observation_gap_swapped=(0.1, -0.1, 0.3)) == f"{told}."
    same = {"direct__acc_2x2": high, "grpo__acc_2x2": high}
    assert first(**same, grpo__observation_gap_swapped=(0.6, 0.5, 0.7)).endswith("on 2 cores 0.81.")
    shown = first(**both, direct_originals__acc_2x2=(0.89, 0.5, 1.0))
    assert shown == f"{told}.".replace("right;", "right (0.89 with full images);")
    assert first(grpo__acc_2x2=high) == "Not measured yet."


def test_the_readme_begins_with_the_task_and_what_came_out_right_below_the_picture() -> None:
    lines = (ROOT / "README.md").read_text().splitlines()
    assert lines[2].startswith("![") and lines[4].endswith("where does each belong?")
    assert lines[6] == "<!-- results:begin first -->" and 0 < len(lines[7].split()) <= 32 and lines[8] == END


def test_the_headline_is_the_finding_beside_the_table() -> None:
    told = "- **AGILE** (2×2 solved). Reinforcement raised it from where it began."
    assert headline("agile", {**RESULTS, "seed": [0, 1]}) == told
    assert headline("agile", RESULTS) == f"{told} This is one training: another seed may end elsewhere."
    assert headline("agile", None) == "- **AGILE**: not measured yet."


def test_a_mark_with_a_name_takes_that_paper_and_the_other_all_that_are_left() -> None:
    text = f"{BEGIN}\n{END}\n<!-- results:begin two -->old{END}\n"
    found = filled(text, {"one": None, "two": None, "three": None}, lambda name, _: name, "page")
    assert found == f"{BEGIN}\none\n\nthree\n{END}\n<!-- results:begin two -->\ntwo\n{END}\n"


def test_filling_replaces_the_blocks_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    for page in PAGES:
        (tmp_path / page).write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    assert fill(tmp_path)
    assert "not measured yet" in (tmp_path / "README.md").read_text()
    assert "Not measured yet" in (tmp_path / "docs" / "results.md").read_text()
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "agile.json").write_text(json.dumps(RESULTS))
    assert fill(tmp_path) and not fill(tmp_path)
    unmeasured = (block(name, None) for name in ("visual_arft", "codedance", "mags_rl", "vista_gym"))
    expected = "\n\n".join((block("agile", RESULTS), *unmeasured))
    assert (tmp_path / "docs" / "results.md").read_text() == f"before\n{BEGIN}\n{expected}\n{END}\nafter\n"


def test_other_starts_and_other_pictures_have_their_places() -> None:
    """A set whose metrics end in ``_more`` adds a row, a start that was measured a table; else there is neither."""
    more = {f"{stage}/acc_2x2": RESULTS["metrics"]["sft/acc_2x2"] for stage in ("decided-sft", "decided")}
    metrics = RESULTS["metrics"] | more | {"grpo/acc_2x2_more": RESULTS["metrics"]["sft/acc_2x2"]}
    pictures = {"ours": 8, "one (_more)": 15, "two (_more)": 4}
    text = block("agile", {**RESULTS, "metrics": metrics, "pictures": pictures})
    assert "\n| 2×2 solved, 19 other more | not run | not run | 0.250 [0.200, 0.300] |" in text
    assert "|  | decided-sft | decided |\n| --- | --- | --- |\n| 2×2 solved | 0.250 [0.200, 0.300] |" in text
    assert "Pictures: 8 of ours; 19 other more: 15 of one, 4 of two. Trained" in text
    for n, seeds, says in (
        (1, [0], "Of one training: these"),
        (3, [0, 1], "Of 3 trainings each; the table above is of 2."),
    ):
        of = {**RESULTS, "metrics": metrics, "seed": seeds, "trainings": {"decided": n}}
        assert f"always\ndoes what is best. {says}" in block("agile", of)
    assert "does what is best.\n\n|" in block(
        "agile", {**RESULTS, "metrics": metrics, "trainings": {"decided": 2}, "seed": [0, 1]}
    )
    arm = {"half/acc_2x2": RESULTS["metrics"]["sft/acc_2x2"]}
    assert "other cold" not in block("agile", {**RESULTS, "metrics": RESULTS["metrics"] | arm}), "an arm, and no start"
    alone = block("agile", RESULTS)
    beside = registered("agile")["A2"].caution  # speaks of that start
    assert not re.search(r"\bdecided", alone.replace(beside, "")) and "other more" not in alone


def test_equal_is_counted_by_what_was_claimed() -> None:
    def equal(side: str) -> dict[str, Any]:
        return {"verdict": "equal", "statement": "s", "checks": [{"side": side}]}

    assert counted([equal("within"), equal("above")]) == "1 equal as claimed, 1 equal where a gain is claimed"


def test_undecided_claims_are_counted_apart_where_nothing_is_trained_yet() -> None:
    waits = {"verdict": "undecided", "checks": []}
    measured = {"verdict": "undecided", "checks": [{"low": 0.0}]}
    assert counted([waits, measured, waits]) == "3 undecided (2 of them not trained yet)"
    assert counted([waits]) == "1 undecided: not trained yet"
    assert counted([measured]) == "1 undecided"


def test_a_row_of_claims_says_what_each_claims_and_what_it_is_equal_within(monkeypatch: pytest.MonkeyPatch) -> None:
    within = {"verdict": "equal", "within": 0.15, "statement": "s", "checks": [], "evidence": "not run: few_runs"}
    monkeypatch.setattr("workshop.publishing.claimed.judged", lambda paper, some: {"A1": within})
    row = "| A1 | s | equal within 0.15, as claimed | not trained yet: few |  |"
    assert row in block("agile", RESULTS).splitlines()


def test_a_proof_that_changed_code_left_the_figures_is_told_beside_them() -> None:
    proved = {**RESULTS, "note": "Made long ago.", "proved": {"digest": "abc", "commit": "def", "compared": 3808}}
    text = block("agile", proved)
    assert "\n\nMade long ago.\n\n" in text and "agree bit for bit, in 3808 values" in text
    assert "bit for bit" not in block("agile", RESULTS)


def test_claims_are_told_to_be_older_or_younger_than_their_trainings(tmp_path: Path, monkeypatch: Any) -> None:
    """Written on the 5th, one changed on the 7th; results that name no day are of before there were such files."""
    path = tmp_path / "claims.toml"
    claim = 'statement = "s"\nsource = "t"\nseeds = 1\nimages = 1\ntasks = "u"\nuntestable = "v"\n'
    path.write_text(f"stated = 2026-10-05\n[A1]\n{claim}[A2]\n{claim}changed = ['2026-10-07: w']\n")
    monkeypatch.setattr("workshop.publishing.claimed.registered", lambda paper: Registered.load(path))
    whose = "the trainings that these figures are of"
    for trained, says in (
        ({}, f"on 2026-10-05, after {whose} (A1); on 2026-10-07, after {whose} (A2)."),
        ({"since": "2026-10-06"}, f"on 2026-10-05, before {whose} (A1); on 2026-10-07, after {whose} (A2)."),
        ({"since": "2026-10-07"}, f"(A1); on 2026-10-07, on the day of the first of {whose} (A2)."),
    ):
        results = {**RESULTS, **({"trained": trained} if trained else {})}
        assert says in since("agile", results)
        earlier = "Earlier trainings had been measured by then: their spreads stand in `claims.toml`.\n\n"
        changed = "<details><summary>Changed since they were first written: A2</summary>\n\n- A2: 2026-10-07: w"
        assert since("agile", results).endswith(f"{earlier}{changed}\n\n</details>")
        older = {**results, "parts": [{"notebook": "15_agile_general"}]}
        assert "before" not in since("agile", older), "a part that names no day is older"
    assert since("counting", RESULTS) == ""


@pytest.mark.parametrize("text", ["nothing", f"{END}{BEGIN}"])
def test_missing_marks_are_named(text: str) -> None:
    with pytest.raises(ValueError, match=r"docs/results\.md: put .*results:begin"):
        filled(text, {"agile": None}, block, "docs/results.md")


def test_what_is_open_is_told_with_what_would_decide_it(monkeypatch: pytest.MonkeyPatch) -> None:
    check = {"name": "gain", "value": 0.1, "low": -0.2, "high": 0.4, "n": 9, "limit": 0.0, "side": "above"}
    open_ = {"verdict": "undecided", "more_seeds": 2, "checks": [{**check, "verdict": "undecided"}], "statement": "s"}
    monkeypatch.setattr(
        "workshop.publishing.claimed.judged", lambda paper, some: {"A1": open_, "A2": {"verdict": "holds"}}
    )
    marks = "<!-- results:begin claims -->" + END
    text = filled(marks, {"agile": RESULTS}, headline, "README.md")
    assert "\n\n- *holds*: AGILE A2\n- *undecided*: AGILE A1\n\n" in text
    assert "<summary>What would decide the open ones</summary>\n\n*2 more seeds* (AGILE A1).\n\n</details>" in text
    older = {**open_, "measured": "t", "came_out": "holds"}
    monkeypatch.setattr("workshop.publishing.claimed.judged", lambda paper, some: {"A1": open_, "A2": older})
    count = filled(marks, {"agile": RESULTS}, headline, "README.md").splitlines()[1]
    assert count.endswith("By these figures 1 undecided, 1 not measured as stated.")
    table = block("agile", RESULTS)
    assert "| A1 | s | undecided | gain 0.100 [-0.200, 0.400], must be above 0 | 2 more seeds |" in table


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Acc at 192 minus at 96 0.000 [-0.000, 0.000]", "Acc at 192 minus at 96 0.000 [0.000, 0.000]"),
        (
            "share of boxes that are valid 0.995 [0.971, 1.018], must",
            "share of boxes that are valid 0.995 [0.971, 1.000], must",
        ),
        ("gain -0.010 [-0.020, 1.200]", "gain -0.010 [-0.020, 1.200]"),
        ("not run: kit run 54 --tag a, then a_runs, kit run 54 --tag b, then b_runs", "not trained yet: a, b"),
    ],
)
def test_evidence_has_no_minus_zero_and_no_share_above_one(text: str, told: str) -> None:
    assert plain(text) == told
