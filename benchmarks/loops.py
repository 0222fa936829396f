"""Two other ways to play the same tasks with the same model, for the benchmark to compare with.

- :func:`turn_by_turn`: what one writes first. Every turn, transformers' ``generate`` on all episodes that go on, each
  from its beginning; then their environments, one after another.
- :class:`TRLLoop`: the multi-turn loop of TRL's ``GRPOTrainer`` (``_generate_single_turn``, ``_tool_call_loop``), its
  own code, on a trainer of which only what that code reads has been made. Pictures that tools return are given as
  content blocks, which it supports; the chat template is :mod:`kit.chat`'s.

All decode by force (:class:`Forced`): each token costs what sampling it would, but a script chooses it. So all loops
play the same episodes, whatever they cost; a loop that shows the model other contexts fails.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import torch
from accelerate import Accelerator
from torch import Tensor
from transformers import GenerationConfig, LogitsProcessor, LogitsProcessorList
from trl import GRPOTrainer

from kit.chat import Chat
from kit.environment import ToolEnv
from kit.episode import Episode, Observation, Task
from kit.policy import Completion, SamplingParams
from kit.policy.engine_io import placeholders
from kit.rollout import RolloutConfig, advance, content

Context = tuple[tuple[int, ...], tuple[int, ...]]
"""Ids, and a digest of each picture's patches: puzzles of the same shape have the same ids."""

Turns = dict[Context, tuple[int, ...]]
"""What is said after which context, in ids."""


def digests(patches: Tensor, grids: Tensor) -> list[int]:
    """One for each picture."""
    return [hash(part.numpy().tobytes()) for part in patches.split(grids.prod(-1).tolist())]


class Forced(LogitsProcessor):
    """Lets ``generate`` say what :data:`Turns` says after each row's context.

    Raises:
        KeyError: :meth:`begin` with a context nobody played.
    """

    def __init__(self, chat: Chat, turns: Turns) -> None:
        self.chat, self.turns = chat, turns
        self._length = 0
        self._rows: list[tuple[int, ...]] = []

    def begin(self, input_ids: Tensor, pixel_values: Tensor, image_grid_thw: Tensor, **others: Any) -> None:
        """Another call of ``generate``, with these inputs."""
        pictures = iter(digests(pixel_values, image_grid_thw))
        self._length, self._rows = input_ids.size(1), []
        for row in input_ids.tolist():
            ids = tuple(row[next(i for i, each in enumerate(row) if each != self.chat.pad_id) :])
            seen = len(placeholders(ids, self.chat.image_id))
            self._rows.append(self.turns[ids, tuple(next(pictures) for _ in range(seen))])

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """Only the next id of each row is possible; past a row's end, its last."""
        at = input_ids.size(1) - self._length
        wanted = [[row[min(at, len(row) - 1)]] for row in self._rows]
        index = torch.tensor(wanted, device=scores.device)
        return torch.full_like(scores, -torch.inf).scatter_(1, index, 0.0)


def picture_inputs(chat: Chat, images: Sequence[Any]) -> dict[str, Tensor]:
    """Patches and grids, by transformers' image processor."""
    made = chat.image_processor(images=list(images), return_tensors="pt")
    return {"pixel_values": made["pixel_values"], "image_grid_thw": made["image_grid_thw"]}


def turn_by_turn(
    model: Any, chat: Chat, tasks: Sequence[Task], make_env: Callable[[], ToolEnv], turns: Turns, limit: int
) -> list[Episode]:
    """Every turn generated from the episode's beginning, environments one after another.

    Args:
        limit: tokens of a turn.
    """
    force = Forced(chat, turns)
    envs = [make_env() for _ in tasks]
    episodes = []
    for env, task in zip(envs, tasks, strict=True):
        env.reset(options={"task": task})
        episodes.append(Episode(task, tuple(chat.prompt(*env.prompt(task)))))
    while live := [i for i, episode in enumerate(episodes) if episode.ended == "running"]:
        rows = [episodes[i].ids for i in live]
        wide = max(map(len, rows))
        ids = torch.tensor([[chat.pad_id] * (wide - len(row)) + list(row) for row in rows])
        inputs = {"input_ids": ids, **picture_inputs(chat, [p.image for i in live for p in episodes[i].images])}
        force.begin(**inputs)
        with torch.no_grad():
            out = model.generate(
                **inputs,
                attention_mask=(ids != chat.pad_id).long(),
                mm_token_type_ids=(ids == chat.image_id).long(),
                max_new_tokens=limit,
                do_sample=False,
                eos_token_id=chat.end_id,
                pad_token_id=chat.pad_id,
                logits_processor=LogitsProcessorList([force]),
            )
        for i, row in zip(live, out[:, wide:].tolist(), strict=True):
            said = tuple(row[: row.index(chat.end_id) + 1]) if chat.end_id in row else tuple(row)
            episodes[i] = stepped(chat, envs[i], episodes[i], said)
    for env in envs:
        env.close()
    return episodes


UNBOUNDED = RolloutConfig(max_turns=1 << 30, max_episode_tokens=1 << 30)
"""Here only environments end an episode."""


def stepped(chat: Chat, env: ToolEnv, episode: Episode, said: tuple[int, ...]) -> Episode:
    """The episode after one more turn and what the environment says to it."""
    text = chat.decode(said)
    sample = Completion(said, (0.0,) * len(said), "eos")
    return advance(chat, episode, sample, text, env.step(text), UNBOUNDED, SamplingParams(()))


class _Processor:
    """As much of a processor as TRL's loop asks for: messages to ids, pictures to patches."""

    def __init__(self, chat: Chat) -> None:
        self.chat, self.tokenizer, self.image_processor = chat, chat.tokenizer, chat.image_processor

    def apply_chat_template(self, conversation: Any, **kwargs: Any) -> Any:
        """The suffix of tool messages, which TRL cuts from the difference of two renderings."""
        said = [self.chat.end_id]  # where TRL cuts: the end of the assistant's turn
        messages = [m for m in conversation if m["role"] == "tool"]
        parts = [part["kit"] for m in messages for part in m["content"]]
        return [[*said, *(self.chat.reply(parts, closed=True) if messages else [])]]


class _Parser:
    """As much of a tokenizer as TRL's loop asks for: a turn that isn't an answer calls the one tool there is."""

    response_template = None

    def __init__(self, chat: Chat, final: str) -> None:
        self.chat, self.final = chat, f"<{final}>"
        self.eos_token_id, self.pad_token_id = chat.end_id, chat.pad_id
        self.eos_token = chat.tokenizer.eos_token

    def parse_response(self, ids: list[int]) -> dict[str, Any]:
        """A message; with a call of the tool, whose one argument are the ids."""
        text = self.chat.decode(ids)
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if self.final not in text:
            message["tool_calls"] = [{"type": "function", "function": {"name": "turn", "arguments": {"said": ids}}}]
        return message


class TRLLoop:
    """TRL's multi-turn loop on our environments, each behind one tool.

    Args:
        limit: tokens of a turn.
        final: the tag that ends an episode.
    """

    def __init__(self, model: Any, chat: Chat, turns: Turns, limit: int, final: str = "answer") -> None:
        self.model, self.chat = model, chat
        self.force = Forced(chat, turns)
        trainer: Any = GRPOTrainer.__new__(GRPOTrainer)
        trainer.accelerator = Accelerator(cpu=not torch.cuda.is_available())
        trainer.model = trainer.model_wrapped = model
        trainer.args = SimpleNamespace(
            ds3_gather_for_generation=True, gradient_checkpointing_kwargs=None, device=trainer.accelerator.device
        )
        trainer.args.report_to = []
        trainer.is_deepspeed_enabled = False
        trainer.state, trainer._metrics = SimpleNamespace(global_step=0), {"train": defaultdict(list)}
        trainer.processing_class = _Processor(chat)
        trainer._tokenizer = _Parser(chat, final)
        trainer.chat_template, trainer.chat_template_kwargs, trainer.pad_to_multiple_of = None, {}, None
        trainer.use_vllm = trainer.use_transformers_continuous_batching = False
        trainer._is_vlm, trainer._image_pad_token_id, trainer._video_pad_token_id = True, chat.image_id, None
        trainer._dist = SimpleNamespace(summon_full_params=lambda *args, **kwargs: nullcontext())
        trainer.eos_token_ids, trainer.generation_kwargs = [chat.end_id], None
        trainer.generation_config = GenerationConfig(
            max_new_tokens=limit, do_sample=False, eos_token_id=chat.end_id, pad_token_id=chat.pad_id
        )
        trainer.environment_factories, trainer.tools = None, ["turn"]
        trainer.max_tool_calling_iterations, trainer.max_completion_length = 1000, 1 << 30
        trainer._async_tool_dicts = None
        self.trainer = trainer

    def play(self, tasks: Sequence[Task], make_env: Callable[[], ToolEnv]) -> list[Episode]:
        """Play every task once."""
        chat, trainer = self.chat, self.trainer
        envs = [make_env() for _ in tasks]
        episodes: list[Episode] = []
        for env, task in zip(envs, tasks, strict=True):
            env.reset(options={"task": task})
            episodes.append(Episode(task, tuple(chat.prompt(*env.prompt(task)))))

        def tool(i: int) -> Callable[..., list[dict[str, Any]]]:
            def turn(said: list[int]) -> list[dict[str, Any]]:
                episodes[i] = stepped(chat, envs[i], episodes[i], tuple(said))
                parts = content(episodes[i].turns[-1].observation or Observation(""))
                return [
                    {"type": "text", "text": part, "kit": part}
                    if isinstance(part, str)
                    else {"type": "image", "image": part.image, "kit": part}
                    for part in parts
                ]

            return turn

        trainer._sync_tool_dicts = [{"turn": tool(i)} for i in range(len(tasks))]
        trainer._async_tool_dicts = [{} for _ in tasks]
        generate = self.model.generate

        def forced(**kwargs: Any) -> Any:
            self.force.begin(**kwargs)
            return generate(**kwargs, logits_processor=LogitsProcessorList([self.force]))

        self.model.generate = forced
        try:
            prompts = [list(episode.prompt_ids) for episode in episodes]
            images = [[p.image for p in task.images] for task in tasks]
            fields: dict[str, Any] = dict(picture_inputs(chat, [image for some in images for image in some]))
            fields["mm_token_type_ids"] = [[int(i == chat.image_id) for i in ids] for ids in prompts]
            ids, _ = trainer._generate_single_turn(prompts, images, fields, 1)
            first = [[trainer._tokenizer.parse_response(row)] for row in ids]
            talks: list[list[Any]] = [[{"role": "user", "content": []}] for _ in tasks]
            _, _, after, *_ = trainer._tool_call_loop(talks, prompts, ids, first, None, images, fields)
        finally:
            del self.model.generate
        done = []
        for env, episode, start, rest in zip(envs, episodes, prompts, after, strict=True):
            last = tuple([*start, *rest][len(episode.ids) :])  # what was said after the last tool's word
            done.append(stepped(chat, env, episode, last) if episode.ended == "running" else episode)
        for env in envs:
            env.close()
        return done
