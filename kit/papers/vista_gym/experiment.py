"""VISTA-Gym's experiment, tied together: which tools, where they run, played how."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from kit.papers.vista_gym.env import VistaGymEnv
from kit.papers.vista_gym.toolbox import TOOLS, toolbox
from kit.rollout import Environment
from kit.tools.base import Tool
from kit.train.experiment import Rollouts

INPROCESS = "inprocess"
"""Where tools run that no service does."""


@contextmanager
def open_tools(where: str = INPROCESS, names: Iterable[str] = TOOLS) -> Iterator[Sequence[Tool]]:
    """Some of the tools, in this process or by a service; what an agent calls and reads is the same.

    Args:
        where: ``inprocess``, or the address of a service (``python -m kit tools serve``), such as
            ``http://127.0.0.1:8765``.
        names: of the tools; all of them if none are named.

    Raises:
        KeyError: no tool has that name.
        ValueError: ``where`` is neither.
    """
    tools = list(toolbox(names).values())
    if where == INPROCESS:
        yield tools
        return
    from kit.tools.serve.client import ToolService, remote

    service = ToolService(where)
    try:
        yield remote(tools, service)
    finally:
        service.close()


@dataclass(frozen=True)
class Play(Rollouts[Sequence[Tool]]):
    """Limits of an episode, and how questions are told. Defaults are the paper's: 3 turns in training, 26,780 tokens of
    response, temperature 0.7; a prompt of some thousand tokens more, with tools' schemas and images (ours).

    Attributes:
        prompt: ``brief`` or ``full`` (:data:`kit.papers.vista_gym.env.PROMPTS`; ours: brief for the tiny model).
        tool_first: order a call before the answer, as the paper's prompt does.
        prior: say which tools suit the task's family.
    """

    max_turns: int = 3
    max_new_tokens: int = 4096
    max_episode_tokens: int = 34972
    temperature: float = 0.7
    prompt: str = "full"
    tool_first: bool = False
    prior: bool = False

    def environment(self, tools: Sequence[Tool]) -> Environment:
        """Make an environment that offers these tools."""
        return VistaGymEnv(tools, self.prompt, self.tool_first, self.prior)
