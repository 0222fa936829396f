"""VISTA-Gym's figures from outcomes and curves are those that the runs' own folders give."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from made_outcomes import made, made_rows, save_curve, save_made

from kit.evaluate.accuracy import accuracy
from kit.evaluate.five import STAGES
from kit.evaluate.five.answers import answers, own_numbers
from kit.evaluate.outcomes import Metrics
from kit.train.metrics import read_metrics
from papers.claims import Claim
from papers.played import curves_of, stages_of
from papers.vista_gym import claims
from papers.vista_gym import tables as benchmarks
from papers.vista_gym.errors import ERRORS
from papers.vista_gym.measured import ARMS, measured, paper_tables
from papers.vista_gym.metrics import EVALUATION, Outcome

FAMILIES = ("maps", "spatial", "documents", "charts")
NAMES = ("entropy", "calls", "frac_zero_std_groups")


def outcomes(share: float, noise: int, benchmark: str = "") -> list[Outcome]:
    """Forty questions of four families, about so many of which are right."""
    draw = np.random.default_rng(noise).random(40)
    return [
        made(
            Outcome,
            bool(draw[k] < share),
            **{"task": f"t{k}", "image": f"p{k}", "tool_calls": k % 3, "turns": 1 + k % 3},
            family=FAMILIES[k % 4],
            distribution="in" if k % 2 else "out",
            ran=1.0 if k % 3 else None,
            errors="E1 E4" if k % 3 else "",
            benchmark=benchmark,
        )
        for k in range(40)
    ]


def made_arms(folder: Path, benchmark: str = "") -> dict[str, list[Path]]:
    """Three main runs, two of each other arm; a benchmark adds what was played of it."""
    found: dict[str, list[Path]] = {"runs": []}
    for seed in range(3):
        played = {
            name: outcomes(0.3 + at / 20, 20 * seed + at)
            for at, name in enumerate(("sft", "grpo", "patch", *STAGES[:4]))
        }
        played |= {name: outcomes(0.2, at) for at, name in enumerate(claims.UNSEEDED)}
        played["sft-samples"] = [o for at in range(3) for o in outcomes(0.3, 90 + at)]
        if benchmark:
            names = (*claims.UNSEEDED, "sft", "grpo")
            played |= {f"bench-{name}": outcomes(0.5, at, benchmark) for at, name in enumerate(names)}
        calls = {"grpo-own": [["easyocr.read", "sam.segment"][: k % 3] for k in range(40)]}
        found["runs"].append(save_made(folder / f"main-{seed}", EVALUATION, played, calls))
        save_curve(found["runs"][-1], "grpo", made_rows(seed, 6, NAMES))
    for at, name in enumerate((*ARMS, "decided")):
        found[f"{name}_runs"] = [folder / f"{name}-{seed}" for seed in range(2)]
        for seed, run in enumerate(found[f"{name}_runs"]):
            played = {"sft": outcomes(0.3, 80 + seed), "grpo": outcomes(0.4, 60 + 2 * at + seed)}
            if benchmark:
                played |= {f"bench-{stage}": outcomes(0.6, at + seed, benchmark) for stage in ("sft", "grpo")}
            save_made(run, EVALUATION, played)
    return found


def by_folders(arms: dict[str, list[Path]]) -> tuple[dict[str, Metrics], list[Claim]]:
    """What the claims notebook makes of the folders."""

    def of(stage: str, arm: str = "runs") -> list[Outcome]:
        return [o for k, run in enumerate(arms[arm]) for o in EVALUATION.load_outcomes(run, stage, k)]

    main = arms["runs"]
    played = {stage: of(stage) for stage in ("sft", "grpo", "patch")}
    played |= {stage: EVALUATION.load_outcomes(main[0], stage) for stage in claims.UNSEEDED}
    played |= {name: of("grpo", f"{name}_runs") for name in (*ARMS, "decided")}
    played["decided-sft"] = of("sft", "decided_runs")
    metrics = {stage: EVALUATION.evaluate_outcomes(some) for stage, some in played.items()}
    for stage in (*claims.UNSEEDED, "sft", "grpo", "patch"):
        metrics[stage]["macro"] = claims.macro_average(**{stage: played[stage]})
    for stage in ("sft", "direct"):
        pair = {stage: played[stage], "grpo": played["grpo"]}
        metrics["grpo"][f"macro_gain_over_{stage}"] = claims.macro_average(**pair)
    training = [read_metrics(run / "grpo" / "metrics.jsonl") for run in main]
    for stage, found in answers(EVALUATION, main, training, [0.0, 0.01, 0.02], 3).items():
        metrics[stage] |= found
    metrics["direct"]["accuracy"] = accuracy(played["direct"])
    for stage in ("untrained", "sft", "grpo"):
        metrics[stage] |= {f"errors_{kind}": claims.error_share(played[stage], kind) for kind in ERRORS}
        metrics[stage]["errors_no_call"] = claims.no_call_share(played[stage])
        metrics[stage]["called"] = claims.called_share(played[stage])
        if any(o.tool_calls for o in played[stage]):
            metrics[stage]["called_for_the_wrong_thing"] = claims.misdirected_share(played[stage])
    end = played["grpo"]
    verdicts = [
        claims.v1(played["direct"], played["untrained"]),
        claims.v2(played["direct"], played["sft"], end, played["decided-sft"]),
        claims.v3(end, played["no_tools_reasoning"], played["no_reasoning"]),
        claims.better("V4", end, dapo=played["dapo"]),
        claims.better("V5", end, dense=played["dense"], sparse=played["sparse"]),
        claims.v6(end, played["one_family"], played["one_tool"], "maps", "easyocr.read"),
        claims.better("V7", played["patch"], grpo=end),
        claims.v8(played["untrained"], end),
        claims.better("V9", played["long"], grpo=end),
    ]
    return metrics, verdicts


def test_outcomes_and_curves_give_what_the_folders_give(tmp_path: Path) -> None:
    arms = made_arms(tmp_path)
    numbers = {"grpo": {k: own_numbers(EVALUATION, run, k / 100) for k, run in enumerate(arms["runs"])}}
    found, verdicts = measured(stages_of(EVALUATION, arms), curves_of(arms), numbers)
    metrics, wanted = by_folders(arms)
    assert found == metrics
    assert [claim.record() for claim in verdicts] == [claim.record() for claim in wanted]
    assert {"calls_of_easyocr_read", "errors_E4", "macro_gain_over_direct"} <= found["grpo"].keys()


def test_benchmarks_fill_table_2_and_decide_where_all_arms_played_them(tmp_path: Path) -> None:
    arms = made_arms(tmp_path, "chartqa")
    stages = stages_of(EVALUATION, arms)
    _, verdicts = measured(stages, curves_of(arms))
    rows = paper_tables(stages)["Table 2"]["rows"]
    assert rows["grpo"]["chartqa"]["here"] == benchmarks.row(stages["bench-grpo"])["chartqa"].record()
    assert rows["direct"]["chartqa"]["here"]["n"] == 40, "no training made it: of one seed"
    assert rows["no_tools_reasoning"]["chartqa"]["here"]["n"] == 80
    v3 = claims.v3(stages["bench-grpo"], stages["no_tools_reasoning-bench-grpo"], stages["bench-no_reasoning"][:40])
    assert verdicts[2].record() == v3.record()
    some = {name: played for name, played in stages.items() if name != "dapo-bench-grpo"}
    _, others = measured(some, curves_of(arms))
    assert others[3].record() == claims.better("V4", stages["grpo"], dapo=stages["dapo"]).record()
    assert others[6].record() == claims.better("V7", stages["patch"], grpo=stages["grpo"]).record()
    with pytest.raises(ValueError, match="the rows of Table 2 that are here"):
        paper_tables(stages, "GPT-5")


def test_what_isnt_there_is_not_run_and_says_how_it_is_made(tmp_path: Path) -> None:
    some = {"runs": made_arms(tmp_path)["runs"][:1]}
    stages = {name: played for name, played in stages_of(EVALUATION, some).items() if name != "patch"}
    found, verdicts = measured(stages, curves_of(some))
    assert "acc_all" in found["grpo"] and "gain_over_sft" not in found["grpo"] and "dapo" not in found
    notes = {claim.name: claim.note for claim in verdicts}
    assert notes["V4"] == "not run: python -m kit run 54 --tag dapo --set loss_type=dapo, then dapo_runs"
    assert notes["V7"] == "not run: notebook 54 with patch_steps above 0, or no question was hard"
    assert notes["V2"].startswith("not run: python -m kit run vista_gym --until 54 --name vista_gym-decided")
    assert verdicts[0].checks and list(notes) == list(claims.CLAIMS)
    _, verdicts = measured({}, {})
    assert {claim.verdict for claim in verdicts} == {"undecided"} and not any(claim.checks for claim in verdicts)
