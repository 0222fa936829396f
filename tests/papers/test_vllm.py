"""A paper's episodes in vLLM are transformers': prompts, stop strings, what tools show (``make test-vllm``).

The tiny model learns a few of the expert's episodes by heart, so that its turns end where the paper's protocol says.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kit.chat import Chat
from kit.episode import Episode, Task
from kit.policy.hf import HFPolicy, load_model_and_chat
from kit.policy.scripted import Script, ScriptedPolicy
from kit.policy.vllm import Engine, VLLMPolicy
from kit.train.experiment import Rollouts
from kit.train.sft import SFTSettings, train_sft
from tests.policy.test_vllm import VLLM_SETTINGS
from tiny import TINY

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
