"""Visual-ARFT's record in the registry.

Declared here is what no single module does: choices of the profiles, baselines, and how results are read. Where paper
and release differ, a row of fidelity.toml says which of them it is about.

Departures
- [arft-tiny-model] Paper: Bases are Qwen2.5-VL-3B and 7B. Here: The profile laptop has a base of three million
  weights that was pretrained on sheets, flags and look-ups among other skills, and only gpu and node have the
  paper's; figures in this repository are laptop's. Why: Every notebook has to run on a laptop in minutes. May change:
  Every figure.
- [arft-grpo-check] Paper: Training is compared with direct answers. Here: It is compared with the model after the
  demonstrations as well. Why: What RL adds can't be seen otherwise. May change: A gain may turn out not to be RL's.
- [arft-greedy] Paper: How answers are sampled in evaluation isn't told. Here: Each task is played once, greedily. Why:
  A figure then depends on the model alone. May change: Sampled answers would score a little lower.
- [arft-direct-suffix] Paper: Baselines are told to answer the question directly. Here: They are told to answer in as
  few words as possible inside the tags, and the tiny base is asked in the words it was taught. Why: One parser reads
  all answers. May change: Baselines of real models lie a little higher, as their answers are shorter.
- [arft-rag-query] Paper: How retrieval asks isn't told. Here: The question itself is the query; beside it stands
  retrieval by the base's own description of the image. Why: A question about an image names nothing that can be
  found. May change: Plain RAG is weak by construction, the described one is as good as the base sees.
- [arft-text-sample] Paper: Four benchmarks ask in text alone. Here: The laptop has invented two-hop questions about
  real countries, node the first questions of the four sets. Why: A laptop has no network, and the web search is paid
  by the query. May change: Averages over samples are less certain.
- [arft-intervals] Paper: Tables have single values of one run. Here: Each value has a 95 % interval over images and
  training seeds. Why: Tasks about one image go together, and seeds differ. May change: No value; differences that lie
  within the intervals aren't called results.
- [arft-no-gold-rollout] Paper: Its release writes the gold answer into one rollout after sampling. Here: Every
  rollout is the policy's own. Why: The text says nothing of it, and log-probabilities would be another text's. May
  change: Groups without any right answer teach nothing.
- [arft-rewards-equal] Paper: An F1 reward is better than an EM reward, on EM too. Here: Claim R3 says that the two
  end within 0.05 of each other. Why: That F1 is better came out undecided, as few answers here are partly right. May
  change: The verdict *equal* bears R3 out as the kit words it; the paper's own gains (F1 46.7 to 50.7, EM 31.5 to
  34.5) are smaller than the margin, so its statement stays open.
- [arft-strict-format] Paper: The format reward is 1 if the output contains valid tags (eq. 3). Here: A turn is one
  think block, then one action or answer, and nothing outside; an episode keeps to the format if all its turns do and
  it answers. Why: Text outside the tags can't be acted upon. May change: The format is learnt later than by a laxer
  rule.
"""

from __future__ import annotations

from collections.abc import Mapping

from papers.published import Published, ResultsFile, Runs
from papers.registry import Paper

KEPT = {"data": 21, "sft": 23}
"""What a training under another reward keeps of the run with the same seed; another start keeps its data alone."""


FRESH = {"test_seed": "1", "test_share": "1.0", "search_test": "150", "text_test": "150"}
"""Published runs are measured by a fresh test, as large as MAT: 200 sheets, 150 searches; and 150 questions of text."""


def _other(tag: str, seeds: int, keeps: Mapping[str, int], **values: str) -> Runs:
    """The same data, and where it is kept the same cold start, trained otherwise."""
    return Runs("visual_arft", seeds, ("23_visual_arft_grpo",), values, tag=tag, keeps=keeps)


PAPER = Paper(
    name="visual_arft",
    title="Visual-ARFT",
    summary="Answer questions about images by code that restores them and by searches.",
    environment="papers.visual_arft.env:VisualARFTEnv",
    golden="papers.visual_arft.golden:golden",
    limits="papers.visual_arft.experiment:Play",
    validate="papers.visual_arft.validate:validate",
    evaluation="papers.visual_arft.metrics:EVALUATION",
    notebooks=("21_visual_arft", "22_visual_arft_rewards", "23_visual_arft_grpo", "24_visual_arft_claims"),
    settings={"23_visual_arft_grpo": "kit.train.grpo:GRPOSettings"},
    needs={
        "23_visual_arft_grpo": {"data": 21},
        "24_visual_arft_claims": {"data": 21, "stages/sft.json": 23, "stages/grpo.json": 23},
    },
    claims="papers.visual_arft.claims:CLAIMS",
    finding="papers.visual_arft.finding:finding",
    fidelity="papers.visual_arft:fidelity.toml",
    published=Published(
        runs={
            "runs": Runs("visual_arft", 5, ("21_visual_arft", "23_visual_arft_grpo"), FRESH),
            "em_runs": _other("em", 5, KEPT, reward="em"),
            "decided_runs": _other("decided", 3, {"data": 21}, gives_up="0.0"),  # the expert acts always
            "half_runs": _other("half", 3, {"data": 21}, gives_up="0.2"),  # it gives up half as often
        },
        files=(ResultsFile("24_visual_arft_claims", "visual_arft"),),
    ),
)
