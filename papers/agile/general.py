"""Evaluate general vision before and after jigsaw training, and test claims A7 and A8 on it.

At the paper's scale general vision is nine benchmarks (Table 3; :mod:`papers.agile.evaluation_sets`), at the tiny
model's the questions of :mod:`papers.agile.questions`.

The skills were fixed before any result was seen; their number of questions was raised from 24 to 40 after a look at the
untrained base; the metric ``begins_*`` was added after the untrained, SFT and GRPO results of one run had been seen, so
it is exploratory and no claim rests on it.

Departures
- [agile-perception-only] Paper: The nine benchmarks measure perception, knowledge and reasoning. Here: The laptop
  asks for perception alone: colours, shapes, digits, charts and the like. Why: A tiny model has neither knowledge nor
  reasoning. May change: A gain or loss in reasoning can't be seen there.
- [agile-skills-for-benchmarks] Paper: The average is over nine benchmarks. Here: On the laptop it is over skills, all
  of one size; with copies of the benchmarks it is over these. Why: A skill stands for a benchmark. May change: The
  average moves with the choice of skills.
- [agile-asked-barely] Paper: How models are asked isn't told. Here: The tiny model is asked barely, as its base was
  taught, and real ones to answer in few words. Why: All stages are asked alike. May change: A model that only learnt
  to act may answer in tags and lose.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kit.chat import Chat
from kit.episode import Episode, Task
from kit.evaluate.intervals import Point
from kit.evaluate.outcomes import Evaluation, Outcome, slices_by
from kit.policy import Policy
from kit.policy.vllm_evaluation import evaluator
from kit.rollout import RolloutConfig, rollout
from papers.agile.questions import SKILLS, QuestionEnv, begins_right, is_right
from papers.agile.reported import GENERAL
from papers.claims import Claim
from papers.contrasts import gained, on_every_seed
from papers.registered import registered
from papers.tables import MeanOverSets

STATED = registered("agile")
"""What the claims say, with margins: ``claims.toml``."""


def ask(policy: Policy, chat: Chat, tasks: Sequence[Task], prompt: str = "brief", tokens: int = 60) -> list[Episode]:
    """Ask each question once, greedily.

    Args:
        policy: answers.
        chat: its encoder.
        tasks: the questions.
        prompt: ``brief`` for the tiny model, ``full`` for real ones (:data:`kit.evaluate.baselines.SYSTEMS`).
        tokens: of an answer, at most.
    """
    once = RolloutConfig(max_turns=1, max_new_tokens=tokens, max_episode_tokens=28192, temperature=0.0)
    return rollout(evaluator(policy), chat, tasks, lambda: QuestionEnv(prompt=prompt), once)


@dataclass(frozen=True, kw_only=True)
class GeneralOutcome(Outcome):
    """The result of one question.

    Attributes:
        skill: what was asked: one of :data:`papers.agile.questions.SKILLS`, or a benchmark's name.
        begins: whether the reply begins with a right answer, whatever follows: it was seen, if not said as asked.
    """

    skill: str
    begins: bool


def outcome(episode: Episode, seed: int = 0) -> GeneralOutcome:
    """The outcome of one finished question.

    Raises:
        ValueError: the episode is still running.
    """
    task, correct = episode.task, is_right(episode, episode.task.target)
    begins = correct or begins_right(episode.turns[-1].text, task.target)
    return GeneralOutcome.of(episode, correct, seed, skill=str(task.meta["skill"]), begins=begins)


EVALUATION = Evaluation(
    "agile",
    GeneralOutcome,
    outcome,
    is_right,
    slices_by(lambda o: o.skill, everything="all", order=SKILLS),
    (MeanOverSets("general", "correct", "binary", "skill"), MeanOverSets("begins", "begins", "binary", "skill")),
    reported=GENERAL,
    headlines={"general_all": "general vision"},
    tabled=("general", "begins"),
    note="value [95 % interval] (the paper's mean over nine benchmarks, Qwen2.5-VL-7B: Table 3)",
)
"""How general vision is evaluated; a run keeps its stages under ``general/``."""


def mean_by_skill(outcomes: Sequence[GeneralOutcome]) -> list[Point]:
    """Points whose mean is the mean over skills, as the paper averages over benchmarks.

    Worked example: 1 of 2 questions of one skill are right and 3 of 3 of another. The weights are 5/4 and 5/6, and the
    mean of 5/4, 0, 5/6, 5/6, 5/6 is ¾, that of ½ and 1, where 4 of 5 questions are right.
    """
    sizes = Counter(o.skill for o in outcomes)
    return [Point(o.seed, o.image, o.correct * len(outcomes) / len(sizes) / sizes[o.skill]) for o in outcomes]


def a7(qa: Sequence[GeneralOutcome], half: Sequence[GeneralOutcome]) -> Claim:
    """A7: of two models trained on equally many tasks, half of them puzzles or none, the first sees better elsewhere.

    The paper (section 4.3, Figure 4): 10K puzzles with 10K QA samples against 20K QA samples.

    Statistic, per seed and paired by image: general accuracy after training on half and half, minus after QA alone;
    both from one start, with as many tasks and as many episodes of each. Rule: above 0.

    Args:
        qa: outcomes of the models trained on questions alone, of each seed.
        half: outcomes of the models trained on questions and puzzles, of the same seeds.

    Raises:
        ValueError: other seeds, or other questions.
    """
    return STATED["A7"].claim(STATED["A7"].check("half", gained(mean_by_skill(qa), mean_by_skill(half))))


def a8(untrained: Sequence[GeneralOutcome], sft: Sequence[GeneralOutcome], grpo: Sequence[GeneralOutcome]) -> Claim:
    """A8: jigsaw RL improves general vision (Table 3, mean of nine benchmarks: 62.1 → 63.1 → 65.2 %).

    Statistics, per seed and paired by image: general accuracy after RL minus untrained, and minus after SFT: the paper
    credits RL with 2.1 of the 3.1 points, and recovering from a harmful cold start is no gain. Rule: both above 0.

    Args:
        untrained: outcomes of the untrained model, of one seed (it stands for all) or of each.
        sft: outcomes after the cold start, of each seed.
        grpo: outcomes after RL, of each seed.

    Raises:
        ValueError: other seeds, or other questions.
    """
    stages = on_every_seed({"untrained": untrained, "sft": sft, "grpo": grpo}, ("untrained",))
    cells = {name: mean_by_skill(some) for name, some in stages.items()}
    checks = (STATED["A8"].check(name, gained(cells[name], cells["grpo"])) for name in ("untrained", "sft"))
    means = ", ".join(f"{name} {np.mean([point.value for point in cell]):.3f}" for name, cell in cells.items())
    return STATED["A8"].claim(*checks, note=means)
