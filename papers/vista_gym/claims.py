"""Test VISTA-Gym's claims V1–V9 on outcomes of several seeds; :mod:`papers.claims` explains the verdicts.

What is tested, by which arms and within which margins is stated in ``claims.toml``, which says since when, and what
was stated otherwise before. Two trainings are compared on the seeds that both have; a stage without a
training seed (the base, asked directly or given tools) stands for every seed.

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
  to E3 together have to be halved at least; so have E4 and E6, each, where the untrained agent's calls reach a tool at
  all; E5 is told and decides nothing. Why: an agent that doesn't call makes none of E4 to E6, so they grow with
  calling; that was seen first: on an older test E4 rose from 0 to 0.409 of the questions. May change: V8, upwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kit.evaluate.intervals import Interval, Point, clustered_mean, contrast, proportion_over_seeds
from papers.claims import Claim
from papers.contrasts import apart, chosen, on_every_seed, points, shared_seeds
from papers.registered import registered
from papers.vista_gym.env import PRIOR
from papers.vista_gym.errors import ERRORS
from papers.vista_gym.metrics import Outcome
from papers.vista_gym.toolbox import TOOLS

STATED = registered("vista_gym")
"""What is tested: statements, checks, margins and numbers (``claims.toml``)."""

CLAIMS = STATED.statements
"""Id of a claim → its statement."""

FORM = ("E1", "E2", "E3")
"""V8: the kinds of errors of a call's form."""

UNSEEDED = ("direct", "untrained", "no_reasoning")
"""Stages that no training made: measured once, they stand for every seed."""

Some = Sequence[Outcome]


def _apart(**stages: Some) -> Interval:
    """How much more often the second of two stages is right than the first, by seed and paired by image."""
    return apart(stages, unseeded=UNSEEDED)


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
    """V1 (Table 3: 57.49 → 31.61): accuracy asked directly minus with tools.

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
    claim = STATED["V1"]
    return claim.claim(claim.check("cost", cost, _mute(untrained)))


def _mute(untrained: Some) -> str:
    """Why nothing can be told of an untrained agent: it never answers, so it can only be worse; empty: it does."""
    answered = sum(o.reason in ("solved", "wrong") for o in untrained)
    return "" if answered else f"0 of {len(untrained)} untrained episodes answered in the form"


def v2(direct: Some, sft: Some, grpo: Some, decided_sft: Some = ()) -> Claim:
    """V2 (Figure 4a: +3.46, then +10.19): the order of the policies, and cloning's own gain.

    Statistics: accuracy of the reinforced agent minus the cloned one's, and minus the base's; of an agent cloned from
    an expert that never gives up, minus the base's. The note has reinforcement's gain beside cloning's.

    Args:
        direct: outcomes of the base asked directly.
        sft: after cloning.
        grpo: after reinforcement.
        decided_sft: after cloning an expert that never gives up; without them nothing is judged.

    Raises:
        ValueError: one of them is empty, or they have no seed in common.
    """
    claim = STATED["V2"]
    if not decided_sft:
        return claim.claim(note="not run: decided_runs, of an expert that never gives up")
    over_sft, cloned = _apart(sft=sft, grpo=grpo), _apart(direct=direct, decided=decided_sft)
    return claim.claim(
        claim.check("over_sft", over_sft),
        claim.check("over_direct", _apart(direct=direct, grpo=grpo)),
        claim.check("cloning", cloned),
        note=f"cloning the expert that gives up gains {_apart(direct=direct, sft=sft)}",
    )


def v3(full: Some, no_tools: Some, no_reasoning: Some) -> Claim:
    """V3 (Table 2: 71.14, 63.66, 48.40 of InternVL3-8B): each minus the next.

    The second isn't testable where the untrained agent never answers: it can only be worse.

    Args:
        full: outcomes of the trained agent.
        no_tools: of *w/o Tools*: trained and asked to reason and answer, without tools.
        no_reasoning: of *w/o Reasoning*: the untrained model with tools and tool priors. Table 2's row is Table 3's
            "w/ T&R" in all its numbers, which is "without RL training".

    Raises:
        ValueError: one of them is empty, or they have no seed in common.
    """
    claim, last = STATED["V3"], _apart(no_reasoning=no_reasoning, no_tools=no_tools)
    return claim.claim(
        claim.check("tools", _apart(no_tools=no_tools, full=full)),
        claim.check("reasoning", last, _mute(no_reasoning)),
    )


def better(claim_id: str, ours: Some, **rivals: Some) -> Claim:
    """Check that a training is more accurate than each of its rivals: V4, V5, V7 and V9.

    ``better("V7", patch, grpo=grpo)`` asks whether the tail-patch lifted the agent.

    Args:
        claim_id: its short name.
        ours: outcomes that the claim favours.
        rivals: outcomes of the others, by the names of the claim's checks.

    Raises:
        papers.registered.RegisteredError: the claim states nothing of such a rival.
        ValueError: one of them is empty, or two have no seed in common.
    """
    claim = STATED[claim_id]
    checks = (claim.check(name, _apart(**{name: some, "ours": ours})) for name, some in rivals.items())
    return claim.claim(*checks, note=claim.note)


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
    others, claim = tuple(name for name in PRIOR if name != family), STATED["V6"]
    return claim.claim(
        claim.check("family", _elsewhere(f"outside of {family}", others, mixed, one_family)),
        claim.check("tool", _elsewhere(f"where {tool} doesn't help", foreign, mixed, one_tool)),
        note=f"the single family is {family}, the single tools are {tool}",
    )


def _elsewhere(where: str, families: Sequence[str], mixed: Some, single: Some) -> Interval:
    """How much more accurate mixed training is on questions of these families."""
    stages = {
        name: chosen(name, some, f"question {where}", lambda o: o.family in families)
        for name, some in {"single": single, "mixed": mixed}.items()
    }
    return _apart(**stages)


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


def called_share(outcomes: Some) -> Interval:
    """Share of all questions in whose episode a tool was asked, however it ended.

    Args:
        outcomes: of one stage, at least one.
    """
    return proportion_over_seeds([Point(o.seed, o.image, float(o.tool_calls > 0)) for o in outcomes])


def misdirected_share(outcomes: Some) -> Interval | None:
    """Of the episodes that asked a tool, the share that asked for the wrong thing (E4); None: none asked.

    Args:
        outcomes: of one stage.
    """
    asked = [Point(o.seed, o.image, float("E4" in o.errors.split())) for o in outcomes if o.tool_calls > 0]
    return proportion_over_seeds(asked) if asked else None


def _failed_by(outcomes: Some, *kinds: str) -> list[Point]:
    hit = (float(not o.correct and any(kind in o.errors.split() for kind in kinds)) for o in outcomes)
    return [Point(o.seed, o.image, failed) for o, failed in zip(outcomes, hit, strict=True)]


def v8(untrained: Some, grpo: Some) -> Claim:
    """V8 (Figure 6): of the questions that the untrained agent fails with an error of form (E1 to E3), at least half
    are no longer failed so; and of those with E4, and with E6, where its calls reach a tool.

    Statistic: share that fails so before, times the share that may be left, minus the share after. Not testable where
    no form was wrong before, for it can only be more; where the untrained agent hardly asks for a tool, for then its E1
    is silence, which ends with the first imitation; or where the trained agent hardly does: it can only be less. What
    became of the kinds that don't decide is told besides.

    Args:
        untrained: outcomes of the base given the tools.
        grpo: of the trained agent.

    Raises:
        ValueError: one of them is empty, or other questions.
    """
    stages = on_every_seed({"untrained": untrained, "grpo": grpo}, UNSEEDED)
    stages = {name: chosen(name, some, "question", lambda o: True) for name, some in stages.items()}
    claim, reached = STATED["V8"], sum(bool(o.ran) for o in untrained) / len(untrained)
    asked = sum(bool(o.tool_calls) or any(kind in o.errors.split() for kind in FORM) for o in grpo)
    why = ""
    if not _ever(untrained, *FORM):
        why = f"0 of {len(untrained)} untrained episodes failed by {FORM[0]} to {FORM[-1]}"
    elif (first := sum(bool(o.tool_calls) for o in untrained)) < claim.numbers["reach"] * len(untrained):
        why = f"{first} of {len(untrained)} untrained episodes ask for a tool: where none was called, no call was wrong"
    elif asked < claim.numbers["reach"] * len(grpo):
        why = f"{asked} of {len(grpo)} trained episodes ask for a tool: who asks for none makes no error of form"
    checks = [claim.check("form", _left(stages, *FORM), why)]
    counted = [kind for kind in ("E4", "E6") if reached >= claim.numbers["reach"] and _ever(untrained, kind)]
    checks += [claim.check(kind, _left(stages, kind)) for kind in counted]
    others = [kind for kind in ERRORS if kind not in (*FORM, *counted)]
    told = [f"{kind} {error_share(untrained, kind)} before, {error_share(grpo, kind)} after" for kind in others]
    note = f"a tool answered in {reached:.3f} of the untrained episodes; deciding nothing: {', '.join(told)}"
    return claim.claim(*checks, note=note)


def _ever(outcomes: Some, *kinds: str) -> bool:
    """Whether any question is failed by one of these kinds."""
    return any(point.value for point in _failed_by(outcomes, *kinds))


def _left(stages: Mapping[str, Some], *kinds: str) -> Interval:
    """What may be left of the questions failed by these kinds, minus what is."""
    cells = {stage: _failed_by(some, *kinds) for stage, some in stages.items()}
    return contrast(cells, {"untrained": STATED["V8"].numbers["most"], "grpo": -1.0})
