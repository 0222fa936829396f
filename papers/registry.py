"""The registry of papers: everything that commands, pages and tests need to know of one is in its typed record.

A paper is added by one line in :data:`PAPERS`, or from a package outside the kit by an entry point in its
``pyproject.toml``::

    [project.entry-points."visual_agents_kit.papers"]
    your_own = "your_own.paper:PAPER"
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, fields
from importlib import import_module, metadata
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kit.files import ROOT
from papers.published import Published

if TYPE_CHECKING:
    from kit.environment import ToolEnv
    from kit.episode import Task
    from kit.evaluate.outcomes import Evaluation, Metrics
    from kit.policy.scripted import Script
    from kit.rewards.base import GroupReward
    from kit.rollout import RolloutConfig
    from papers.fidelity import Fidelity

PAPERS = {
    "agile": "papers.agile.paper:PAPER",
    "visual_arft": "papers.visual_arft.paper:PAPER",
    "codedance": "papers.codedance.paper:PAPER",
    "mags_rl": "papers.mags_rl.paper:PAPER",
    "vista_gym": "papers.vista_gym.paper:PAPER",
}
"""Paper's name → ``module:attribute`` of its record, imported when it is asked for."""

GROUP = "visual_agents_kit.papers"
"""The group of entry points by which other packages register papers."""

NOTEBOOKS = ROOT / "notebooks"


class PaperError(ValueError):
    """A paper that is unknown or whose registration is wrong."""


@dataclass(frozen=True)
class Golden:
    """Tasks that a script plays right, and what it plays them with: a paper tried without a model.

    Attributes:
        tasks: some of its makers', of every kind that is made in a moment.
        play: limits that the script keeps; a :class:`kit.train.experiment.Rollouts` makes the environments as well.
        script: plays them right.
        reward: what its training pays.
        tools: what its environments share.
        spoiled: a task that teaches nothing; None where the paper has no ``validate``.
    """

    tasks: Sequence[Task]
    play: RolloutConfig
    script: Script
    reward: GroupReward
    tools: Any = None
    spoiled: Task | None = None


@dataclass(frozen=True)
class Paper:
    """Record of a paper. Its parts are named by place, ``module:attribute``, and imported when they are asked for: a
    list of papers needs no torch.

    Attributes:
        name: the paper's name in the registry, in its notebooks' names, profile and results files.
        title: the paper's name for readers.
        summary: one sentence on its task.
        environment: place of its environment's class.
        evaluation: place of its :class:`kit.evaluate.outcomes.Evaluation`: outcomes, metrics, headlines and the numbers
            the paper reports, stage by stage.
        notebooks: names of its notebooks in order, each ``NN_NAME`` or ``NN_NAME_STAGE``.
        settings: notebook's name → place of the settings it makes of its parameters; for those that train.
        needs: notebook's name → file or folder of the run that it reads → number of the notebook that makes it. What it
            makes itself is kept by its branches (:func:`needs`).
        judges: folder of a run's side experiment, such as ``general`` → place of the rule by which its answers are
            right, as a function of an episode and its task's target. All else is judged by the evaluation's rule.
        claims: place of its claims, a mapping from id to statement; empty: it has none.
        finding: place of a function of a run's metrics, stage by stage, that answers the paper's own question in a
            sentence (empty where that was not measured); empty: it has none.
        published: how its published results are made; None: it has none that a command makes.
        fidelity: ``package:file`` of what the paper says and what became of it here (:mod:`papers.fidelity`);
            empty: it lists nothing, and has no part of docs/departures.md.
        validate: place of what tells of a task of its makers, and what its environments' tools share, why it teaches
            nothing; empty: it does. A script reaches the full reward with the tools, and where the task is called hard,
            what the prompt shows isn't enough. Its data script lets it look at every task that it writes.
        tools: place of the tools that it brings, a mapping from name to the place of a
            :class:`visual_tools.tool.PureTool`; empty: it brings none that can be called by themselves.
        limits: place of how its tasks are played: a :class:`kit.train.experiment.Rollouts`, made of a notebook's
            parameters, whose environment checks their values before a job; or a :class:`kit.rollout.RolloutConfig`
            alone, where the environment needs no argument.
        golden: place of a function that makes or opens a :class:`Golden`, by which ``tests/papers/test_contract.py``
            tries the promises that every paper makes.
        notebooks_dir: folder with ``percent/`` (sources) and ``profiles/``; ``results/`` lies beside it.
    """

    name: str
    title: str
    summary: str
    environment: str
    evaluation: str
    notebooks: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    needs: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    judges: Mapping[str, str] = field(default_factory=dict)
    claims: str = ""
    finding: str = ""
    fidelity: str = ""
    published: Published | None = None
    notebooks_dir: Path = NOTEBOOKS
    validate: str = ""
    tools: str = ""
    limits: str = "kit.rollout:RolloutConfig"
    golden: str = ""

    def __post_init__(self) -> None:
        """Check that the record agrees with itself.

        Raises:
            PaperError: a notebook isn't named after the paper, or settings or needs of a notebook that it
                does not list.
        """
        for notebook in self.notebooks:
            if not (notebook[:2].isdigit() and f"{notebook[2:]}_".startswith(f"_{self.name}_")):
                raise PaperError(
                    f"paper {self.name!r}: notebook {notebook!r}; name it NN_{self.name} or NN_{self.name}_STAGE"
                )
        made = self.published
        trained = [n for runs in made.runs.values() for n in runs.notebooks] if made else []
        measured = [figures.notebook for figures in made.files] if made else []
        for what, given in (
            ("settings", self.settings),
            ("needs", self.needs),
            ("published runs", trained),
            ("published figures", measured),
        ):
            if unknown := sorted(set(given) - set(self.notebooks)):
                raise PaperError(f"paper {self.name!r}: {what} of {unknown[0]!r}, which is none of its notebooks")

    def load_environment(self) -> Callable[..., ToolEnv]:
        """Import its environment's class.

        Raises:
            PaperError: it isn't where the record says.
        """
        made: Callable[..., ToolEnv] = self._load("environment")
        return made

    def load_limits(self) -> type[RolloutConfig]:
        """Import the class of its episodes' limits, which may make its environments as well.

        Raises:
            PaperError: it isn't where the record says.
        """
        found: type[RolloutConfig] = self._load("limits")
        return found

    def limits_of(self, values: Mapping[str, Any]) -> RolloutConfig:
        """Its episodes' limits, made of the parameters that are named like one of them.

        Args:
            values: of a notebook's parameters, by name.

        Raises:
            PaperError: they aren't where the record says.
            ValueError: a value that they refuse.
        """
        limits = self.load_limits()
        return limits(**{field.name: values[field.name] for field in fields(limits) if field.name in values})

    def load_validate(self) -> Callable[[Task, Any], str] | None:
        """Import what tells why a task teaches nothing; None: the paper has no such check.

        Raises:
            PaperError: it isn't where the record says.
        """
        found: Callable[[Task, Any], str] | None = self._load("validate") if self.validate else None
        return found

    def load_tools(self) -> Mapping[str, str]:
        """Import its list of tools: name → place of the class.

        Raises:
            PaperError: it isn't where the record says.
        """
        found: Mapping[str, str] = self._load("tools") if self.tools else {}
        return found

    def load_evaluation(self) -> Evaluation[Any]:
        """Import its evaluation.

        Raises:
            PaperError: it isn't where the record says, or is another paper's.
        """
        found: Evaluation[Any] = self._load("evaluation")
        if found.paper != self.name:
            raise PaperError(f"paper {self.name!r}: its evaluation is of {found.paper!r}; give both one name")
        return found

    def open_golden(self) -> AbstractContextManager[Golden]:
        """Open what plays some of its tasks right, without a model.

        Raises:
            PaperError: it isn't where the record says.
        """
        made: Golden | AbstractContextManager[Golden] = self._load("golden")()
        return nullcontext(made) if isinstance(made, Golden) else made

    def load_claims(self) -> Mapping[str, str]:
        """Import its claims: id → statement.

        Raises:
            PaperError: they aren't where the record says.
        """
        found: Mapping[str, str] = self._load("claims") if self.claims else {}
        return found

    def tell(self, stages: Mapping[str, Metrics]) -> str:
        """Answer the paper's own question in a sentence; empty where that was not measured.

        Args:
            stages: stage → metrics.

        Raises:
            PaperError: what tells it isn't where the record says.
        """
        return str(self._load("finding")(stages)) if self.finding else ""

    def load_fidelity(self) -> Fidelity:
        """Read the list of what the paper says.

        Raises:
            PaperError: it isn't where the record says.
        """
        from papers.fidelity import Fidelity

        package, _, name = self.fidelity.partition(":")
        try:
            return Fidelity.load(Path(str(files(package))) / name)
        except (ImportError, OSError, ValueError) as error:
            raise PaperError(f"paper {self.name!r}: {self.fidelity!r} can't be read: {error}") from error

    def _load(self, part: str) -> Any:
        return self._resolved(part, getattr(self, part))

    def _resolved(self, part: str, place: str) -> Any:
        try:
            return _resolve(place)
        except (ImportError, AttributeError, ValueError) as error:
            raise PaperError(f"paper {self.name!r}: its {part} can't be loaded from {place!r}: {error}") from error

    def load_judge(self, training: str) -> Callable[[Any, Any], bool] | None:
        """Import the rule by which answers of a training are right; None for a side experiment that has none.

        Args:
            training: its folder within the run: ``grpo``, or ``general/half`` of a side experiment.

        Raises:
            PaperError: it isn't where the record says.
        """
        part, nested, _ = training.partition("/")
        if part in self.judges:
            judge: Callable[[Any, Any], bool] = self._resolved(f"judge of {part!r}", self.judges[part])
            return judge
        return None if nested else self.load_evaluation().is_right

    def settings_of(self, notebook: str) -> type | None:
        """The settings class of a training notebook; None if it does not train."""
        return _resolve(self.settings[notebook]) if notebook in self.settings else None


def papers() -> dict[str, Paper]:
    """All registered papers by name: the kit's, then those of installed packages.

    Raises:
        PaperError: an entry is registered twice, can't be imported, or is not a :class:`Paper` of that name.
    """
    entries = dict(PAPERS)
    origin = dict.fromkeys(entries, "papers.registry.PAPERS")
    for point in metadata.entry_points(group=GROUP):
        where = f"entry point {point.name} = {point.value!r}" + (f" of {point.dist.name}" if point.dist else "")
        if entries.get(point.name, point.value) != point.value or point.name in PAPERS:
            raise PaperError(
                f"{where}: {origin[point.name]} already registers paper {point.name!r}; choose another name"
            )
        entries[point.name], origin[point.name] = point.value, where
    return {name: _load(name, target, origin[name]) for name, target in entries.items()}


def find_paper(name: str) -> Paper:
    """The paper of a name.

    Raises:
        PaperError: no such paper, or an entry of the registry is broken.
    """
    known = papers()
    if name not in known:
        raise PaperError(f"no paper {name!r} is registered: there are {', '.join(known)}; see papers.registry")
    return known[name]


def paper_of(notebook: str) -> Paper | None:
    """The paper that lists a notebook (``13_paper_grpo``) as its own; None if none does.

    Raises:
        PaperError: an entry of the registry is broken.
    """
    return next((paper for paper in papers().values() if notebook in paper.notebooks), None)


def needs(notebook: str, own: bool = False) -> dict[str, int]:
    """Files and folders of a run that a notebook reads → number of the notebook that makes each, by its paper's record.

    Args:
        notebook: its name, such as ``13_paper_grpo``.
        own: those that it makes itself, too, which a branch keeps.

    Raises:
        PaperError: no paper lists the notebook, or an entry of the registry is broken.
    """
    paper = paper_of(notebook)
    if paper is None:
        raise PaperError(f"notebook {notebook!r} is none of a registered paper's; see papers.registry")
    mine = int(notebook[:2])
    return {path: made for path, made in paper.needs.get(notebook, {}).items() if own or made != mine}


def published(root: Path = ROOT) -> dict[str, Mapping[str, Any] | None]:
    """Read the committed results file of every paper whose claims are tested; None where nothing was measured yet."""
    from papers.results import read_results

    homes = {
        name: root if paper.notebooks_dir == NOTEBOOKS else paper.notebooks_dir.parent
        for name, paper in papers().items()
        if paper.claims
    }
    return {name: read_results(home / "results" / f"{name}.json") for name, home in homes.items()}


def _resolve(target: str) -> Any:
    module, _, attribute = target.partition(":")
    return getattr(import_module(module), attribute)


def _load(name: str, target: str, origin: str) -> Paper:
    try:
        paper = _resolve(target)
    except (ImportError, AttributeError, ValueError) as error:
        raise PaperError(f"{origin}: paper {name!r} can't be loaded from {target!r}: {error}") from error
    if not isinstance(paper, Paper):
        raise PaperError(f"{origin}: {target!r} is a {type(paper).__name__}; register a papers.registry.Paper")
    if paper.name != name:
        raise PaperError(f"{origin}: {target!r} is the paper {paper.name!r}; register it under that name, not {name!r}")
    return paper
