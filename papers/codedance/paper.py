"""CodeDance's record in the registry.

Declared here is what no single module does: choices of the profiles, and how results are read. Where paper and release
differ, a row of fidelity.toml says which of them it is about.

Departures
- [codedance-tiny-model] Paper: bases are Qwen2.5-VL-3B and 7B. Here: the profile laptop has a base of three million
  weights that was pretrained on charts, boards and sheets among other skills; only gpu and node have the paper's. Why:
  every notebook has to run on a laptop in minutes. May change: every figure.
- [codedance-no-less] Paper: the adaptive reward is the most accurate. Here: claim C1 says that it is no less accurate,
  by 0.05, than its rivals, and calls less than a bonus does. Why: so small a gain as the paper's can't be told from
  chance here. May change: where C1 holds, that it is the most accurate is still open.
"""

from __future__ import annotations

from papers.published import Published, ResultsFile, Runs
from papers.registry import Paper

BEFORE = {f"stages/{stage}.json": 32 for stage in ("direct", "untrained", "sft", "sft-sampled")}
"""What was measured before reinforcement."""

KEPT = {"data": 31, "sft": 32, **BEFORE}
"""What a training under another reward keeps of the run with the same seed."""


ALL = {"eval_tasks": "300"}
FRESH = {"test_seed": "1", "test_tasks": "68", "more_tests": "composed/hard 300", **ALL}
"""Published runs are measured by a fresh test: of easy, of hard and of composed questions 300 each, or more."""

TRAINED = ("31_codedance", "32_codedance_sft", "33_codedance_grpo")


def _start(name: str, seeds: int, **values: str) -> Runs:
    """A cold start of its own, then reinforcement."""
    return Runs(name, seeds, TRAINED, {**FRESH, **values})


def _other(tag: str, **values: str) -> Runs:
    """The same cold starts, trained otherwise."""
    return Runs("codedance", 5, TRAINED[2:], {**ALL, **values}, tag=tag, keeps=KEPT)


def _fewer(episodes: int) -> Runs:
    """Fewer demonstrations, the same questions."""
    values = {**ALL, "sft_episodes": f"{episodes}"}
    return Runs("codedance", 5, TRAINED[1:2], values, tag=f"sft_{episodes}", keeps={"data": 31})


PAPER = Paper(
    name="codedance",
    title="CodeDance",
    summary="Answer at once what is easy; compute, crop and count by code what isn't.",
    environment="papers.codedance.env:CodeDanceEnv",
    golden="papers.codedance.golden:golden",
    limits="papers.codedance.experiment:Play",
    evaluation="papers.codedance.metrics:EVALUATION",
    notebooks=("31_codedance", "32_codedance_sft", "33_codedance_grpo", "34_codedance_claims"),
    settings={"32_codedance_sft": "kit.train.sft:SFTSettings", "33_codedance_grpo": "kit.train.grpo:GRPOSettings"},
    needs={
        "32_codedance_sft": {"data": 31},
        "33_codedance_grpo": KEPT,
        "34_codedance_claims": {"data": 31, **BEFORE, "stages/grpo.json": 33},
    },
    claims="papers.codedance.claims:CLAIMS",
    finding="papers.codedance.finding:finding",
    fidelity="papers.codedance:fidelity.toml",
    validate="papers.codedance.validate:validate",
    published=Published(
        runs={
            "runs": _start("codedance", 5),
            **{f"{reward}_runs": _other(reward, reward=reward) for reward in ("bonus", "outcome", "offset_0")},
            "sft_fewest": _fewer(300),
            "sft_fewer": _fewer(900),
            "no_turns_runs": _other("no_turns", turn_weight="0"),
            "decided_runs": _start("codedance-decided", 3, needless="0.0"),  # easy questions are answered at once
            "half_runs": _start("codedance-half", 3, needless="0.25"),  # half as many needless calls are shown
        },
        files=(ResultsFile("34_codedance_claims", "codedance"),),
    ),
)
