"""The stamp of code: what changes it, what leaves it as it is, and what figures depend on."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from kit.files import ROOT
from kit.jobs.notebooks import Source, find
from kit.jobs.stale import stamp_of
from kit.jobs.stamp import Stamp, digest, stamp
from kit.papers.registry import find_paper

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


def stamped(project: Path) -> Stamp:
    return stamp([Source(project / "notebooks/percent/70_counting.py")], {"kit": project}, ["weights"])


def test_it_holds_what_the_notebook_imports_its_values_and_the_weights(project: Path) -> None:
    """A module imported in a function is in it; one for type checkers, one that only draws, and a card are not."""
    assert list(stamped(project)) == [
        "kit/__init__.py",
        "kit/count.py",
        "kit/deep/__init__.py",
        "kit/deep/inner.py",
        "notebooks/percent/70_counting.py",
        "notebooks/profiles/counting.yaml laptop 70",
        "weights/model.safetensors",
    ]


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
    before = stamped(project)
    text = (project / file).read_text()
    assert old in text
    (project / file).write_text(text.replace(old, new))
    assert stamped(project) == before and digest(stamped(project)) == digest(before)


@pytest.mark.parametrize(
    ("file", "old", "new", "named"),
    [
        ("kit/count.py", "range(dots)", "range(dots + 1)", "kit/count.py"),
        ("kit/deep/inner.py", "return 1", "return 2", "kit/deep/inner.py"),
        ("kit/deep/inner.py", "return 1", 'return "1"', "kit/deep/inner.py"),
        ("kit/deep/inner.py", "def step():", "def step(n=0):", "kit/deep/inner.py"),
        ("notebooks/percent/70_counting.py", "count(dots)", "count(dots) + 1", "notebooks/percent/70_counting.py"),
        ("notebooks/percent/70_counting.py", "= 3  #", "= 4  #", "notebooks/percent/70_counting.py"),
        ("notebooks/profiles/counting.yaml", "dots: 5", "dots: 6", "notebooks/profiles/counting.yaml laptop 70"),
        ("weights/model.safetensors", "numbers", "other numbers", "weights/model.safetensors"),
    ],
)
def test_what_may_change_a_figure_changes_one_hash(project: Path, file: str, old: str, new: str, named: str) -> None:
    before = stamped(project)
    text = (project / file).read_text()
    assert old in text
    (project / file).write_text(text.replace(old, new))
    after = stamped(project)
    assert [name for name in after if after[name] != before[name]] == [named] and digest(after) != digest(before)


def test_a_hash_is_of_the_tree_alone(project: Path) -> None:
    """The tree written by hand: another version of Python must not make every figure stale."""
    (project / "kit/deep/inner.py").write_text("def step():\n    return 1\n")
    constant = '["Return", ["value", ["Constant", ["value", "1"]]]]'
    function = f'["FunctionDef", ["args", ["arguments"]], ["body", [{constant}]], ["name", "\'step\'"]]'
    tree = f'["Module", ["body", [{function}]]]'
    assert stamped(project)["kit/deep/inner.py"] == sha256(tree.encode()).hexdigest()[:12]


@pytest.mark.parametrize("paper", ["agile", "visual_arft"])
def test_a_paper_s_figures_depend_on_its_loop_reward_and_claims_and_on_no_other_paper(paper: str) -> None:
    record = find_paper(paper)
    assert record.published is not None
    found = stamp_of(record, record.published.figures[0])
    other = {"agile": "visual_arft", "visual_arft": "agile"}[paper]
    for name in (
        "rollout.py",
        "train/grpo_trainer.py",
        "chat.py",
        f"papers/{paper}/reward.py",
        f"papers/{paper}/claims.py",
    ):
        assert f"kit/{name}" in found
    assert not [name for name in found if name.startswith(("kit/view/", "kit/jobs/", f"kit/papers/{other}/"))]
    assert "kit/tiny/weights/model.safetensors" in found and "kit/tiny/weights/README.md" not in found


def test_every_module_is_found_by_what_imports_it_and_not_by_a_list() -> None:
    """The files of a stamp exist, and none but the kit's own are in it."""
    [source] = find("13")
    found = stamp([source], {"kit": ROOT})
    assert all((ROOT / name.partition(" ")[0]).is_file() for name in found)
    assert all(name.startswith(("kit/", "notebooks/")) for name in found)
