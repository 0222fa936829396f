"""VISTA-Gym's record in the registry.

Declared here is what no single module does: choices of the profiles, and how results are read.

Departures
- [vista-offline-tools] Paper: tools are served models (GroundingDINO, SAM, EasyOCR, ChartMoE, G-LLaVA and others).
  Here: behind each name is an algorithm that needs no download (those that read charts share one), and its card says
  how often that is right; the model loads behind the same class where its weights can be had. Why: every tool has to
  answer on a laptop. May change: what tools get wrong (E5), and so every figure of an agent that relies on them.
- [vista-processes] Paper: Ray actors hold the tools' weights, heavy ones each on a GPU, light ones sharing CPUs. Here:
  processes and pipes (:mod:`visual_tools.serve`), pools of light tools and one for each model, all models on one
  device; what hangs is cut at a deadline, of which the release has none. Ray Serve is one option away
  (``--engine ray``). Why: processes start in seconds on a laptop. May change: nothing that a tool says, only how long
  it takes.
- [vista-tiny-model] Paper: bases are InternVL3 and Qwen2.5-VL, of 2 to 14 billion weights. Here: the profile laptop has
  a base of three million weights; only gpu and node have the paper's. Why: every notebook has to run on a laptop in
  minutes. May change: every figure.
- [vista-claims] Paper: SFT helps a little, reinforcement much more; GRPO is as good as PPO and DAPO or better. Here:
  claim V2 also asks whether cloning gains where the expert never gives up, V4 whether GRPO is no less accurate, by
  0.03, than DAPO alone. Why: ours gives up on purpose, and PPO isn't run. May change: where V4 holds, PPO is open.
"""

from __future__ import annotations

from papers.published import Published, ResultsFile, Runs
from papers.registry import Paper

BEFORE = {f"stages/{stage}.json": 53 for stage in ("direct", "untrained", "no_reasoning", "sft")}
"""What was measured before reinforcement."""

KEPT = {"tasks": 53, "sft": 53, **BEFORE}
"""What notebook 54 goes on from, and a training under other values keeps."""


FRESH = {
    **{"test_seed": "1", "test_tasks": "22"},
    "more_tests": "spatial/clevr 140,spatial/clevr_math 140",
}
"""Published runs are measured by a fresh test: 308 questions, 22 of each kind, and 236 more of the families that
``easyocr.read`` doesn't suit, which makes 300 of these (claim V6)."""

TRAINED = ("53_vista_gym_sft", "54_vista_gym_grpo")


def _start(name: str, seeds: int, **values: str) -> Runs:
    """A clone of its own, then reinforcement."""
    return Runs(name, seeds, TRAINED, {**FRESH, **values, "patch_steps": "0"})


def _other(tag: str, **values: str) -> Runs:
    """The same cloned agents, trained otherwise."""
    return Runs("vista_gym", 5, TRAINED[1:], {**values, "patch_steps": "0"}, tag=tag, keeps=KEPT)


PAPER = Paper(
    name="vista_gym",
    title="VISTA-Gym",
    summary="Choose among 26 tools for charts, figures, documents and scenes; call one by name, or answer at once.",
    environment="papers.vista_gym.env:VistaGymEnv",
    golden="papers.vista_gym.golden:golden",
    limits="papers.vista_gym.experiment:Play",
    evaluation="papers.vista_gym.metrics:EVALUATION",
    notebooks=("51_vista_gym", "53_vista_gym_sft", "54_vista_gym_grpo", "55_vista_gym_claims"),
    settings={"53_vista_gym_sft": "kit.train.sft:SFTSettings", "54_vista_gym_grpo": "kit.train.grpo:GRPOSettings"},
    needs={
        "54_vista_gym_grpo": KEPT,
        "55_vista_gym_claims": {"tasks": 53, **BEFORE, "stages/grpo.json": 54},
    },
    claims="papers.vista_gym.claims:CLAIMS",
    finding="papers.vista_gym.finding:finding",
    validate="papers.vista_gym.validate:validate",
    tools="papers.vista_gym.toolbox:TOOLS",
    fidelity="papers.vista_gym:fidelity.toml",
    published=Published(
        runs={
            "runs": Runs("vista_gym", 5, TRAINED, FRESH),
            "no_tools_reasoning_runs": _start("vista_gym-no_tools", 5, prompt="brief-alone"),
            **{f"{reward}_runs": _other(reward, reward=reward) for reward in ("dense", "sparse")},
            "one_tool_runs": _other("one_tool", only="easyocr.read"),
            "one_family_runs": _other("one_family", only="maps"),
            "dapo_runs": _other("dapo", loss_type="dapo"),
            "long_runs": _start("vista_gym-long", 5, rationale="long"),
            "decided_runs": _start("vista_gym-decided", 3, gives_up="0.0"),  # the expert asks the right tool always
            "half_runs": _start("vista_gym-half", 3, gives_up="0.3"),  # it gives up half as often
        },
        files=(ResultsFile("55_vista_gym_claims", "vista_gym"),),
    ),
)
