"""Mags-RL's figures from outcomes and curves are those that the runs' own folders give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_outcomes import made, made_rows, save_curve, save_made

from kit.data.store import save_tasks
from kit.evaluate.accuracy import accuracy
from kit.evaluate.five import STAGES
from kit.evaluate.five.answers import answers, difference, own_numbers
from kit.evaluate.outcomes import Metrics
from kit.train.metrics import read_metrics
from papers.claims import Claim
from papers.mags_rl import claims
from papers.mags_rl.measured import BASELINES, measured, numbers, paper_tables
from papers.mags_rl.metrics import DIFFICULTIES, EVALUATION, Outcome
from papers.mags_rl.tasks import make_tasks
from papers.played import curves_of, stages_of

BASE = ("untrained", "direct", "cot", "one_shot")
OWN = ("sft", "stage1", "grpo", "zoom_refine", "grit", "sft-sampled", "grpo-sampled", "own", *STAGES[:4])
WAYS = ("large-span", "large-bicubic", "large-none", "small-span", "small-bicubic", "small-none")
NAMES = ("entropy", "calls", "frac_zero_std_groups")


def outcomes(share: float, noise: int, **more: Any) -> list[Outcome]:
    """Thirty-six questions of three difficulties, about so many of which are right."""
    draw = np.random.default_rng(noise).random((36, 3))
    fields = {"boxes": 2, "valid": 1.0, "judged": 0.5, "included": False}
    return [
        made(
            Outcome,
            bool(draw[k, 0] < share),
            **{"task": f"t{k}", "image": f"p{k}", "difficulty": DIFFICULTIES[k % 3], "tool_calls": 1, "turns": 2},
            **fields
            | {"kind": "count" if k % 2 else "relation", "right": float(draw[k, 1]), "recall": float(draw[k, 2])},
            **more,
        )
        for k in range(36)
    ]


def made_arms(folder: Path, ending: str = "") -> dict[str, list[Path]]:
    """Two main runs, and one or two of each other arm; an ending adds the stages on the paper's sets."""
    found: dict[str, list[Path]] = {"runs": []}
    for seed in range(2):
        played = {name: outcomes(0.3 + at / 40, 20 * seed + at) for at, name in enumerate((*OWN, *WAYS))}
        played |= {name: outcomes(0.1, at) for at, name in enumerate(BASE)}
        played["sft-samples"] = [o for at in range(3) for o in outcomes(0.3, 90 + at)]
        if ending:
            played |= {f"{name}{ending}": outcomes(0.5, at + seed) for at, name in enumerate((*BASE[1:], *OWN[2:5]))}
        calls = {"grpo-own": [["zoom"][: k % 2] for k in range(36)]}
        found["runs"].append(save_made(folder / f"main-{seed}", EVALUATION, played, calls))
        for name in ("stage1", "grpo"):
            save_curve(found["runs"][-1], name, made_rows(seed + len(name), 6, NAMES))
    for at, name in enumerate(("at_once", "more", "plain")):
        found[f"{name}_runs"] = [folder / f"{name}-{seed}" for seed in range(2)]
        for seed, run in enumerate(found[f"{name}_runs"]):
            ends = ("grpo", *([f"grpo{ending}"] if ending else []))
            save_made(run, EVALUATION, {end: outcomes(0.4, 60 + 2 * at + seed) for end in ends})
            for training in ("stage1", "grpo"):
                save_curve(run, training, made_rows(at, 6, NAMES))
    return found


def numbers_of(arms: dict[str, list[Path]]) -> dict[str, dict[int, dict[str, Any]]]:
    told = {"samples": {"few": [20, 20], "more": [200, 200]}}
    return {"grpo": {k: own_numbers(EVALUATION, run, k / 100) | told for k, run in enumerate(arms["runs"])}}


def by_folders(arms: dict[str, list[Path]]) -> tuple[dict[str, Metrics], list[Claim]]:
    """What the claims notebook makes of the folders."""

    def of(stage: str, arm: str = "runs") -> list[Outcome]:
        return [o for k, run in enumerate(arms[arm]) for o in EVALUATION.load_outcomes(run, stage, k)]

    main = arms["runs"]
    played = {stage: of(stage) for stage in ("sft", "stage1", "grpo", "zoom_refine", "grit")}
    played |= {stage: EVALUATION.load_outcomes(main[0], stage) for stage in BASE}
    played |= {name: of("grpo", f"{name}_runs") for name in ("at_once", "more", "plain")}
    metrics = {stage: EVALUATION.evaluate_outcomes(some) for stage, some in played.items()}
    training = [
        [row for name in ("stage1", "grpo") for row in read_metrics(run / name / "metrics.jsonl")] for run in main
    ]
    for stage, found in answers(EVALUATION, main, training, [0.0, 0.01], 3).items():
        metrics[stage] |= found
    for part, field in (("acc", "correct"), ("right", "right")):
        for ending in ("", "-sampled"):
            ends = ([o for o in of(f"{name}{ending}") if o.difficulty == "hard"] for name in ("grpo", "sft"))
            name = f"{part}_gain_over_sft_hard{ending.replace('-', '_')}"
            metrics["grpo"][name] = difference(*ends, field)
    enlarged: dict[str, dict[str, list[Outcome]]] = {}
    for way in WAYS:
        size, _, name = way.partition("-")
        enlarged.setdefault(size, {})[name] = of(way)
        metrics["grpo"][f"accuracy_{size}_{name}"] = accuracy(of(way))
    metrics["grpo"]["accuracy_on_its_own"] = accuracy(of("own"))
    verdicts = [
        claims.m1(played["grpo"], {name: played[name] for name in BASELINES}),
        claims.m2(enlarged, "span", played),
        claims.m3(played["grpo"], played["at_once"]),
        claims.m4(played["grpo"], played["more"], "40 samples beside 400, of which 120 were met"),
        claims.m5(played["stage1"], played["grpo"]),
    ]
    return metrics, verdicts


def test_outcomes_and_curves_give_what_the_folders_give(tmp_path: Path) -> None:
    arms = made_arms(tmp_path)
    found, verdicts = measured(stages_of(EVALUATION, arms), curves_of(arms), numbers_of(arms))
    metrics, wanted = by_folders(arms)
    assert found == metrics
    assert [claim.record() for claim in verdicts] == [claim.record() for claim in wanted]
    assert "accuracy_small_span" in found["grpo"] and "right_gain_over_sft_hard_sampled" in found["grpo"]
    cell = paper_tables(stages_of(EVALUATION, arms))["Table 1"]["grpo"]["judged_vsr_hard"]
    assert cell["here"] == "not run", "drawn boards fill no cell"


def test_on_the_papers_sets_the_judge_decides_and_the_tables_are_filled(tmp_path: Path) -> None:
    arms = made_arms(tmp_path, "-zoom")
    found, verdicts = measured(stages_of(EVALUATION, arms), curves_of(arms))
    assert "judged_hard" in found["grpo-zoom"] and "judged_hard" in found["at_once-zoom"]
    assert [check.interval.value for check in verdicts[0].checks] == [0.0] * 3, "all are judged alike"
    assert verdicts[2].checks[0].interval.n == 2 * 2 * 12, "M3 is of the hard ones"
    assert verdicts[3].note == "", "nobody says how many samples there were"
    cell = paper_tables(stages_of(EVALUATION, arms))["Table 2"]["at_once"]["judged_vsr_hard"]
    assert cell["here"] == "not run" and cell["paper"] == 0.538, "none of them is of VSR"


def test_what_isnt_there_is_not_run_and_the_rest_stands(tmp_path: Path) -> None:
    some = {"runs": made_arms(tmp_path)["runs"][:1]}
    stages = {name: played for name, played in stages_of(EVALUATION, some).items() if name != "grit"}
    found, verdicts = measured(stages, curves_of(some))
    assert "acc_hard" in found["grpo"] and "gain_over_sft" not in found["grpo"] and "more" not in found
    notes = [claim.note for claim in verdicts]
    assert notes[0] == "not run: grit" and notes[2:4] == ["not run: at_once_runs", "not run: more_runs"]
    assert notes[1].endswith("where boxes are drawn: not run, plain_runs")
    _, verdicts = measured({}, {})
    assert [claim.name for claim in verdicts] == list(claims.CLAIMS)
    assert {claim.verdict for claim in verdicts} == {"undecided"}


def test_samples_are_counted_where_a_run_has_both_sets(tmp_path: Path) -> None:
    assert numbers(tmp_path) == {}
    tasks = make_tasks({"count/easy": 3}, 0)
    for name, n in (("stage1", 1), ("stage2", 2), ("stage1-more", 2), ("stage2-more", 3)):
        save_tasks(tmp_path / "data" / f"{name}.jsonl", tasks[:n])
    assert numbers(tmp_path) == {"samples": {"few": [1, 2], "more": [2, 3]}}


@pytest.mark.parametrize("network", ["bicubic", "none"])
def test_without_a_network_m2_is_not_testable(tmp_path: Path, network: str) -> None:
    played = {f"large-{name}": outcomes(0.5, 1) for name in ("bicubic", "none")}
    played = {name: some for name, some in played.items() if name in (f"large-{network}", "large-bicubic")}
    _, verdicts = measured(played, {})
    assert verdicts[1].verdict == "not testable here"
