"""Visual-ARFT's figures from outcomes and curves are those that the runs' own folders give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_outcomes import made, made_rows, save_curve, save_made

from kit.evaluate.accuracy import accuracy
from kit.evaluate.five import STAGES
from kit.evaluate.five.answers import answers, own_numbers
from kit.evaluate.outcomes import Metrics
from kit.train.metrics import read_metrics
from papers.played import curves_of, stages_of
from papers.visual_arft import claims
from papers.visual_arft.measured import measured
from papers.visual_arft.metrics import EVALUATION, Outcome

ONCE = {"direct": 0.2, "cot": 0.2, "rag": 0.1, "rag-described": 0.3, "untrained": 0.1}
SETTINGS = ("coding", "search", "text")
NAMES = ("entropy", "calls", "frac_zero_std_groups")


def tasks(share: float, noise: int, settings: tuple[str, ...] = SETTINGS) -> list[Outcome]:
    """Thirty tasks, simple and hard, about so many of which are right; each takes a call or none."""
    draw = np.random.default_rng(noise).random(30)
    return [
        made(
            Outcome,
            right,
            **{"task": f"t{k}", "image": f"p{k}", "tool_calls": k % 2, "turns": 1 + k % 2},
            **{"setting": settings[k % len(settings)], "label": "simple" if k % 2 else "hard", "category": "x"},
            f1=float(right) if k % 5 else 0.5,
            restored=None,
        )
        for k in range(30)
        for right in (bool(draw[k] < share),)
    ]


@pytest.fixture
def arms(tmp_path: Path) -> dict[str, list[Path]]:
    """Three main runs, each of which asked the base itself, and three with the EM reward."""
    found: dict[str, list[Path]] = {"runs": [], "em_runs": []}
    for seed in range(3):
        played = {name: tasks(share, at) for at, (name, share) in enumerate(ONCE.items())}
        played["rag-described"] = tasks(0.3, 9, ("search",))
        names = ("sft", "grpo", *STAGES[:4])
        played |= {name: tasks(0.3 + at / 9, 20 * seed + at) for at, name in enumerate(names)}
        sampled = [o for at in range(3) for o in tasks(0.3, 90 + at)]
        calls = {"grpo-own": [["code", "search"][: k % 3] for k in range(30)]}
        run = save_made(tmp_path / f"main-{seed}", EVALUATION, played | {"sft-samples": sampled}, calls)
        save_curve(run, "sft", made_rows(seed, 8, NAMES))
        save_curve(run, "grpo", made_rows(3 + seed, 8, NAMES))
        found["runs"].append(run)
        em = {name: tasks(0.5, 70 + seed) for name in ("sft", "grpo")}
        found["em_runs"].append(save_made(tmp_path / f"em-{seed}", EVALUATION, em))
    for at, name in enumerate(("decided", "half")):
        ends = {stage: tasks(0.5, 80 + 2 * at + k) for k, stage in enumerate(("sft", "grpo"))}
        found[f"{name}_runs"] = [save_made(tmp_path / f"{name}-start", EVALUATION, ends)]
    return found


def numbers_of(arms: dict[str, list[Path]]) -> dict[str, dict[int, dict[str, Any]]]:
    return {"grpo": {k: own_numbers(EVALUATION, run, k / 100) for k, run in enumerate(arms["runs"])}}


def by_folders(arms: dict[str, list[Path]], cold_start: bool = True) -> tuple[dict[str, Metrics], list[claims.Claim]]:
    """What the claims notebook made of the folders."""

    def of(stage: str, folders: list[Path]) -> list[Outcome]:
        return [o for k, run in enumerate(folders) for o in EVALUATION.load_outcomes(run, stage, k)]

    main = arms["runs"]
    played = {stage: of(stage, main[:1]) for stage in ONCE} | {stage: of(stage, main) for stage in ("sft", "grpo")}
    played["em-reward"] = of("grpo", arms["em_runs"])
    metrics = {stage: EVALUATION.evaluate_outcomes(some) for stage, some in played.items()}
    for start in ("decided", "half"):
        for name, stage in ((f"{start}-sft", "sft"), (start, "grpo")):
            metrics[name] = EVALUATION.evaluate_outcomes(of(stage, arms[f"{start}_runs"]))
    curves = [read_metrics(run / "grpo" / "metrics.jsonl") for run in main]
    for stage, found in answers(EVALUATION, main, curves, [0.0, 0.01, 0.02], 3).items():
        metrics[stage] |= found
    metrics["direct"]["accuracy"] = accuracy(played["direct"])
    sft = played["sft"] if cold_start else []
    agents = (played["direct"], played["untrained"], sft, played["grpo"])
    verdicts = [
        claims.r1(*agents),
        claims.r2(*agents),
        claims.r3(played["em-reward"], played["grpo"]),
        claims.r4(*(played[s] for s in ("cot", "rag", "rag-described")), sft, played["grpo"]),
        claims.r5(*agents),
    ]
    return metrics, verdicts


def test_outcomes_and_curves_give_what_the_folders_give(arms: dict[str, list[Path]]) -> None:
    stages, curves = stages_of(EVALUATION, arms), curves_of(arms)
    found, verdicts = measured(stages, curves, numbers_of(arms))
    metrics, wanted = by_folders(arms)
    assert list(found) == list(metrics) and found == metrics
    assert [claim.record() for claim in verdicts] == [claim.record() for claim in wanted]
    assert "pass_at_3" in found["sft"] and {"weight_change", "calls_of_search"} <= found["grpo"].keys()
    without = {name: some for name, some in curves.items() if name != "sft"}
    assert measured(stages, without)[1] == by_folders(arms, cold_start=False)[1]


def test_every_check_that_was_stated_is_made(arms: dict[str, list[Path]]) -> None:
    """No claim decides on less, or on more, than was registered."""
    _, verdicts = measured(stages_of(EVALUATION, arms), curves_of(arms), numbers_of(arms))
    made = {claim.name: [check.name for check in claim.checks] for claim in verdicts}
    stated = {name: claims.STATED[name].checks for name in claims.STATED}
    assert {name: sorted(names) for name, names in made.items()} == {
        name: sorted(check.name for check in checks.values()) for name, checks in stated.items()
    }


def test_what_isnt_there_is_not_run_and_the_rest_stands(arms: dict[str, list[Path]]) -> None:
    """Of one arm the runs, no numbers: the figures of what was played, and claims that say what they lack."""
    stages = stages_of(EVALUATION, {"runs": arms["runs"]})
    del stages["cot"]
    found, verdicts = measured(stages, curves_of(arms))
    assert "f1_coding" in found["grpo"] and "gain_over_sft" not in found["grpo"] and "em-reward" not in found
    notes = {claim.name: claim.note for claim in verdicts}
    assert (notes["R3"], notes["R4"]) == ("not run: em_runs", "not run: cot") and len(verdicts[0].checks) == 4
    found, verdicts = measured({}, {})
    assert found == {} and [claim.name for claim in verdicts] == list(claims.CLAIMS)
    assert {claim.verdict for claim in verdicts} == {"undecided"}
