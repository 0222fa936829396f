"""Papers by vLLM (``make test-vllm``): episodes are transformers', and every paper's smoke trains beside an engine.

For the first, the tiny model learns a few of the expert's episodes by heart, so that its turns end where the paper's
protocol says: prompts, stop strings, what tools show.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from places import HELPERS

from kit.chat import Chat
from kit.episode import Episode, Task
from kit.files import ROOT
from kit.policy.hf import HFPolicy, load_model_and_chat
from kit.policy.limits import ENGINE
from kit.policy.scripted import Script, ScriptedPolicy
from kit.policy.vllm import Engine, VLLMPolicy
from kit.train.experiment import Rollouts
from kit.train.metrics import read_metrics
from kit.train.sft import SFTSettings, train_sft
from papers.registry import papers
from tests.policy.test_vllm import VLLM_SETTINGS
from tiny import TINY
from workshop.jobs.notebooks import find, parameters

CASES = 4
LIMITS: dict[str, Any] = {"prompt": "brief", "temperature": 0.0}

Case = tuple[Rollouts[Any], Any, list[Task], Script]


def codedance() -> Case:
    """Computations over charts: ``</code>`` ends a turn."""
    from papers.codedance import experiment, expert, tasks

    play = experiment.Play(max_turns=4, max_new_tokens=72, **LIMITS)
    box = experiment.sandbox(allow_unsafe=True).start()
    return play, box, tasks.make_tasks({"chart_compute/hard": CASES}, 0), expert.expert()


def mags_rl() -> Case:
    """A card to be magnified: ``</think>`` ends a turn, around ``<zoom>``."""
    from papers.mags_rl import experiment, expert, tasks

    play = experiment.Play(max_new_tokens=160, **LIMITS)
    return play, experiment.magnifier(), tasks.make_tasks({"attribute/hard": CASES}, 0), expert.expert(1.0)


PAPERS: dict[str, tuple[Callable[[], Case], str]] = {
    "codedance": (codedance, "</code>"),
    "mags_rl": (mags_rl, "</think>"),
}


def learnt(folder: Path, shown: list[Episode], chat: Chat) -> Path:
    """A checkpoint that knows some episodes by heart."""
    settings = SFTSettings(epochs=60, batch_size=CASES, per_device_batch_size=CASES, learning_rate=1e-3)
    return train_sft(load_model_and_chat(TINY)[0], chat, shown, settings, folder)


@pytest.mark.parametrize("name", PAPERS)
def test_a_papers_episodes_are_the_same_as_transformers(name: str, tmp_path: Path) -> None:
    pytest.importorskip("vllm", reason="needs vLLM: make test-vllm")
    os.environ |= VLLM_SETTINGS | {"VLLM_ENABLE_V1_MULTIPROCESSING": "0"}
    make, stop = PAPERS[name]
    play, tools, tasks, script = make()
    chat = Chat.from_pretrained(TINY)
    shown = play(ScriptedPolicy(chat, script), chat, tools, tasks)
    folder = learnt(tmp_path, shown, chat)
    model, chat = load_model_and_chat(folder)
    ours = play(HFPolicy(model, chat), chat, tools, tasks)
    assert [e.answer for e in ours] == [e.answer for e in shown], "it was to know them by heart"
    assert all(stop in chat.decode(episode.turns[0].ids[-8:]) for episode in ours)
    assert any(t.observation and t.observation.images for episode in ours for t in episode.turns) == (name == "mags_rl")
    engine = Engine.load(folder, dtype="float32", enforce_eager=True, skip_mm_profiling=True, seed=0)
    theirs = play(VLLMPolicy(engine, chat), chat, tools, tasks)
    assert [e.ids for e in theirs] == [e.ids for e in ours]


def first_by_grpo(name: str) -> str:
    """The number of a paper's first notebook that lets one choose who samples in its training; empty: none does."""
    return next((source.number for source in find(name) if "rollout_engine" in parameters(source)), "")


@pytest.mark.parametrize("name", [name for name in papers() if first_by_grpo(name)])
def test_a_papers_smoke_trains_beside_a_colocated_engine(name: str, tmp_path: Path) -> None:
    """Its notebooks as they stand, to the first that trains by GRPO; evaluations are transformers', to be quick."""
    pytest.importorskip("vllm", reason="needs vLLM: make test-vllm")
    command = [sys.executable, "-m", "kit", "run", name, "--until", first_by_grpo(name), "--profile", "smoke"]
    path = os.pathsep.join([str(HELPERS / "vllm_cpu"), *filter(None, [os.environ.get("PYTHONPATH")])])
    where = {"KIT_RUNS": str(tmp_path), "PYTHONPATH": path, ENGINE: "transformers"}  # kernels start in other folders
    done = subprocess.run(
        [*command, "--set", "rollout_engine=colocate"],
        cwd=ROOT,
        env=os.environ | VLLM_SETTINGS | where,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    rows = [row for file in tmp_path.rglob("metrics.jsonl") for row in read_metrics(file)]
    weights = [row["importance_weight"] for row in rows if "importance_weight" in row]
    assert weights and weights == pytest.approx([1.0] * len(weights), abs=0.02), "what is sampled is what is trained"
