"""AGILE's figures from outcomes and curves are those that the runs' own folders give."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_outcomes import made, made_rows, save_curve, save_made

from kit.data.store import save_episodes, save_tasks
from kit.episode import Action, Episode, Observation, Task, Turn
from kit.evaluate.accuracy import accuracy
from kit.evaluate.five import STAGES
from kit.evaluate.five.answers import answers, own_numbers
from kit.evaluate.intervals import Point, proportion_over_seeds
from kit.evaluate.outcomes import Metrics
from kit.train.metrics import read_metrics
from papers.agile import claims, general
from papers.agile.general import GeneralOutcome
from papers.agile.measured import measured, measured_general, numbers
from papers.agile.metrics import EVALUATION, Outcome
from papers.played import curves_of, opened, stages_of
from tiny import TINY

MAIN = ("direct", "untrained", "sft", "grpo", "direct_originals", *STAGES[:4], "sft-greedy", "sft-sampled")
SHARES = {"direct": 0.2, "untrained": 0.05, "sft": 0.2, "grpo": 0.8, "direct_originals": 0.9}
BUDGETS = {6: 0.4, 12: 0.5, 24: 0.7}
OTHERS = ("guesses_0", "guesses_30", "thumbnail_2", "replay_4")
CALLS = [["observation", "crop"][: k % 3] for k in range(36)]
NAMES = ("turns", "response_tokens", "entropy", "frac_zero_std_groups")


def puzzles(share: float, noise: int, m: int = 2, more: str = "") -> list[Outcome]:
    """Thirty-six puzzles of twelve pictures, each once a level, about so many of which are solved."""
    draw = np.random.default_rng(noise).random(36)
    return [
        made(
            Outcome,
            right,
            **{"task": f"{more}{k}-{m}", "image": f"{more}p{k // 3}", "tool_calls": len(CALLS[k]), "turns": 2},
            **{"m": m, "level": k % 3, "score": float(right)},
        )
        for k in range(36)
        for right in (bool(draw[k] < share),)
    ]


@pytest.fixture
def arms(tmp_path: Path) -> dict[str, list[Path]]:
    """Three main runs, two of few puzzles, two that were paid for the deed, one of each other cold start."""
    found: dict[str, list[Path]] = {"runs": [], "few_runs": [], "deed_runs": []}
    for seed in range(3):
        played = {name: puzzles(SHARES.get(name, 0.5), 90 * seed + at) for at, name in enumerate(MAIN)}
        played |= {f"{name}-3x3": puzzles(0.1, 90 * seed + 20 + len(name), 3) for name in ("untrained", "sft", "grpo")}
        for at, (name, share) in enumerate(SHARES.items()):
            played[f"{name}-photographs"] = puzzles(share, 90 * seed + 30 + at, more="more-")
        sampled = [o for at in range(3) for o in puzzles(0.3, 90 * seed + 40 + at)]
        run = tmp_path / f"main-{seed}"
        found["runs"].append(save_made(run, EVALUATION, played | {"sft-samples": sampled}, dict.fromkeys(MAIN, CALLS)))
        save_curve(run, "grpo", made_rows(seed, 16, NAMES))
    for seed in range(2):
        few = {f"grpo-{n:05d}": puzzles(share, 90 * seed + 50 + n) for n, share in BUDGETS.items()}
        found["few_runs"].append(save_made(tmp_path / f"few-{seed}", EVALUATION, few))
        run = save_made(tmp_path / f"deed-{seed}", EVALUATION, {"grpo": puzzles(0.7, 300 + seed)})
        save_curve(run, "grpo", made_rows(10 + seed, 16, NAMES))
        found["deed_runs"].append(run)
    for at, name in enumerate(("decided", "half")):
        ends = {stage: puzzles(0.5, 380 + 2 * at + k) for k, stage in enumerate(("sft", "grpo"))}
        found[f"{name}_runs"] = [save_made(tmp_path / f"{name}-start", EVALUATION, ends)]
    for at, name in enumerate(OTHERS):
        played = {stage: puzzles(0.3, 400 + 9 * at + k) for k, stage in enumerate(("sft-greedy", "sft-sampled"))}
        found[name] = [save_made(tmp_path / name, EVALUATION, played, dict.fromkeys(played, CALLS))]
    return found


def numbers_of(arms: dict[str, list[Path]]) -> dict[str, dict[int, dict[str, Any]]]:
    told = {"guesses": 60, "expert_tokens": [27, 101]}
    return {"grpo": {k: own_numbers(EVALUATION, run, k / 100) | told for k, run in enumerate(arms["runs"])}}


def of(folders: list[Path], stage: str) -> list[Outcome]:
    return [o for k, run in enumerate(folders) for o in EVALUATION.load_outcomes(run, stage, k)]


def by_folders(arms: dict[str, list[Path]]) -> tuple[dict[str, Metrics], list[claims.Claim]]:
    """What the claims notebook made of the folders."""
    main, played = arms["runs"], {stage: of(arms["runs"], stage) for stage in SHARES}
    for stage in ("untrained", "sft", "grpo"):
        played[stage] += of(main, f"{stage}-3x3")
    metrics = {stage: EVALUATION.evaluate_outcomes(some) for stage, some in played.items()}
    for stage in SHARES:
        found = EVALUATION.evaluate_outcomes(of(main, f"{stage}-photographs"))
        metrics[stage] |= {f"{n}_photographs": v for n, v in found.items() if n[-3:] == "2x2"}
    metrics["deed"] = EVALUATION.evaluate_outcomes(of(arms["deed_runs"], "grpo"))
    for start in ("decided", "half"):
        for name, stage in ((f"{start}-sft", "sft"), (start, "grpo")):
            metrics[name] = EVALUATION.evaluate_outcomes(of(arms[f"{start}_runs"], stage))
    tried = {name: arms[name] for name in OTHERS[:2]} | {"guesses_60": main} | {name: arms[name] for name in OTHERS[2:]}
    for start, folders in tried.items():
        for how in ("greedy", "sampled"):
            pairs = [pair for k, run in enumerate(folders) for pair in EVALUATION.load_calls(run, f"sft-{how}", k)]
            looked = [Point(o.seed, o.image, float(bool(calls))) for o, calls in pairs]
            metrics["sft"][f"{start}_{how}_acc"] = claims.ACC.interval([o for o, _ in pairs])
            metrics["sft"][f"{start}_{how}_looks"] = proportion_over_seeds(looked)
            metrics["sft"][f"{start}_{how}_found"] = claims.ACC.interval([o for o, calls in pairs if calls])
    curves, deed = (
        {k: read_metrics(run / "grpo" / "metrics.jsonl") for k, run in enumerate(arms[arm])}
        for arm in ("runs", "deed_runs")
    )
    for stage, five in answers(EVALUATION, main, [*curves.values()], [0.0, 0.01, 0.02], 3).items():
        metrics[stage] |= five
    for stage in ("direct", "direct_originals"):
        metrics[stage]["accuracy"] = accuracy(played[stage])
    budgets = {n: of(arms["few_runs"], f"grpo-{n:05d}") for n in BUDGETS}
    a6, done = claims.a6(curves, 5), claims.a6(deed, 5)
    more = {stage: played[stage] + of(main, f"{stage}-photographs") for stage in SHARES}
    verdicts = [
        claims.a1(more["direct"], played["untrained"], more["direct_originals"]),
        claims.a2(more["untrained"], more["sft"], more["grpo"]),
        claims.a3(played["untrained"], played["sft"], played["grpo"], 80, [27, 101]),
        claims.a4(more["grpo"]),
        claims.a5({0: of(main[:2], "sft"), **budgets}),
        replace(a6, note=f"{a6.note}; paid for the deed: {done.evidence}"),
    ]
    return metrics, verdicts


def test_outcomes_and_curves_give_what_the_folders_give(arms: dict[str, list[Path]]) -> None:
    found, verdicts = measured(stages_of(EVALUATION, arms), curves_of(arms), numbers_of(arms))
    metrics, wanted = by_folders(arms)
    assert list(found) == list(metrics) and found == metrics
    assert [claim.record() for claim in verdicts] == [claim.record() for claim in wanted]
    assert {"pass_at_3", "guesses_60_greedy_looks", "acc_2x2_photographs"} <= found["sft"].keys()
    assert {"weight_change", "calls_of_crop"} <= found["grpo"].keys()


def test_more_photographs_count_where_all_stages_played_them(arms: dict[str, list[Path]]) -> None:
    stages = stages_of(EVALUATION, arms)
    n = [claim.checks[0].interval.n for claim in measured(stages, {})[1][:4]]
    assert n == [2 * 108, 6 * 108, 2 * 108, 2 * 108]
    del stages["sft-photographs"]
    assert [claim.checks[0].interval.n for claim in measured(stages, {})[1][:4]] == [2 * 108, 3 * 108, 2 * 108, 2 * 108]


def test_every_check_that_was_stated_is_made(arms: dict[str, list[Path]]) -> None:
    """No claim decides on less, or on more, than was registered."""
    _, verdicts = measured(stages_of(EVALUATION, arms), curves_of(arms), numbers_of(arms))
    made = {claim.name: [check.name for check in claim.checks] for claim in verdicts}
    stated = {name: claims.STATED[name].checks for name in sorted({*claims.STATED} - {"A7", "A8"})}
    assert {name: sorted(names) for name, names in made.items()} == {
        name: sorted(check.name for check in checks.values()) for name, checks in stated.items()
    }


def test_what_isnt_there_is_not_run_and_the_rest_stands(arms: dict[str, list[Path]]) -> None:
    """Of one arm the runs, no numbers: the figures of what was played, and claims that say what they lack."""
    stages = stages_of(EVALUATION, {"runs": arms["runs"]})
    stages = {name: some for name, some in stages.items() if "3x3" not in name and not name.startswith("direct")}
    found, verdicts = measured(stages, {})
    assert "acc_2x2" in found["grpo"] and "gain_over_sft" not in found["grpo"] and "direct" not in found
    notes = {claim.name: claim.note for claim in verdicts}
    assert (notes["A1"], notes["A3"], notes["A5"]) == ("not run: direct", "not run: 3×3 puzzles", "not run: few_runs")
    assert notes["A6"].startswith("0 seeds") and notes["A2"] == ""
    found, verdicts = measured({}, {})
    assert found == {} and [claim.name for claim in verdicts] == [f"A{k}" for k in range(1, 7)]
    assert {claim.verdict for claim in verdicts} == {"undecided"}
    assert all(claim.statement == claims.CLAIMS[claim.name] for claim in verdicts)


def test_what_figures_need_of_a_run_is_read_from_its_folder(tasks: list[Task], tmp_path: Path) -> None:
    """Of two demonstrations one guesses; without a model nobody knows how long the expert's turns are."""
    look = Turn((1,), (0.0,), "", Action("code", "a = observation(state)"), Observation(""))
    answer = Turn((2,), (0.0,), "", Action("answer", str(list(tasks[0].target))))
    shown = [Episode(tasks[0], (), turns, "answer") for turns in ((look, answer), (answer,))]
    save_episodes(tmp_path / "data" / "coldstart.jsonl", shown)
    save_tasks(tmp_path / "data" / "eval-3x3.jsonl", tasks[:1])
    assert numbers(tmp_path) == {"guesses": 50} and numbers(tmp_path / "none") == {}
    (tmp_path / "sft").mkdir()
    (tmp_path / "sft" / "model").symlink_to(TINY)
    fewest, most = numbers(tmp_path)["expert_tokens"]
    assert 0 < fewest <= most


def test_general_vision_is_measured_in_the_same_way() -> None:
    draw = np.random.default_rng(0)
    stages = {
        name: [
            made(GeneralOutcome, right, task=f"q{k}", image=f"i{k}", skill="ab"[k % 2], begins=right, seed=seed)
            for seed in range(3)
            for k in range(30)
            for right in (bool(draw.random() < share),)
        ]
        for name, share in (("untrained", 0.6), ("sft", 0.4), ("grpo", 0.4), ("qa", 0.6), ("half", 0.5))
    }
    found, verdicts = measured_general(stages)
    assert found == {name: general.EVALUATION.evaluate_outcomes(some) for name, some in stages.items()}
    assert verdicts == [general.a7(stages["qa"], stages["half"]), general.a8(*[*stages.values()][:3])]
    _, verdicts = measured_general({"grpo": stages["grpo"]})
    assert [claim.note for claim in verdicts] == ["not run: qa, half", "not run: untrained, sft"]


def test_openings_of_the_test_puzzles_are_counted(arms: dict[str, list[Path]]) -> None:
    told = opened({"sft": puzzles(0.2, 1), "sft-greedy": puzzles(0.2, 2), "deed-sft-greedy": []}, ["sft-greedy"])
    assert told == "test was opened 1 times: 1 stages, each once a seed"
    every = stages_of(EVALUATION, {"runs": arms["runs"]})
    assert opened(every) == f"test was opened {3 * len(every)} times: {len(every)} stages, each once a seed"
