"""Test VISTA-Gym's claims V1–V9 on outcomes of several seeds; :mod:`kit.evaluate.claims` explains the verdicts.

The limits here were fixed before anything was measured; V3's arms became the paper's own later, V4's DAPO whole, and
V8 two checks. Two trainings are compared on the seeds that both have; a stage without a training seed (the base, asked
directly or given tools) stands for every seed.

Departures
- [vista-single] Paper: single tasks are ChartQA and UniGeo, the single kind of tools those that understand charts,
  with ChartMoE as the example. Here: node trains on charts, with all fourteen tools of appendix B's chart layer, and
  figures are of other families' questions; on a laptop maps and ``easyocr.read`` take their place. Why: the laptop's
  agents answer no question of charts that needs a tool, whatever they are trained on, which was seen before maps were
  chosen. May change: V6, on which families are told apart.
- [vista-deciding] Paper: compared are means over the eleven benchmarks, or single ones of them. Here: where all arms of
  a claim played the benchmarks, all their questions decide it together, each counting once; V7 and V8, and every claim
  where no benchmarks were at hand, are decided on drawn questions. Why: a check is paired by image; the tail-patched
  agent doesn't play 12,310 questions more; E4 and E6 can be told where right calls are known. May change: large
  benchmarks weigh more, and what is decided on drawn questions is of those alone.
- [vista-halved] Paper: training resolves the majority of failures of calls and of reasoning, all kinds alike. Here: E1
  to E3 together, and E6, have to be halved at least; E4 and E5 are told and decide nothing. Why: an agent that doesn't
  call makes neither, so both grow with calling; that was seen first, E4 rose from 0 to 0.409 of the questions. May
  change: V8, upwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kit.evaluate.claims import Check, Claim
from kit.evaluate.intervals import Interval, Point, clustered_mean, contrast, proportion_over_seeds
from papers.contrasts import chosen, difference, on_every_seed, points, shared_seeds
from papers.vista_gym.env import PRIOR
from papers.vista_gym.errors import ERRORS
from papers.vista_gym.metrics import Outcome
from papers.vista_gym.toolbox import TOOLS

CLAIMS = {
    "V1": "tools given to an untrained model lower its accuracy",
    "V2": "cloning helps a little, reinforcement much more",
    "V3": "the full agent beats one that reasons without tools, and that one the untrained model with tools and priors",
    "V4": "GRPO is more accurate than DAPO with all its parts",
    "V5": "the sparse reward that sees the form beats its three rivals",
    "V6": "mixed tasks and mixed tools carry over to other questions, single ones don't",
    "V7": "going on with hard but learnable questions lifts a converged policy",
    "V8": "training at least halves the calls in a wrong form (E1 to E3), and the wrong use of what tools say (E6)",
    "V9": "longer rationales of the expert give a better start",
}
"""Id of a claim → its statement."""

MOST = 0.5
"""V8: the share of the errors that has to go."""
HALVED = {"E1 to E3": ("E1", "E2", "E3"), "E6": ("E6",)}
"""V8: the kinds that decide it, a check each; of the others it tells the shares."""

UNSEEDED = ("direct", "untrained", "no_reasoning")
"""Stages that no training made: measured once, they stand for every seed."""

Some = Sequence[Outcome]


def _difference(name: str, **stages: Some) -> Check:
    """Check that the second of two stages is right more often than the first, by seed and paired by image."""
    return difference(name, stages, unseeded=UNSEEDED)


def macro_average(**stages: Some) -> Interval:
    """Mean over families of the share that is right, whatever their sizes; of two stages, the second minus the first.

    ``macro_average(sft=before, grpo=after)`` is reinforcement's gain over seven families.

    Args:
        stages: one or two stages' outcomes, by name.

    Raises:
        ValueError: a stage is empty or lacks a family, or two have no seed in common.
    """
    shared = shared_seeds(stages, UNSEEDED)
    families = sorted({o.family for some in shared.values() for o in some})
    signs = dict(zip(shared, (-1.0, 1.0) if len(shared) == 2 else (1.0,), strict=True))
    cells = {
        (name, family): points([o for o in some if o.family == family], "correct")
        for name, some in shared.items()
        for family in families
    }
    return contrast(cells, {(name, family): signs[name] / len(families) for name, family in cells})


def v1(direct: Some, untrained: Some) -> Claim:
    """V1 (Table 3: 57.49 → 31.61): accuracy asked directly minus with tools, above 0.

    Not testable where the untrained agent never answers: it can only be worse.

    Args:
        direct: outcomes of the base asked directly.
        untrained: of the base given the tools.

    Raises:
        ValueError: none of the questions was asked both ways.
    """
    with_tools = {o.task: o.correct for o in chosen("untrained", untrained, "question", lambda o: True)}
    pairs = [(o.image, o.correct - with_tools[o.task]) for o in direct if o.task in with_tools]
    if not pairs:
        raise ValueError(f"no question in common among {len(direct)} asked directly and {len(untrained)} with tools")
    cost = clustered_mean([lost for _, lost in pairs], [image for image, _ in pairs], 1.0)  # no training: no seeds
    check = Check("accuracy that tools cost", cost, 0.0, untestable=_mute(untrained))
    return Claim("V1", CLAIMS["V1"], (check,))


def _mute(untrained: Some) -> str:
    """Why nothing can be told of an untrained agent: it never answers, so it can only be worse; empty: it does."""
    answered = sum(o.reason in ("solved", "wrong") for o in untrained)
    return "" if answered else f"0 of {len(untrained)} untrained episodes answered in the form"


def v2(direct: Some, sft: Some, grpo: Some) -> Claim:
    """V2 (Figure 4a: +3.46, then +10.19): both gains above 0, and reinforcement's above cloning's.

    Args:
        direct: outcomes of the base asked directly.
        sft: after cloning.
        grpo: after reinforcement.

    Raises:
        ValueError: one of them is empty, or they have no seed in common.
    """
    stages = on_every_seed({"direct": direct, "sft": sft, "grpo": grpo}, UNSEEDED)
    cells = {name: points(some, "correct") for name, some in stages.items()}
    more = contrast(cells, {"direct": 1.0, "sft": -2.0, "grpo": 1.0})
    checks = (
        _difference("gain of cloning", direct=direct, sft=sft),
        _difference("gain of reinforcement", sft=sft, grpo=grpo),
        Check("reinforcement's gain minus cloning's", more, 0.0),
    )
    return Claim("V2", CLAIMS["V2"], checks)


def v3(full: Some, no_tools: Some, no_reasoning: Some) -> Claim:
    """V3 (Table 2: 71.14, 63.66, 48.40 of InternVL3-8B): each above the next.

    The second isn't testable where the untrained agent never answers: it can only be worse.

    Args:
        full: outcomes of the trained agent.
        no_tools: of *w/o Tools*: trained and asked to reason and answer, without tools.
        no_reasoning: of *w/o Reasoning*: the untrained model with tools and tool priors. Table 2's row is Table 3's
            "w/ T&R" in all its numbers, which is "without RL training".

    Raises:
        ValueError: one of them is empty, or they have no seed in common.
    """
    last = _difference("without tools minus without reasoning", no_reasoning=no_reasoning, no_tools=no_tools)
    checks = (
        _difference("full minus without tools", no_tools=no_tools, full=full),
        replace(last, untestable=_mute(no_reasoning)),
    )
    return Claim("V3", CLAIMS["V3"], checks)


NOTES = {
    "V5": "the difficulty-scaled reward is the same as ours where a group's advantages are divided by their deviation"
}
"""Id of a claim → what has to be known of it; V5's: why GRPO has two rivals, not three (notebook 54 shows it)."""


def better(claim: str, ours: Some, **rivals: Some) -> Claim:
    """Check that a training is more accurate than each of its rivals: V4, V5, V7 and V9.

    ``better("V7", patch, grpo=grpo)`` asks whether the tail-patch lifted the agent.

    Args:
        claim: id.
        ours: outcomes that the claim favours.
        rivals: outcomes of the others, by name.

    Raises:
        ValueError: one of them is empty, or two have no seed in common.
    """
    checks = (_difference(f"accuracy minus {name}'s", **{name: some, "ours": ours}) for name, some in rivals.items())
    return Claim(claim, CLAIMS[claim], tuple(checks), NOTES.get(claim, ""))


def v6(mixed: Some, one_family: Some, one_tool: Some, family: str, tool: str) -> Claim:
    """V6 (Figures 4d and 4e): where a single family, or tools of a single kind, are no help, mixed training is better.

    Measured are questions of the other families, and of families that none of the tools suits
    (:data:`papers.vista_gym.env.PRIOR`).

    Args:
        mixed: outcomes of the agent that was trained on all families, with all tools.
        one_family: of one that was trained on one family.
        one_tool: of one that was offered some tools in training.
        family: that family.
        tool: those tools, one or several with commas between.

    Raises:
        ValueError: no such family or tool, no such questions, or no seed in common.
    """
    some = {name.strip() for name in tool.split(",")}
    if unknown := sorted({family} - {*PRIOR} | some - {*TOOLS}):
        raise ValueError(f"{unknown[0]!r}: choose a family of {', '.join(PRIOR)}, and tools of {', '.join(TOOLS)}")
    foreign = tuple(name for name, tools in PRIOR.items() if not some & {*tools})
    checks = (
        _elsewhere(f"outside of {family}", tuple(name for name in PRIOR if name != family), mixed, one_family),
        _elsewhere(f"where {tool} doesn't help", foreign, mixed, one_tool),
    )
    return Claim("V6", CLAIMS["V6"], checks)


def _elsewhere(where: str, families: Sequence[str], mixed: Some, single: Some) -> Check:
    """Check that mixed training is the more accurate on questions of these families."""
    stages = {
        name: chosen(name, some, f"question {where}", lambda o: o.family in families)
        for name, some in {"single": single, "mixed": mixed}.items()
    }
    return _difference(f"accuracy {where}, mixed minus single", **stages)


def error_share(outcomes: Some, kind: str) -> Interval:
    """Share of all questions that an agent fails with an error of this kind.

    Args:
        outcomes: of one stage, at least one.
        kind: a key of :data:`papers.vista_gym.errors.ERRORS`.
    """
    return proportion_over_seeds(_failed_by(outcomes, kind))


def no_call_share(outcomes: Some) -> Interval:
    """Share of all questions that an agent fails without any call: none of the six errors, since no tool was asked.

    Args:
        outcomes: of one stage, at least one.
    """
    failed = (float(not o.correct and not o.errors and not o.tool_calls) for o in outcomes)
    return proportion_over_seeds([Point(o.seed, o.image, f) for o, f in zip(outcomes, failed, strict=True)])


def _failed_by(outcomes: Some, *kinds: str) -> list[Point]:
    hit = (float(not o.correct and any(kind in o.errors.split() for kind in kinds)) for o in outcomes)
    return [Point(o.seed, o.image, failed) for o, failed in zip(outcomes, hit, strict=True)]


def v8(untrained: Some, grpo: Some) -> Claim:
    """V8 (Figure 6): of the questions that the untrained agent fails with an error E1 to E3, and of those that it fails
    with E6, at least half are no longer failed so; what became of E4 and E5 is told besides.

    Statistic: share that fails so before, times :data:`MOST`, minus the share after; above 0. Not testable where there
    was none before: it can only be more.

    Args:
        untrained: outcomes of the base given the tools.
        grpo: of the trained agent.

    Raises:
        ValueError: one of them is empty, or other questions.
    """
    stages = on_every_seed({"untrained": untrained, "grpo": grpo}, UNSEEDED)
    stages = {name: chosen(name, some, "question", lambda o: True) for name, some in stages.items()}
    checks = tuple(_halved(name, kinds, untrained, stages) for name, kinds in HALVED.items())
    others = [kind for kind in ERRORS if not any(kind in kinds for kinds in HALVED.values())]
    told = [f"{kind} {error_share(untrained, kind)} before, {error_share(grpo, kind)} after" for kind in others]
    return Claim("V8", CLAIMS["V8"], checks, f"deciding nothing: {', '.join(told)}")


def _halved(name: str, kinds: Sequence[str], untrained: Some, stages: Mapping[str, Some]) -> Check:
    """Check that half of the questions failed by these kinds before, or more, no longer are."""
    cells = {stage: _failed_by(some, *kinds) for stage, some in stages.items()}
    some = any(point.value for point in _failed_by(untrained, *kinds))
    why = "" if some else f"0 of {len(untrained)} untrained episodes failed by {name}"
    left = contrast(cells, {"untrained": MOST, "grpo": -1.0})
    return Check(f"half of {name} before, minus those after", left, 0.0, untestable=why)
