"""VISTA-Gym's experiment, tied together: which tools, where they run, played how, under which reward.

Departures
- [vista-batch] Paper: a mini-batch of 128, G = 8 rollouts an update; which of the two 128 counts isn't said, and in its
  framework they would be questions. Here: 128 rollouts of 16 questions, one update each. Why: appendix G.2 speaks of
  rollouts with a batch size of 128. May change: if questions are meant, an update rests on an eighth of the rollouts.
- [vista-micro-batch] Paper: a micro-batch of 8 a GPU of 141 GB. Here: of one episode, added up over the mini-batch.
  Why: 8 long episodes don't fit into 80 GB. May change: nothing but the time.
- [vista-greedy] Paper: training's temperature is 0.7; how evaluation samples isn't told. Here: whatever decides or
  stands beside the paper's numbers is played greedily, with training's number of turns; the cloned agent's samples on
  development questions are drawn at 0.7 on gpu and node (1.0 on a laptop), its tries for pass@k at 1.0. Why: of one
  answer a question luck is no part. May change: accuracy, either way, by what sampling costs an agent.
- [vista-all-weights] Paper: doesn't say which weights learn in reinforcement; the encoder is left unsharded. Here: all
  but the vision tower's, as in the released script for cloning, and FSDP2 divides it as the rest. Why: one choice for
  both stages. May change: an encoder that learns may see more.
- [vista-alone] Paper: *w/o Tools* takes tools away from training and inference, and reasons. Here: so does it, by a
  prompt of its own, cloned from an expert that sees the whole image and reasons without tools, under the same reward.
  Why: what it is cloned from isn't said. May change: on drawn questions it can only guess what its prompt hides.
- [vista-dapo] Paper: GRPO is compared with PPO and with DAPO, whose settings aren't given. Here: PPO isn't run; DAPO
  has its own paper's clip (0.2 and 0.28), dynamic sampling, mean over tokens, overlong shaping and no KL term, with
  GRPO's rate, batch and steps. Why: PPO needs a value model, and nothing else is told of DAPO. May change: with one
  update a batch every ratio is 1, so the wider clip does nothing; shaping acts within 4,096 tokens of the limit alone,
  where the laptop's episodes never are. An earlier figure was of a DAPO without dynamic sampling, clip and shaping.
- [vista-tail-patch] Paper: pass rates are those of the rollouts before the last checkpoint. Here: the trained policy
  tries each task anew. Why: a short training meets few tasks more than once. May change: the rates are a little newer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from kit.episode import Episode, Task
from kit.rewards.base import GroupReward
from kit.rollout import Environment
from kit.tools.base import Tool
from kit.train.experiment import GRPOTraining, Rollouts
from kit.train.experiment import play_greedily as play_greedily
from papers.vista_gym.env import ALONE, PRIOR, ReasoningEnv, VistaGymEnv
from papers.vista_gym.metrics import is_right
from papers.vista_gym.remembered import remembered
from papers.vista_gym.reward import make_reward
from papers.vista_gym.toolbox import TOOLS, toolbox

INPROCESS = "inprocess"
"""Where tools run that no service does."""
LEAST_PASSED, MOST_PASSED = 0.125, 0.375
"""Tail-patch: training goes on with tasks whose pass rate lies between these, both included (section 6.4)."""


@contextmanager
def open_tools(where: str = INPROCESS, names: Iterable[str] = TOOLS) -> Iterator[Sequence[Tool]]:
    """Some of the tools, of this process or of a service; what an agent calls and reads is the same.

    Here they remember: rollouts of one question ask alike, and a page takes most of a second to read. What isn't
    remembered is worked out in a process that ends at the call's deadline (:mod:`turn_sandbox.deadline`).

    Args:
        where: ``inprocess``, or the address of a service (``python -m kit tools serve``), such as
            ``http://127.0.0.1:8765``.
        names: of the tools; all of them if none are named.

    Raises:
        KeyError: no tool has that name.
        ValueError: ``where`` is neither.
        visual_tools.serve.client.ServiceError: no service answers there.
    """
    tools = list(toolbox(names).values())
    if where == INPROCESS:
        yield remembered(tools)
        return
    from visual_tools.serve.client import ToolService, remote

    service = ToolService(where)
    try:
        service.health()  # one that is gone is told now, not by every call of a training
        yield remote(tools, service)
    finally:
        service.close()


@dataclass(frozen=True)
class Play(Rollouts[Sequence[Tool]]):
    """Limits of an episode, and how questions are told. Defaults are the paper's: 3 turns in training and temperature
    0.7 (appendix G.2), 26,780 tokens of response (6.1), which three turns of ``max_new_tokens`` (ours) and two replies
    of tools fill; a prompt of some thousand tokens more, with tools' schemas and images (ours).

    Attributes:
        prompt: ``brief`` or ``full`` (:data:`papers.vista_gym.env.PROMPTS`; ours: brief for the tiny model); or
            ``brief-alone`` or ``full-alone``, which offer no tool (:data:`papers.vista_gym.env.ALONE`).
        tool_first: order a call before the answer, as the paper's prompt does.
        prior: say which tools suit the task's family.
        listed: name the tools in the prompt; ours: not to the tiny model, which learns them by heart.
    """

    max_turns: int = 3
    max_new_tokens: int = 8192
    max_episode_tokens: int = 34972
    max_response_tokens: int = 26780
    temperature: float = 0.7
    prompt: str = "full"
    tool_first: bool = False
    prior: bool = False
    listed: bool = True

    def environment(self, tools: Sequence[Tool]) -> Environment:
        """Make an environment that offers these tools, or none of them to an agent that is alone."""
        if self.prompt in ALONE:
            return ReasoningEnv(self.prompt)
        return VistaGymEnv(tools, self.prompt, self.tool_first, self.prior, listed=self.listed)

    def idle(self) -> Sequence[Tool]:
        """All tools, whose models are loaded by their first call: a prompt tells their schemas."""
        return list(toolbox().values())


def mixture(only: str = "") -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Read what is trained with: families of questions, and tools (figures 4d and 4e).

    ``mixture("maps")`` is questions of maps and all tools, ``mixture("easyocr.read")`` all families and one tool.

    Args:
        only: names of families, of tools, or of both, with commas between; none of a kind: all of it.

    Raises:
        ValueError: a name is neither a family's nor a tool's.
    """
    named = [name.strip() for name in only.split(",") if name.strip()]
    if unknown := [name for name in named if name not in PRIOR and name not in TOOLS]:
        raise ValueError(
            f"only={only!r}: {unknown[0]!r} is neither a family ({', '.join(PRIOR)}) nor a tool ({', '.join(TOOLS)})"
        )
    families, tools = (tuple(name for name in named if name in known) or tuple(known) for known in (PRIOR, TOOLS))
    return families, tools


@dataclass(frozen=True)
class Training(GRPOTraining):
    """GRPO on questions, told in plain values.

    Attributes:
        reward: name of the reward (:data:`papers.vista_gym.reward.REWARDS`).
        where: its tools run, as for :func:`open_tools`.
        offered: names of the tools that may be called in training.
    """

    play: Play
    reward: str = "format_aware"
    where: str = INPROCESS
    offered: tuple[str, ...] = tuple(TOOLS)

    def group_reward(self) -> GroupReward:
        """The reward of that name, group by group; it is the same without tools."""
        return make_reward(self.reward)

    def subset(self, task: Task) -> str:
        """The family: which tools an agent calls differs by it."""
        return str(task.meta.get("family", ""))

    @contextmanager
    def tools(self) -> Iterator[Sequence[Tool]]:
        """The tools that are offered."""
        with open_tools(self.where, self.offered) as tools:
            yield tools


def check_tries(tries: int, least: float = LEAST_PASSED, most: float = MOST_PASSED) -> int:
    """Check that so many tries of a question can show that it is hard but learnable; returns them.

    Args:
        tries: of each question.
        least: share of right ones in a question that is, at least.
        most: at most.

    Raises:
        ValueError: no share of that many tries lies between ``least`` and ``most``.
    """
    if not any(least <= right / tries <= most for right in range(1, tries)):
        raise ValueError(
            f"patch_tries={tries}: none of its shares lies from {least} to {most}; take 4, or no patch_steps"
        )
    return tries


def hard_but_learnable(
    episodes: Sequence[Episode], least: float = LEAST_PASSED, most: float = MOST_PASSED
) -> list[Task]:
    """Choose the tasks to go on with: those that a policy solves now and then (section 6.4).

    Args:
        episodes: the policy's tries, several of each task.
        least: share of a task's tries that are right, at least.
        most: at most.
    """
    tries: dict[str, list[Episode]] = {}
    for episode in episodes:
        tries.setdefault(episode.task.id, []).append(episode)
    passed = {name: sum(is_right(e, e.task.target) for e in some) / len(some) for name, some in tries.items()}
    return [some[0].task for name, some in tries.items() if least <= passed[name] <= most]
