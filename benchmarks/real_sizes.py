"""Measure the kit's own trainers on architectures of real size with random weights: nothing is downloaded.

A step of SFT on an expert's jigsaw episodes, and one of GRPO on puzzles that the random model plays, with images of
Table 4's size (AGILE). A random model hardly ever ends a turn or acts, so its episodes are as long as they may be: the
times are upper ends, the same for all engines.
"""

from __future__ import annotations

import resource
import shutil
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

import torch
from transformers import AutoTokenizer, Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

from kit.chat import Chat
from kit.data.store import save_episodes, save_tasks
from kit.evaluate.provenance import provenance
from kit.files import read_json, write_json
from kit.models.device import gpus_for
from kit.policy.scripted import ScriptedPolicy
from kit.train.arguments import device_of
from kit.train.checkpoint import export
from kit.train.grpo import GRPOSettings
from kit.train.metrics import read_metrics
from kit.train.progress import Watcher
from kit.train.sft import SFTSettings, SFTTraining
from papers.agile.experiment import Play, Training
from papers.agile.expert import expert_script
from papers.agile.tasks import make_puzzles
from pictures.photos import photos
from tiny import TINY
from turn_sandbox import Sandbox
from workshop.planner.architecture import PUBLISHED_TEXT, PUBLISHED_VISION

NAMES = {"3B": "Qwen/Qwen2.5-VL-3B-Instruct", "7B": "Qwen/Qwen2.5-VL-7B-Instruct"}
"""Short names of the published architectures."""

TINY_TEXT = {
    **{"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1},
    **{"intermediate_size": 128, "vocab_size": 1536, "tie_word_embeddings": True},
}
TINY_VISION = {"depth": 2, "hidden_size": 64, "intermediate_size": 128, "num_heads": 2, "spatial_merge_size": 2}
"""An architecture by which tests run all of this on a CPU."""

MAX_PIXELS = 401408
"""Of an image, at the most (AGILE, Table 4)."""


@dataclass(frozen=True)
class Measurement:
    """One training to measure.

    Attributes:
        model: ``3B``, ``7B``, or ``tiny`` for tests.
        stage: ``sft`` or ``grpo``.
        lora_rank: rank of the adapters; 0: all weights.
        rollout_engine: samples in GRPO: ``transformers`` or ``colocate`` (vLLM).
        steps: of the training; the first is not counted.
        episodes: a step's batch.
        max_pixels: of an image, at the most.
        max_turns: of an episode in GRPO.
        max_new_tokens: of a turn.
        per_device_batch_size: episodes a forward pass.
        gradient_checkpointing: whether activations are computed again; None: on a GPU.
    """

    model: str
    stage: str
    lora_rank: int = 32
    rollout_engine: Any = "transformers"
    steps: int = 3
    episodes: int = 16
    max_pixels: int = MAX_PIXELS
    max_turns: int = 3
    max_new_tokens: int = 256
    per_device_batch_size: int = 1
    gradient_checkpointing: bool | None = None

    @property
    def name(self) -> str:
        """File name of its result."""
        weights = f"lora{self.lora_rank}" if self.lora_rank else "full"
        engine = "" if self.rollout_engine == "transformers" else f"-{self.rollout_engine}"
        at_once = f"-{self.per_device_batch_size}" if self.per_device_batch_size > 1 else ""
        kept = "-kept" if self.gradient_checkpointing is False else ""
        return f"{self.stage}-{self.model}-{weights}{engine}{at_once}{kept}"


def filled_tokenizer(size: int) -> Any:
    """Fill the tiny model's tokenizer up to a size with words that nobody writes: a random model may sample any."""
    with tempfile.TemporaryDirectory() as place:
        for name in ("tokenizer.json", "tokenizer_config.json"):
            shutil.copy(TINY / name, place)
        path = Path(place) / "tokenizer.json"
        content = read_json(path)
        taken = {*content["model"]["vocab"].values(), *(token["id"] for token in content["added_tokens"])}
        content["model"]["vocab"] |= {f"word{n}": n for n in range(size) if n not in taken}
        write_json(path, content)
        return AutoTokenizer.from_pretrained(place)


def config_of(model: str, chat_ids: Mapping[str, int]) -> Qwen2_5_VLConfig:
    """Configuration of a published architecture, or of the tests' tiny one.

    Args:
        model: ``3B``, ``7B`` or ``tiny``.
        chat_ids: control token → its id.

    Raises:
        ValueError: another name.
    """
    if model not in (*NAMES, "tiny"):
        raise ValueError(f"model {model!r}: choose one of {', '.join(NAMES)}, or tiny")
    text: dict[str, Any] = dict(PUBLISHED_TEXT[NAMES[model]] if model in NAMES else TINY_TEXT)
    vision: dict[str, Any] = dict(PUBLISHED_VISION if model in NAMES else TINY_VISION)
    half = text["hidden_size"] // text["num_attention_heads"] // 2
    section = [half // 4, half // 8 * 3, half - half // 4 - half // 8 * 3]  # Qwen2.5-VL's proportions: 16, 24, 24
    tied = text.pop("tie_word_embeddings")
    text["rope_parameters"] = {"rope_type": "default", "rope_theta": 1e6, "mrope_section": section}
    text |= {"max_position_embeddings": 32768, "bos_token_id": None, "eos_token_id": chat_ids["<|im_end|>"]}
    depth = vision["depth"]
    blocks = [n for n in range(depth) if n % 8 == 7] or [depth - 1]
    return Qwen2_5_VLConfig(
        text_config=text,
        vision_config={**vision, "out_hidden_size": text["hidden_size"], "fullatt_block_indexes": blocks},
        image_token_id=chat_ids["<|image_pad|>"],
        video_token_id=chat_ids["<|video_pad|>"],
        vision_start_token_id=chat_ids["<|vision_start|>"],
        vision_end_token_id=chat_ids["<|vision_end|>"],
        tie_word_embeddings=bool(tied),
    )


def prepare(folder: Path, model: str, max_pixels: int = MAX_PIXELS) -> Path:
    """Write a random checkpoint of an architecture, its puzzles and an expert's episodes; returns the checkpoint.

    Args:
        folder: gets ``start/``, ``puzzles.jsonl`` and ``episodes.jsonl``; what is there is kept.
        model: ``3B``, ``7B`` or ``tiny``.
        max_pixels: of an image, at the most.
    """
    start = folder / "start"
    if start.exists() and (folder / "episodes.jsonl").exists():
        return start
    size = (PUBLISHED_TEXT[NAMES[model]] if model in NAMES else TINY_TEXT)["vocab_size"]
    tokenizer = filled_tokenizer(int(size))
    side = {"shortest_edge": 28 * 28, "longest_edge": max_pixels}
    chat = Chat(tokenizer, Qwen2VLImageProcessorPil(size=side, patch_size=14, temporal_patch_size=2, merge_size=2))
    config = config_of(model, tokenizer.get_vocab())
    torch.manual_seed(0)
    with torch.device("meta"):
        on_card = gpus_for(Qwen2_5_VLForConditionalGeneration(config)) > 0
    config.dtype = torch.bfloat16 if on_card else torch.float32
    with torch.device("cuda" if on_card else "cpu"):
        vlm: Any = Qwen2_5_VLForConditionalGeneration(config)
    export(vlm.to(config.dtype), chat, start)
    tasks = make_puzzles(photos("train"), 16, 2, (0,), 0, None, in_turn=True, max_pixels=max_pixels)
    save_tasks(folder / "puzzles.jsonl", tasks)
    with Sandbox(allow_unsafe=True) as box:  # runs the kit's own script only
        expert = ScriptedPolicy(chat, expert_script(0))
        episodes = Play(max_turns=9, max_new_tokens=512)(expert, chat, box, tasks, temperature=0.0)
    save_episodes(folder / "episodes.jsonl", episodes)
    return start


def training_of(one: Measurement, folder: Path, run: Path) -> Any:
    """The kit's own training that a measurement is of.

    Args:
        one: the measurement.
        folder: what :func:`prepare` wrote.
        run: folder of the training.
    """
    start = str(folder / "start")
    size, again = one.per_device_batch_size, one.gradient_checkpointing
    shared: dict[str, Any] = {"per_device_batch_size": size, "gradient_checkpointing": again, "save_every": 1000}
    if one.stage == "sft":
        sft = SFTSettings(batch_size=one.episodes, lora_rank=one.lora_rank, max_tokens=32768)
        sft = replace(sft, epochs=one.steps * one.episodes / 16, **shared)
        return SFTTraining(start, str(folder / "episodes.jsonl"), str(run), sft)
    grpo = GRPOSettings(steps=one.steps, prompts_per_batch=one.episodes // 8, group_size=8, lora_rank=one.lora_rank)
    grpo = replace(grpo, rollout_engine=one.rollout_engine, **shared)
    play = Play(max_turns=one.max_turns, max_new_tokens=one.max_new_tokens, on_no_action="tell")
    return Training(start, str(folder / "puzzles.jsonl"), str(run), play, grpo, allow_unsafe=True)


def measure(one: Measurement, folder: Path, out: Path) -> dict[str, Any]:
    """Train for some steps and write what they took; returns the record.

    Args:
        one: the measurement.
        folder: of checkpoints and runs.
        out: the file to write.
    """
    place = folder / one.model
    prepare(place, one.model, one.max_pixels)
    training = training_of(one, place, folder / one.name)
    if (device := device_of(training.settings, training.start)) == "cuda":
        torch.cuda.reset_peak_memory_stats()
    began = time.monotonic()
    training(Watcher())
    whole = time.monotonic() - began
    rows = read_metrics(folder / one.name / "metrics.jsonl")
    timed = rows[1:] or rows  # the first step warms up
    record = {
        "measurement": asdict(one),
        "device": device,
        **provenance(),
        "seconds_a_step": median(row["seconds"] for row in timed),
        "rollout_seconds": median(row["rollout_seconds"] for row in timed) if "rollout_seconds" in rows[0] else None,
        "tokens_per_second": median(row["tokens_per_second"] for row in timed) if one.stage == "grpo" else None,
        "tokens_an_episode": median(row["tokens"] for row in timed) if one.stage == "grpo" else None,
        "peak_memory_gb": peak_memory(device) / 1e9,
        "seconds_in_all": whole,
        "steps": rows,
    }
    write_json(out, record)
    return record


def peak_memory(device: str) -> float:
    """The most bytes that this process held: of the GPU (``cuda``), or of the machine."""
    if device == "cuda":
        return float(torch.cuda.max_memory_reserved())
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0
