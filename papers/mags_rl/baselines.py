"""The paper's baselines (section 4.1, Table 1): the same model prompted, without being trained to look.

===============  =========================================================================================
name             what the model is given
===============  =========================================================================================
``direct``       image and question, asked for the answer alone (:class:`kit.evaluate.baselines.SingleTurnEnv`)
``cot``          the same, asked to reason first
``one_shot``     before them another image with its question and answer (:func:`with_example`)
``zoom_refine``  asked for one part, which comes back plainly resized, then for the answer (:func:`one_part`)
``grit``         boxes within the reasoning, and nothing is cropped (:func:`no_crops`)
===============  =========================================================================================

The first three are asked of the base in its own words. The other two need the form of a first round, so they are asked
of the policy that reinforcement starts from: what it can do by its form alone.

Departures
- [mags-baselines] Paper: Zoom-Refine and GRIT are built upon the same base model; how they are asked, and whether GRIT
  is trained, isn't told. Here: each is the agent's own environment with one thing changed: one part, plainly resized;
  or no crop at all. Why: what differs is then what is compared, and a tiny model follows no long prompt. May change:
  how far these two lie below the agent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from kit.chat import Chat
from kit.environment import ToolEnv
from kit.episode import Episode, NamedImage, Observation, Task
from kit.evaluate.baselines import Mode, SingleTurnEnv
from kit.evaluate.five.shown import Around, ShownEnv
from kit.evaluate.outcomes import source_image
from kit.policy import Policy
from kit.policy.vllm_evaluation import evaluator
from kit.rollout import rollout
from kit.train.experiment import in_parts
from papers.mags_rl.env import Stage
from papers.mags_rl.experiment import Play
from papers.mags_rl.format_start import AT_ONCE


def with_example(task: Task, examples: Sequence[Task]) -> Task:
    """Put a solved example before a task: its image, its question and its answer.

    Args:
        task: the task; it is asked in one turn.
        examples: the first one of the task's skill is shown, else the first one; never one about its image.

    Raises:
        ValueError: no example about another image.
    """
    others = [one for one in examples if source_image(one) != source_image(task)]
    if not others:
        raise ValueError(f"task {task.id}: one shot needs an example about another image; give some training tasks")
    one = next((one for one in others if one.meta.get("skill") == task.meta.get("skill")), others[0])
    images = (NamedImage("example", one.images[0].image), *task.images)
    asked = f"example: {one.question} {one.target[0]}. {task.images[0].name}: {task.question}"
    return replace(task, images=images, question=asked, originals=())


def one_part(env: ToolEnv) -> ShownEnv:
    """Show the first part alone, whatever else was asked for."""
    return ShownEnv(env, lambda task, number, own: replace(own, images=own.images[:1]))


def no_crops(env: ToolEnv) -> ShownEnv:
    """Show no part at all: the boxes stand in the reasoning, and the question is put again."""
    return ShownEnv(env, _without_images)


def _without_images(task: Task, number: int, own: Observation) -> Observation:
    return replace(own, images=())


ONE_TURN: Mapping[str, Mode] = {"direct": "direct", "cot": "cot", "one_shot": "direct"}
"""Baselines of one turn → how they are asked."""

TWO_ROUNDS: Mapping[str, tuple[Stage, Around]] = {"zoom_refine": (1, one_part), "grit": (2, no_crops)}
"""Those that have the agent's rounds → the stage whose prompt they have, and what is changed."""

BASELINES = (*ONE_TURN, *TWO_ROUNDS)


def check_baselines(names: Sequence[str]) -> None:
    """Refuse baselines that there aren't, and one that is named twice.

    Raises:
        ValueError: naming them and :data:`BASELINES`.
    """
    if wrong := [name for name in dict.fromkeys(names) if name not in BASELINES or names.count(name) > 1]:
        raise ValueError(f"baselines={', '.join(wrong)}: choose among {', '.join(BASELINES)}, each once")


def ask(
    name: str, play: Play, policy: Policy, chat: Chat, tasks: Sequence[Task], examples: Sequence[Task] = ()
) -> list[Episode]:
    """Ask a baseline, greedily.

    Args:
        name: of :data:`BASELINES`.
        play: how the agent plays; its limits and its system text are the baseline's.
        policy: the model that is prompted.
        chat: its encoder.
        tasks: the questions.
        examples: solved ones, for ``one_shot``.

    Raises:
        ValueError: an unknown baseline, or ``one_shot`` without an example about another image.
    """
    check_baselines((name,))
    if name in TWO_ROUNDS:
        stage, around = TWO_ROUNDS[name]
        how = replace(play, stage=stage, network="bicubic", temperature=0.0)
        glass = how.glass(chat)
        return in_parts(tasks, lambda some: how(policy, chat, glass, some, around=around), AT_ONCE)
    once = replace(play, max_turns=1, temperature=0.0)
    make_env = partial(SingleTurnEnv, ONE_TURN[name], prompt=play.prompt)
    asked = [with_example(task, examples) for task in tasks] if name == "one_shot" else tasks
    return in_parts(asked, lambda some: rollout(evaluator(policy), chat, some, make_env, once), AT_ONCE)
