"""Mags-RL's record in the registry (arXiv:2605.27960).

Declared here is what no single module does.

Departures
- [mags-tiny-model] Paper: the base is Qwen2.5-VL-3B-Instruct. Here: the profile laptop has a base of three million
  weights that was pretrained on boards and sheets among other skills; only gpu and node have the paper's. Why: every
  notebook has to run on a laptop in minutes. May change: every figure.
- [mags-stages-equal] Paper: two stages beat training on everything at once. Here: claim M3 says that the two are
  equally accurate, within 0.05. Why: three seeds had lain level. May change: *equal* bears out M3, not the paper's
  sentence.
"""

from __future__ import annotations

from papers.published import Published, ResultsFile, Runs
from papers.registry import Paper

KEPT = {"data": 41, "sft": 43}
"""What a branch of a run keeps: questions and format start."""

TRAINED = ("41_mags_rl", "43_mags_rl_grpo")

FRESH = {"test_seed": "1", "test_tasks": "100"}
"""Published runs are measured by a fresh test: 300 questions of each difficulty, and 300 of small cards."""


def _curriculum(name: str) -> Runs:
    """The same format starts, trained in another way (:data:`papers.mags_rl.experiment.Way`)."""
    return Runs("mags_rl", 5, ("43_mags_rl_grpo",), {"curriculum": name}, tag=name, keeps=KEPT)


def _start(tag: str, right_share: str) -> Runs:
    """The same questions, another format start."""
    values = {"right_share": right_share}
    return Runs("mags_rl", 3, ("43_mags_rl_grpo",), values, tag=tag, keeps={"data": 41})


PAPER = Paper(
    name="mags_rl",
    title="Mags-RL",
    summary="Say where to look, have it magnified by super-resolution, look again and answer.",
    environment="papers.mags_rl.env:MagsEnv",
    golden="papers.mags_rl.golden:golden",
    limits="papers.mags_rl.experiment:Play",
    evaluation="papers.mags_rl.metrics:EVALUATION",
    notebooks=("41_mags_rl", "42_mags_rl_rewards", "43_mags_rl_grpo", "44_mags_rl_claims"),
    settings={"43_mags_rl_grpo": "kit.train.grpo:GRPOSettings"},
    needs={
        "43_mags_rl_grpo": KEPT,
        "44_mags_rl_claims": {"data": 41, "stages/sft.json": 43, "stages/stage1.json": 43, "stages/grpo.json": 43},
    },
    claims="papers.mags_rl.claims:CLAIMS",
    finding="papers.mags_rl.finding:finding",
    fidelity="papers.mags_rl:fidelity.toml",
    validate="papers.mags_rl.validate:validate",
    published=Published(
        runs={
            "runs": Runs("mags_rl", 5, TRAINED, FRESH),
            "more_runs": _curriculum("more"),
            "at_once_runs": _curriculum("at_once"),
            "plain_runs": Runs("mags_rl-plain", 5, TRAINED, {**FRESH, "network": "bicubic"}),  # crops plainly resized
            "decided_runs": _start("decided", "1.0"),  # the script looks where the question points, always
            "half_runs": _start("half", "0.725"),  # half of its wrong looks are shown
        },
        files=(ResultsFile("44_mags_rl_claims", "mags_rl"),),
    ),
)
