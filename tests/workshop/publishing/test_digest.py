"""The digest of a results file: what changes it, what leaves it as it is, and what it covers."""

from __future__ import annotations

import ast
import shutil
from pathlib import Path

import pytest

from kit.files import ROOT
from papers.registry import PAPERS, find_paper
from workshop.jobs.notebooks import Source
from workshop.publishing.current import digest_of, source_of, training_digest, training_sources
from workshop.publishing.digest import (
    _plain,
    code_digest,
    digest,
    modules,
    notebook_tree,
    project_packages,
    weights_digest,
)

NOTEBOOK = """# %% [markdown]
# # 70 · Counting

# %% tags=["parameters"]
dots: int = 3  # how many

# %%
from kit.count import count
print("counting")
found = count(dots)

# %% tags=["exercise"]
answer = ...
check("70.1", answer)
"""

MODULES = {
    "kit/__init__.py": "",
    "kit/count.py": '''"""Count dots."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kit.typed import Dots


def count(dots: int) -> int:
    """Count them."""
    from kit.deep import step  # slow to import

    return sum(step() for _ in range(dots))
''',
    "kit/typed.py": "Dots = int\n",
    "kit/unused.py": "x = 1\n",
    "kit/deep/__init__.py": "from .inner import step\n",
    "kit/deep/inner.py": "from kit.view import draw\n\n\ndef step():\n    return 1\n",
    "kit/view/__init__.py": "def draw():\n    pass\n",
    "weights/model.safetensors": "numbers",
    "weights/README.md": "a card",
    "notebooks/percent/70_counting.py": NOTEBOOK,
    "notebooks/profiles/counting.yaml": "laptop: {70: {dots: 5}}\nsmoke: {70: {dots: 1}}\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in MODULES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def made(project: Path) -> str:
    return digest([Source(project / "notebooks/percent/70_counting.py")], {"kit": project}, ["weights"])


def test_it_covers_what_the_notebook_imports(project: Path) -> None:
    """A module imported in a function is covered; one for type checkers, and one that only draws, are not."""
    tree = notebook_tree(Source(project / "notebooks/percent/70_counting.py"))
    found = modules([tree], {"kit": project})
    assert sorted(found) == ["kit/__init__.py", "kit/count.py", "kit/deep/__init__.py", "kit/deep/inner.py"]


def test_it_covers_every_package_of_the_project(project: Path) -> None:
    """A package beside the kit, and one in ``packages/``, count as the kit does; another's doesn't."""
    for name in ("papers/__init__.py", "packages/sandbox/turn/__init__.py", "other/notes.py"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text("")
    homes = project_packages(project)
    assert homes == {"kit": project, "papers": project, "turn": project / "packages/sandbox"}
    tree = ast.parse("import papers, turn, other, json")
    assert sorted(modules([tree], homes)) == ["papers/__init__.py", "turn/__init__.py"]
    assert project_packages(ROOT)["kit"] == ROOT


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("kit/count.py", '"""Count them."""', '"""Say how many there are."""'),
        ("kit/count.py", '    """Count them."""\n', ""),
        ("kit/count.py", "# slow to import", "# late"),
        ("kit/count.py", "count(dots: int) -> int:", "count(dots):"),
        ("kit/count.py", "sum(step() for _ in range(dots))", "sum(\n        step() for _ in range(dots)\n    )"),
        ("kit/typed.py", "int", "float"),
        ("kit/view/__init__.py", "pass", "print(1)"),
        ("notebooks/percent/70_counting.py", 'print("counting")', 'print("counting dots")'),
        ("notebooks/percent/70_counting.py", 'print("counting")', "from kit.view import draw"),
        ("notebooks/percent/70_counting.py", "# # 70 · Counting", "# # 70 · Counting dots"),
        ("notebooks/percent/70_counting.py", "answer = ...", "answer = 3"),
        ("notebooks/profiles/counting.yaml", "dots: 1", "dots: 2"),
        ("weights/README.md", "a card", "another card"),
    ],
)
def test_what_changes_no_figure_leaves_it(project: Path, file: str, old: str, new: str) -> None:
    before = made(project)
    text = (project / file).read_text()
    assert old in text
    (project / file).write_text(text.replace(old, new))
    assert made(project) == before


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("kit/count.py", "range(dots)", "range(dots + 1)"),
        ("kit/deep/inner.py", "return 1", "return 2"),
        ("kit/deep/inner.py", "return 1", 'return "1"'),
        ("kit/deep/inner.py", "def step():", "def step(n=0):"),
        ("notebooks/percent/70_counting.py", "count(dots)", "count(dots) + 1"),
        ("notebooks/percent/70_counting.py", "= 3  #", "= 4  #"),
        ("notebooks/profiles/counting.yaml", "dots: 5", "dots: 6"),
        ("weights/model.safetensors", "numbers", "other numbers"),
    ],
)
def test_what_may_change_a_figure_changes_it(project: Path, file: str, old: str, new: str) -> None:
    before = made(project)
    text = (project / file).read_text()
    assert old in text
    (project / file).write_text(text.replace(old, new))
    assert made(project) != before


def test_a_notebook_and_weights_have_digests_of_their_own(project: Path) -> None:
    source = Source(project / "notebooks/percent/70_counting.py")
    before = code_digest(source), weights_digest(project / "weights")
    source.path.write_text(NOTEBOOK.replace("count(dots)", "count(dots) + 1"))
    (project / "weights/README.md").write_text("another card")
    assert code_digest(source) != before[0] and weights_digest(project / "weights") == before[1]
    (project / "weights/model.safetensors").write_text("other numbers")
    assert weights_digest(project / "weights") != before[1]


def test_it_is_of_the_tree_alone() -> None:
    """The tree written by hand: another version of Python must not make every figure stale."""
    constant = ["Return", ["value", ["Constant", ["value", "1"]]]]
    function = ["FunctionDef", ["args", ["arguments"]], ["body", [constant]], ["name", "'step'"]]
    assert _plain(ast.parse("def step():\n    return 1\n")) == ["Module", ["body", [function]]]


@pytest.mark.parametrize("paper", [name for name in sorted(PAPERS) if find_paper(name).published])
def test_a_paper_s_figures_depend_on_the_loop_and_its_claims_and_on_no_other_paper(paper: str) -> None:
    record = find_paper(paper)
    assert record.published is not None
    sources = [*training_sources(record), source_of(record, record.published.files[0].notebook)]
    found = modules([notebook_tree(source) for source in sources], project_packages(ROOT))
    wanted = ("kit/rollout.py", "kit/train/grpo_trainer.py", "kit/chat.py", f"papers/{paper}/claims.py")
    assert set(wanted) <= set(found)
    others = tuple(f"papers/{name}/" for name in PAPERS if name != paper)
    assert not [name for name in found if name.startswith(("kit/view/", "workshop/", *others))]
    assert digest_of(record, record.published.files[0]) != training_digest(record)


TELLS = (
    *(f"kit/evaluate/{name}.py" for name in ("accuracy", "intervals", "claims", "conduct", "results", "five/answers")),
    *(f"papers/codedance/{name}.py" for name in ("claims", "tables", "figures", "reported", "paper", "measured")),
    *(
        f"papers/{name}.py"
        for name in ("published", "published_outcomes", "registry", "contrasts", "registered", "played", "samples")
    ),
    *("kit/view/curves.py", "workshop/jobs/run.py", "notebooks/percent/34_codedance_claims.py"),
)
"""Files of which no training and no episode depends."""

TRAINS = (
    *(f"kit/{name}.py" for name in ("train/grpo", "train/sft", "rollout", "rewards/answers", "chat")),
    *(f"papers/codedance/{name}.py" for name in ("reward", "metrics", "expert", "env", "tasks", "experiment")),
    *("turn_sandbox/limits.py", "kit/evaluate/outcomes.py", "kit/evaluate/baselines.py", "kit/evaluate/calls.py"),
)
"""Some that they depend on."""


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """The project's code, in a place where it may be changed."""
    for top in ("kit", "papers", "workshop", "tiny", "pictures", "packages", "notebooks/percent", "notebooks/profiles"):
        shutil.copytree(ROOT / top, tmp_path / top, ignore=shutil.ignore_patterns("__pycache__", "weights"))
    return tmp_path


def sources_in(root: Path) -> list[Source]:
    """The notebooks that train a paper's runs, in a copy of the project."""
    return [Source(root / "notebooks/percent" / one.path.name) for one in training_sources(find_paper("codedance"))]


def changed(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_what_only_tells_leaves_the_digest_of_what_trains(copied: Path) -> None:
    """A run stands while statistics, claims, tables and pages change, and falls with a rule or a reward."""

    def trained() -> str:
        return digest(sources_in(copied), project_packages(copied), trains=True)

    before = trained()
    for file in TELLS:
        with (copied / file).open("a") as end:
            end.write("\nlater = 1\n")
    changed(copied / "kit/evaluate/outcomes.py", "len(outcomes)", "(1 + len(outcomes))")
    assert trained() == before
    for file, old, new in (
        ("papers/codedance/metrics.py", "answers_rightly(episode.answer", "not answers_rightly(episode.answer"),
        ("kit/evaluate/outcomes.py", '"wrong" if well_formed', '"solved" if well_formed'),
        ("papers/codedance/reward.py", "return ", "return 2 * "),
    ):
        text = (copied / file).read_text()
        changed(copied / file, old, new)
        assert trained() != before, file
        (copied / file).write_text(text)  # its digest is what it was: the next one is changed alone


def test_a_cell_that_only_draws_leaves_the_digest_of_what_trains(copied: Path) -> None:
    notebook = copied / "notebooks/percent/33_codedance_grpo.py"
    plain, homes = notebook.read_text(), project_packages(copied)

    def digests(more: str) -> list[str]:
        notebook.write_text(plain + more)
        return [digest(sources_in(copied), homes, trains=trains) for trains in (True, False)]

    trained, measured = digests("")
    assert digests('\n# %% tags=["guess", "figure"]\nshare = 1\n')[0] == trained
    assert digests('\n# %% tags=["figure"]\nshare = 1\n')[1] != measured
    assert digests('\n# %% tags=["guess"]\nshare = 1\n')[0] != trained


@pytest.mark.parametrize("source", [Source(path) for path in sorted((ROOT / "notebooks/percent").glob("[0-9]*.py"))])
def test_nothing_that_trains_rests_on_a_cell_that_only_draws(source: Source) -> None:
    """What such a cell binds is used by such cells alone, and by exercises."""
    every, training = (set(map(ast.unparse, notebook_tree(source, trains).body)) for trains in (False, True))
    bound: set[str] = set()
    for told in every - training:
        for node in ast.walk(ast.parse(told)):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                bound.add(node.name)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                bound.add(node.id)
    every_kept = [node for told in training for node in ast.walk(ast.parse(told))]
    kept = [node for node in every_kept if isinstance(node, ast.Name)]
    own = {node.id for node in kept if isinstance(node.ctx, ast.Store)}
    own |= {node.arg for node in every_kept if isinstance(node, ast.arg)}
    assert not (bound & {node.id for node in kept if isinstance(node.ctx, ast.Load)}) - own


def test_what_trains_and_judges_is_covered(copied: Path) -> None:
    trees, homes = [notebook_tree(source) for source in sources_in(copied)], project_packages(copied)
    covered = modules(trees, homes, trains=True)
    assert {*TRAINS} <= {*covered} and not {*TELLS} & {*covered}
    assert {*TRAINS} <= {*modules(trees, homes)}
    assert "len(turn.ids)" in ast.unparse(covered["kit/evaluate/outcomes.py"])
    changed(copied / "kit/evaluate/outcomes.py", "def source_image(", "def image_of(")
    with pytest.raises(ValueError, match="no source_image among what judges an episode"):
        modules(trees, homes, trains=True)
