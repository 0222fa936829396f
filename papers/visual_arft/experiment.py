"""Visual-ARFT's experiment in one place: which tasks, played how, with which tools, by which model.

The notebooks 21 to 24 share what is here; each piece it ties lives in its own module.

Departures
- [arft-kl] Paper: a KL term (equation 1); its release estimates it within the mean over tokens, with TRL's weight 0.04.
  Here: the same estimate and weight on ``gpu`` and ``node``, weight 0 on a laptop. Why: a few updates of the tiny model
  don't drift, and a second model costs memory. May change: long trainings, which the term holds back.
- [arft-steps] Paper: its release trains 10 epochs on coding and 400 on search, and reports steps 1,400 and 200. Here:
  ``node`` trains 1,400 batches, half of them search. Why: one training serves both. May change: search, trained longer.
- [arft-completion-length] Paper: its training scripts leave TRL's limit of 256 tokens a step. Here: as many as in its
  evaluation, 1,024 or 2,048 a turn. Why: a policy should be trained as it is measured. May change: long reasoning.
- [arft-em-search] Paper: Table 3 compares F1 with EM as the reward of search as well. Here: not run; ``reward=em`` and
  ``reward=steps_em`` train it. Why: the twenty search tasks have answers of one or two words. May change: R3 is about
  coding alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

from kit.chat import Chat
from kit.data.source import Split
from kit.episode import Episode, Task
from kit.evaluate.baselines import Mode, SingleTurnEnv
from kit.files import runs_folder
from kit.policy.hf import HFPolicy
from kit.policy.vllm_evaluation import evaluator
from kit.rewards.base import GroupReward, per_episode
from kit.rollout import rollout
from kit.tools.search import SNIPPET_CHARS, TOP_K, Search, SearchError, SearchTool, Snippet
from kit.train.experiment import GRPOTraining, Rollouts, keep_values, kept_values
from kit.train.experiment import play_greedily as play_greedily
from kit.train.processes import run_on_rank0
from papers.visual_arft import mat_coding
from papers.visual_arft.corpora import documents
from papers.visual_arft.countries import FLAG_QUERY
from papers.visual_arft.env import VisualARFTEnv
from papers.visual_arft.index import Index
from papers.visual_arft.invented import world
from papers.visual_arft.mat_coding import make_tasks as make_coding
from papers.visual_arft.mat_search import chains, passes
from papers.visual_arft.mat_search import task as as_task
from papers.visual_arft.reward import make_reward
from papers.visual_arft.serper import Serper
from pictures.photos import photos
from pictures.scenes import Pixels
from turn_sandbox import Sandbox

COUNTRIES = 200
"""Of an invented world: as many flags as there are real ones; among more, fewer can be told from all others."""


HOW = "play.json"
"""Beside a run's tasks: how they are told."""
KEPT = ("prompt", "k", "snippet_chars", "search")


TEST_SETS = {
    "coding": ("mat-coding", "coding-test"),
    "search": ("mat-search", "search-test"),
    "text": ("text-test",),
}
"""Setting → the sets that it can be tested on; the first that is there is."""


def cache() -> Path:
    """Return the folder in which indexes and the web's answers are saved, for all runs."""
    return runs_folder() / "cache"


def test_sets(data: Path) -> dict[str, Path]:
    """The file of the test tasks of each setting: ``coding``, ``search`` and ``text``.

    Where the folder holds the paper's own benchmark (``mat-coding.jsonl``, ``mat-search.jsonl``), it is the test.

    Args:
        data: a run's ``data`` folder, or one that ``data_scripts/visual_arft.py`` wrote.

    Raises:
        FileNotFoundError: a setting has no test tasks there; names it.
    """
    found = {}
    for setting, names in TEST_SETS.items():
        there = [path for name in names if (path := data / f"{name}.jsonl").is_file()]
        if not there:
            raise FileNotFoundError(
                f"{data}: no {' or '.join(f'{name}.jsonl' for name in names)}, the test tasks of {setting}; run "
                f"notebook 21 first: python -m kit run 21 --name {data.parent.name}"
            )
        found[setting] = there[0]
    return found


def watched_sets(data: Path) -> tuple[str, ...]:
    """The files of held-out tasks to look at while training: of coding the development set where there is one.

    Raises:
        FileNotFoundError: as :func:`test_sets`.
    """
    coding, search, _ = test_sets(data).values()
    development = data / "coding-development.jsonl"
    return str(development if development.is_file() else coding), str(search)


ENGINES = ("offline", "serper")
"""Names of search engines."""


def search_engine(name: str = "offline") -> Search:
    """``offline``: an index of the kit's documents; ``serper``: the web, with every answer kept.

    Raises:
        SearchError: there is no key for the web.
        ValueError: another name.
    """
    check_engine(name)
    return Serper(cache() / "serper.sqlite") if name == "serper" else Index(documents(), cache())


def check_engine(name: str) -> None:
    """Refuse a search engine that isn't of :data:`ENGINES`.

    Raises:
        ValueError: naming it and those there are.
    """
    if name not in ENGINES:
        raise ValueError(f"search={name!r}: choose {' or '.join(map(repr, ENGINES))}")


class IdleSearch:
    """A search engine for environments that are begun and not played."""

    def search(self, query: str, k: int = TOP_K) -> tuple[Snippet, ...]:
        """Nothing is asked of it.

        Raises:
            SearchError: it is asked.
        """
        raise SearchError(f"query={query!r}: this environment was made to check its first prompt, not to be played")


@dataclass(frozen=True)
class Tools:
    """The tools of an agent: a sandbox to run code in, a search engine, or both."""

    box: Sandbox | None = None
    search: Search | None = None


@dataclass(frozen=True)
class Play(Rollouts[Tools]):
    """Limits of an episode, and how tasks are told. Defaults: the released code's 5 turns, 4 snippets, 2,048 tokens;
    the whole episode's limit is ours, room for five such turns, what tools return and the images.

    Attributes:
        prompt: ``brief`` or ``full`` (:data:`papers.visual_arft.env.PROMPTS`; ours: brief for the tiny model).
        k: snippets of one search.
        snippet_chars: characters of one snippet (ours).
        search: which engine searches (:func:`search_engine`).
    """

    max_turns: int = 5
    max_new_tokens: int = 2048
    max_episode_tokens: int = 28192
    prompt: str = "full"
    k: int = TOP_K
    snippet_chars: int = SNIPPET_CHARS
    search: str = "offline"

    def __post_init__(self) -> None:
        super().__post_init__()
        SearchTool(IdleSearch(), self.k, self.snippet_chars)  # refuses what no search can show

    def keep(self, data: Path) -> None:
        """Write down how tasks are told and what searches show, beside the tasks: for all who play them later."""
        keep_values(self, KEPT, data / HOW)

    @classmethod
    def kept(cls, data: Path, **more: Any) -> Play:
        """Load what was written down there, with ``more`` (``max_turns``, ``max_new_tokens``, …).

        Raises:
            FileNotFoundError: nothing was; says which notebook does it.
        """
        return cls(**kept_values(data / HOW, 21), **more)

    def environment(self, tools: Tools) -> VisualARFTEnv:
        """Make an environment with these tools."""
        return VisualARFTEnv(tools.box, tools.search, self.prompt, k=self.k, snippet_chars=self.snippet_chars)

    def idle(self) -> Tools:
        """A sandbox that isn't started, and a search engine that looks nothing up; none that isn't known."""
        check_engine(self.search)
        return Tools(Sandbox(), IdleSearch())


@dataclass(frozen=True)
class Training(GRPOTraining):
    """GRPO on tasks for both tools, told in plain values.

    Attributes:
        reward: name of the reward (:func:`papers.visual_arft.reward.make_reward`).
        code: what code has to be to earn something, where each step is rewarded.
    """

    play: Play
    reward: str = "f1"
    code: str = "ran"

    def group_reward(self) -> GroupReward:
        """The reward of that name, episode by episode."""
        return per_episode(make_reward(self.reward, self.code))

    @contextmanager
    def tools(self) -> Iterator[Tools]:
        """Open a sandbox and the search engine; one process makes the index, which the others open."""
        with super().tools() as box:
            run_on_rank0(lambda: search_engine(self.play.search) is not None)
            yield Tools(box, search_engine(self.play.search))


def _pixels(split: Split) -> list[Pixels]:
    """The packaged photographs of one side, to put signs before."""
    return [np.asarray(photo.image) for photo in photos(split)]


def part_of_test(share: float) -> dict[str, int]:
    """A share of the paper's coding test tasks: of each category, at least one."""
    return {name: max(1, round(n * share)) for name, n in mat_coding.TEST.items()}


def coding_sets(seed: int, train: int = 100, test: float = 1.0, test_seed: int = 0) -> tuple[list[Task], list[Task]]:
    """MAT-Coding of the kit's own sheets: ``train`` tasks a category, and a share of the paper's 200 test tasks.

    The test has a seed of its own: runs that differ in ``seed`` are measured on the same tasks. Signs stand before
    photographs: of the training ones here, of the held-out ones there; handwritten digits are split as well.

    Args:
        seed: fixes the training tasks.
        train: training tasks a category.
        test: share of the paper's 200 test tasks.
        test_seed: fixes the test tasks.

    Raises:
        papers.visual_arft.mat_coding.MakingError: no sheet passes its check.
    """
    counts = part_of_test(test)
    return (
        make_coding(mat_coding.drawn(_pixels("train"), "train"), dict.fromkeys(counts, train), seed, "coding-train"),
        make_coding(mat_coding.drawn(_pixels("held-out"), "test", "test"), counts, test_seed, "coding-test"),
    )


def coding_demonstrations(n: int, seed: int) -> list[Task]:
    """``n`` sheets for an expert to mend and read.

    Raises:
        papers.visual_arft.mat_coding.MakingError: no sheet passes its check.
    """
    counts = {name: -(-n // len(mat_coding.CATEGORIES)) for name in mat_coding.CATEGORIES}
    return make_coding(mat_coding.drawn(_pixels("train"), "lesson"), counts, seed, "lesson-coding")[:n]


def search_demonstrations(n: int, seed: int) -> list[tuple[list[Task], Search]]:
    """``n`` questions about invented worlds for an expert to answer: those of each world, and what finds things in it.

    About one country each, Simple and Hard by turns: there is nothing in them to be learnt by heart. In each, what is
    wanted is found first of all (the tiny model can't compare descriptions: of several, it picks as by chance). One
    Simple question in three is in words; none about two facts is, so that how those go is never shown.
    """
    sets: list[tuple[list[Task], Search]] = []
    made = 0
    while made < n:
        rng = np.random.default_rng([seed, len(sets)])
        known, documents = world(COUNTRIES, rng)
        search = Index(documents, cache())
        tasks: list[Task] = []
        for country, about_it in groupby(chains(known), key=attrgetter("country")):
            if made == n:
                break
            some = [chain for chain in about_it if chain.hard == (made % 2 == 1)]
            chain = some[int(rng.integers(len(some)))]
            if passes(chain, search, known.texts, k=1):
                shown = None if made % 6 == 0 else known.flags[country]
                tasks.append(as_task(chain, shown, f"lesson-search-{made:03d}"))
                made += 1
        sets.append((tasks, search))
    return sets


DESCRIBE = {"brief": "What does the flag look like?", "full": "Describe the picture, to search for what it shows."}
"""What ``rag-described`` asks first; ``brief``: in the words by which the tiny model was taught to see flags."""
QUERIES = {"brief": f"{FLAG_QUERY} {{}}", "full": "{}"}
"""What it then searches for; ``brief``: under the heading by which the documents have flags, as the agent is taught."""


def ask(model: Any, chat: Chat, mode: Mode, search: Search | None, tasks: Sequence[Task], how: Play) -> list[Episode]:
    """Ask a model without tools: directly, to reason first, or with what a plain search finds.

    Args:
        model: a transformers model or its PEFT wrapper.
        chat: the model's chat encoder.
        mode: how to ask, such as ``direct``.
        search: finds documents for the modes that read some.
        tasks: the questions; with images, if these are to be described.
        how: limits of an episode and the prompt's name.
    """
    describe, query = (DESCRIBE[how.prompt], QUERIES[how.prompt]) if mode == "rag-described" else ("", "{}")

    def env() -> SingleTurnEnv:
        return SingleTurnEnv(
            mode, search, how.prompt, k=how.k, snippet_chars=how.snippet_chars, describe=describe, query=query
        )

    once = replace(how, max_turns=2 if describe else 1, temperature=0.0)
    return rollout(evaluator(HFPolicy(model, chat)), chat, tasks, env, once)
