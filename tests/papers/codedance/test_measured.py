"""CodeDance's figures from outcomes and curves are those that the runs' own folders give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_outcomes import made, made_rows, save_curve, save_made

from kit.data.store import save_episodes
from kit.evaluate.accuracy import accuracy
from kit.evaluate.five import STAGES
from kit.evaluate.five.answers import answers, own_numbers
from kit.evaluate.outcomes import Metrics
from kit.train.metrics import read_metrics
from papers.codedance import claims
from papers.codedance import tables as benchmarks
from papers.codedance.measured import by_size, measured, numbers
from papers.codedance.metrics import EVALUATION, Outcome
from papers.played import curves_of, stages_of

MAIN = ("direct", "untrained", "sft", "grpo", "grpo-turns-4", "grpo-turns-10", *STAGES[:4], "grpo-eval-vstar")
ARMS = {"outcome": 0.55, "bonus": 0.5, "offset_0": 0.6, "no_turns": 0.5}
NAMES = ("entropy", "calls", "calls_easy", "frac_zero_std_groups")


def outcomes(share: float, noise: int, kinds: tuple[str, ...] = ("sheet", "count", "composed")) -> list[Outcome]:
    """Thirty questions, easy and hard, about so many of which are right; each takes a call or none."""
    draw = np.random.default_rng(noise).random(30)
    return [
        made(
            Outcome,
            bool(draw[k] < share),
            **{"task": f"t{k}", "image": f"p{k}", "tool_calls": k % 2, "turns": 1 + k % 2},
            kind=kinds[k % len(kinds)],
            level="hard" if k % len(kinds) else "easy",
            ran=1.0 if k % 2 else None,
        )
        for k in range(30)
    ]


@pytest.fixture
def arms(tmp_path: Path) -> dict[str, list[Path]]:
    """Three main runs, two of each other arm, and two cold starts of fewer demonstrations."""
    found: dict[str, list[Path]] = {"runs": []}
    for seed in range(3):
        played = {name: outcomes(0.4 + at / 20, 20 * seed + at) for at, name in enumerate(MAIN)}
        played |= {name: outcomes(0.3, at) for at, name in enumerate(("direct", "untrained"))}
        sampled = [o for at in range(3) for o in outcomes(0.3, 90 + at)]
        calls = {"grpo-own": [["code", "crop"][: k % 3] for k in range(30)]}
        run = save_made(tmp_path / f"main-{seed}", EVALUATION, played | {"sft-samples": sampled}, calls)
        save_curve(run, "grpo", made_rows(seed, 8, NAMES))
        found["runs"].append(run)
    for at, (name, share) in enumerate(ARMS.items()):
        found[f"{name}_runs"] = [tmp_path / f"{name}-{seed}" for seed in range(2)]
        for seed, run in enumerate(found[f"{name}_runs"]):
            save_made(run, EVALUATION, {"sft": outcomes(0.3, 1), "grpo": outcomes(share, 40 + 2 * at + seed)})
            save_curve(run, "grpo", made_rows(50 + 2 * at + seed, 8, NAMES))
    for at, name in enumerate(("sft_fewest", "sft_fewer")):
        found[name] = [
            save_made(tmp_path / f"{name}-{s}", EVALUATION, {"sft": outcomes(0.2, at + s)}) for s in range(2)
        ]
    return found


def numbers_of(arms: dict[str, list[Path]]) -> dict[str, dict[int, dict[str, Any]]]:
    shown = {"sft_fewest": 300, "sft_fewer": 900}
    main = {k: own_numbers(EVALUATION, run, k / 100) | {"demonstrations": 3200} for k, run in enumerate(arms["runs"])}
    return {"grpo": main} | {
        name: {k: {"demonstrations": n} for k in range(len(arms[name]))} for name, n in shown.items()
    }


def by_folders(arms: dict[str, list[Path]]) -> tuple[dict[str, Metrics], list[claims.Claim]]:
    """What the claims notebook makes of the folders."""

    def of(stage: str, arm: str = "runs") -> list[Outcome]:
        return [o for k, run in enumerate(arms[arm]) for o in EVALUATION.load_outcomes(run, stage, k)]

    def curves(arm: str) -> list[list[dict[str, Any]]]:
        return [read_metrics(run / "grpo" / "metrics.jsonl") for run in arms[arm]]

    main = arms["runs"]
    played = {"sft": of("sft"), "grpo": of("grpo")}
    played |= {stage: EVALUATION.load_outcomes(main[0], stage) for stage in ("direct", "untrained")}
    played |= {name: of("grpo", f"{name}_runs") for name in ("outcome", "bonus", "offset_0")}
    metrics = {stage: EVALUATION.evaluate_outcomes(some) for stage, some in played.items()}
    for stage, found in answers(EVALUATION, main, curves("runs"), [0.0, 0.01, 0.02], 3).items():
        metrics[stage] |= found
    metrics["direct"]["accuracy"] = accuracy(played["direct"])
    for name in ("grpo", "outcome", "bonus", "offset_0"):
        some = curves("runs" if name == "grpo" else f"{name}_runs")
        metrics[name]["calls_change_easy"] = claims.calls_over_training(some, "easy")
    budgets = {n: of(f"grpo-turns-{n}") for n in (4, 10)}
    metrics["grpo"] |= {f"acc_turns_{n}": accuracy(some) for n, some in budgets.items()}
    metrics["grpo"] |= benchmarks.measured(main, "grpo")
    with_turns, without = (dict(enumerate(curves(arm))) for arm in ("runs", "no_turns_runs"))
    sizes = {"300": of("sft", "sft_fewest"), "900": of("sft", "sft_fewer"), "3200": played["sft"]}
    verdicts = [
        claims.c1(played["grpo"], played["outcome"], played["bonus"]),
        claims.c2(played["grpo"], of("grpo", "no_turns_runs"), with_turns, without),
        claims.c3(played["grpo"], played["offset_0"]),
        claims.c4(sizes),
        claims.c5(budgets, 4),
        claims.c6(played["direct"], played["sft"], played["grpo"]),
    ]
    return metrics, verdicts


def test_outcomes_and_curves_give_what_the_folders_give(arms: dict[str, list[Path]]) -> None:
    found, verdicts = measured(stages_of(EVALUATION, arms), curves_of(arms), numbers_of(arms))
    metrics, wanted = by_folders(arms)
    assert list(found) == list(metrics) and found == metrics
    assert [claim.record() for claim in verdicts] == [claim.record() for claim in wanted]
    assert "acc_vstar" in found["grpo"] and "pass_at_3" in found["sft"] and "calls_of_crop" in found["grpo"]


def test_what_isnt_there_is_not_run_and_the_rest_stands(arms: dict[str, list[Path]]) -> None:
    """Of one arm the runs, no numbers: the figures of what was played, and claims that say what they lack."""
    some = {"runs": arms["runs"][:1]}
    found, verdicts = measured(stages_of(EVALUATION, some), curves_of(some))
    assert "acc_all" in found["grpo"] and "gain_over_sft" not in found["grpo"] and "outcome" not in found
    notes = {claim.name: claim.note for claim in verdicts}
    assert notes["C1"] == "not run: outcome_runs and bonus_runs" and notes["C2"] == "not run: no_turns_runs"
    assert notes["C3"] == "not run: offset_0_runs" and notes["C4"] == "not run: other sizes of demonstrations than sft"
    assert list(notes) == list(claims.CLAIMS) and all(
        claim.statement == claims.CLAIMS[claim.name] for claim in verdicts
    )
    _, verdicts = measured({}, {})
    assert {claim.verdict for claim in verdicts} == {"undecided"}
    _, verdicts = measured(stages_of(EVALUATION, some), {}, max_turns=6)
    assert verdicts[4].note == "not run: budgets of 6 turns, as in training, and of more"


@pytest.mark.parametrize(
    ("shown", "names"),
    [
        ({"sft_fewer": 900, "grpo": 3200}, ["900", "3200"]),
        ({"grpo": 3200}, ["sft_fewer-sft", "sft"]),
        ({"sft_fewer": 900, "grpo": 900}, ["sft_fewer-sft", "sft"]),
        ({}, ["sft_fewer-sft", "sft"]),
    ],
)
def test_no_size_takes_the_place_of_another(shown: dict[str, int], names: list[str]) -> None:
    stages = {"sft": outcomes(0.5, 1), "sft_fewer-sft": outcomes(0.3, 2)}
    found = by_size(stages, {arm: {0: {"demonstrations": n}} for arm, n in shown.items()})
    assert list(found) == names and [*found.values()] == [stages["sft_fewer-sft"], stages["sft"]]


def test_demonstrations_are_counted_where_a_run_has_some(tmp_path: Path) -> None:
    assert numbers(tmp_path) == {}
    (tmp_path / "sft").mkdir()
    save_episodes(tmp_path / "sft" / "episodes.jsonl", [])
    assert numbers(tmp_path) == {"demonstrations": 0}
