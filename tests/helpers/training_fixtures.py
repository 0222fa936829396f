"""Hand-written episodes, rollouts of a random tiny model, and a run that can be killed from outside."""

from __future__ import annotations

import copy
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import torch
from corpus import CORPUS
from PIL import Image
from torch import Tensor
from transformers import Qwen2_5_VLForConditionalGeneration

from kit.chat import Chat
from kit.data.store import save_episodes
from kit.episode import Action, Episode, NamedImage, Observation, Score, Task, Turn
from kit.policy import Policy
from kit.protocol import Protocol
from kit.rewards.base import GroupReward, per_episode
from kit.rollout import RolloutConfig, rollout
from kit.train.checkpoint import export
from kit.train.metrics import TIMES, read_metrics
from kit.train.pack import Packed
from kit.train.progress import Watcher
from tiny.build import build_config, build_image_processor, build_tokenizer


class OnStep(Watcher):
    """Hands every step's rows to a function."""

    def __init__(self, seen: Callable[[Any], Any]) -> None:
        self.seen = seen

    def step(self, rows: Any) -> None:
        self.seen(rows)


def picture(name: str, seed: int, width: int = 28, height: int = 28) -> NamedImage:
    """A picture of noise: every token of it carries something."""
    pixels = np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
    return NamedImage(name, Image.fromarray(pixels))


def task(i: int) -> Task:
    return Task(f"task-{i}", (picture("A", i), picture("B", 100 + i, width=56)), f"Which one is {i}?", ["A"])


def fresh_chat() -> Chat:
    return Chat(build_tokenizer(CORPUS, 420), build_image_processor())


def fresh_model(chat: Chat) -> Qwen2_5_VLForConditionalGeneration:
    """The same random weights at every call, large enough that the distribution is far from uniform."""
    torch.manual_seed(0)
    config = build_config(chat.tokenizer, hidden=64, layers=2, vision_hidden=64, vision_layers=1)
    model = Qwen2_5_VLForConditionalGeneration(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim >= 2:
                parameter.mul_(3.0)
        model.model.language_model.norm.weight.mul_(4.0)
    return model


def prompt(chat: Chat, task: Task) -> tuple[int, ...]:
    return tuple(chat.prompt("Look.", [*task.images, task.question]))


def written(chat: Chat, i: int, seen: Sequence[NamedImage] = ()) -> Episode:
    """An episode written by hand: code, an observation with the pictures ``seen``, an answer."""
    first, second = f"<code>look({i})</code>", "<answer>A</answer>" + "!" * i
    episode = Episode(task(i), prompt(chat, task(i)))
    ids = tuple(chat.text(first))
    observation = Observation("You see: ", tuple(seen))
    reply = tuple(chat.reply([observation.text, *seen], closed=False))
    episode = episode.add(Turn(ids, (-1.0,) * len(ids), first, Action("code", "look"), observation, reply))
    ids = tuple(chat.text(second))
    return episode.add(Turn(ids, (-1.0,) * len(ids), second, Action("answer", "A"))).end("answer")


def episode_files(folder: Path) -> tuple[Path, Path]:
    """A random model as a checkpoint, and a file of four episodes that it can learn from."""
    chat = fresh_chat()
    save_episodes(folder / "episodes.jsonl", batch(chat))
    return export(fresh_model(chat), chat, folder / "start"), folder / "episodes.jsonl"


def batch(chat: Chat) -> list[Episode]:
    """Four episodes of different length with 3, 2, 4 and 3 pictures."""
    seen = [[picture("x", 7)], [], [picture("y", 8, 84, 56), picture("z", 9)], [picture("w", 10, 56, 56)]]
    return [written(chat, i, pictures) for i, pictures in enumerate(seen)]


class Looks:
    """Two turns, whatever is said, with a picture between them that depends on what was said."""

    protocol = Protocol(actions=("code",))

    def prompt(self, task: Task) -> tuple[str, list[Any]]:
        return "Look.", [*task.images, task.question]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, dict]:
        return Observation(""), {}

    def step(self, action: str) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        return Observation("See ", self.seen(action)), 0.0, False, False, {"action": Action("code", "")}

    def seen(self, action: str) -> tuple[NamedImage, ...]:
        return (picture("o", crc32(action.encode()), 56),)

    def close(self) -> None: ...


LIMITS = RolloutConfig(max_turns=2, max_new_tokens=5, stops=())


def sampling_rollout(chat: Chat) -> Callable[..., list[Episode]]:
    """Lets a policy play :class:`Looks`."""
    return lambda policy, tasks, *, seed: rollout(policy, chat, tasks, Looks, LIMITS, seed)


def even_score(episode: Episode, target: Any) -> Score:
    """The share of sampled ids that are even: simple, and rarely equal within a group."""
    ids = [i for turn in episode.turns for i in turn.ids]
    share = sum(i % 2 == 0 for i in ids) / len(ids)
    return Score(share, {"accuracy": share}, correct=share > 0.5)


even_reward = per_episode(even_score)


def coarse_score(episode: Episode, target: Any) -> Score:
    """1 where the first sampled id is even: often equal within a group."""
    even = float(episode.turns[0].ids[0] % 2 == 0)
    return Score(even, {"accuracy": even}, correct=even > 0)


coarse_reward = per_episode(coarse_score)


def logprobs_turn_by_turn(model: Any, chat: Chat, episode: Episode, temperature: float = 1.0) -> list[Tensor]:
    """Log-probabilities of each turn's ids, from one unpadded forward pass a turn over what came before it."""
    rows = []
    for number, turn in enumerate(episode.turns):
        before = Episode(episode.task, episode.prompt_ids, episode.turns[:number])
        ids = torch.tensor([[*before.ids, *turn.ids]])
        pixels = [chat.pixels(p) for p in before.images]
        logits = model(input_ids=ids, **chat.family.image_inputs(pixels, ids == chat.image_id)).logits[0]
        logits[:, list(chat.suppressed_ids)] = -torch.inf
        logp = torch.log_softmax(logits / temperature, dim=-1)[len(before.ids) - 1 : -1]
        rows.append(logp.gather(1, torch.tensor(turn.ids)[:, None])[:, 0])
    return rows


def plain_logprobs(model: Any, chat: Chat, packed: Packed, temperature: float) -> Tensor:
    """(B, C) log-probabilities of the completions in plain torch, from ordinary logits."""
    logits = model(**packed.model_inputs()).logits / temperature
    logits = logits.index_fill(-1, torch.tensor(chat.suppressed_ids), -1e4)
    width = packed.completion_ids.size(1)
    logp = torch.log_softmax(logits[:, -width - 1 : -1], -1)
    return logp.gather(-1, packed.completion_ids[..., None])[..., 0]


def without_times(run_dir: Path) -> list[dict[str, Any]]:
    """A run's metrics but for the columns that depend on the machine."""
    rows = read_metrics(run_dir / "metrics.jsonl")
    return [{name: value for name, value in row.items() if name not in TIMES} for row in rows]


def grpo_run(
    run_dir: Path,
    kill_at: int | None = None,
    fail_at: int | None = None,
    reward: GroupReward = even_reward,
    tasks: int = 3,
    **changed: Any,
) -> Any:
    """Five steps of GRPO, a checkpoint every second.

    Before the rollout of step ``kill_at`` the process is killed without notice; before that of ``fail_at`` an error is
    raised.
    """
    from kit.train.grpo import GRPOSettings, train_grpo

    chat = fresh_chat()
    model = fresh_model(chat)
    calls = [0]

    def before(policy: Policy) -> dict[str, float]:
        calls[0] += 1
        if calls[0] == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        if calls[0] == fail_at:
            raise ConnectionError("the machine goes away")
        return {}

    quick = {
        "steps": 5,
        "prompts_per_batch": 2,
        "group_size": 2,
        "per_device_batch_size": 2,
        "learning_rate": 1e-3,
        "save_every": 2,
    }
    settings = GRPOSettings(**{**quick, "schedule": "linear", "seed": 3, **changed})  # type: ignore[arg-type]
    some = [task(i) for i in range(tasks)]
    train_grpo(model, chat, some, Looks, LIMITS, reward, settings, run_dir, held_out=before)
    return model


def clone(model: Any) -> Any:
    return copy.deepcopy(model)


if __name__ == "__main__":
    grpo_run(Path(sys.argv[1]), int(sys.argv[2]))
