"""Let TRL's trainer play a model that writes the paper's tags, as the kit's own loop does: prompts, turns' ends, calls.

TRL reads calls of tools in the form of a model's chat template. Here a turn is read by the paper's tags: each that
isn't the last is a call of :func:`adapters.trl.environment_factory`'s one tool ``turn``.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import torch
from transformers import LogitsProcessor, LogitsProcessorList, Qwen2_5_VLProcessor

from adapters.opened import Opened
from kit.chat import Chat
from kit.episode import Action

LATEST = 16
"""Tokens at the end of a turn among which its closing tag is looked for."""

TEMPLATE = """{%- macro said(content) -%}
{%- if content is string -%}{{ content }}{%- else -%}
{%- for part in content -%}
{%- if part.type == 'image' -%}<|vision_start|><|image_pad|><|vision_end|>{%- else -%}{{ part.text }}{%- endif -%}
{%- endfor -%}
{%- endif -%}
{%- endmacro -%}
{%- for message in messages -%}
{%- set text = said(message.content) -%}
{{ '<|im_start|>' + ('user' if message.role == 'tool' else message.role) + '\\n' + text }}
{%- if message.tool_calls and not text -%}
{%- for call in message.tool_calls -%}{{ call.function.name + (call.function.arguments | tojson) }}{%- endfor -%}
{%- endif -%}
{{ '<|im_end|>\\n' }}
{%- endfor -%}
{{ '<|im_start|>assistant\\n' if add_generation_prompt else '' }}"""
"""How the kit writes messages: replies of tools are the user's, and tools are told by the paper's system text alone."""


class Closing(LogitsProcessor):
    """Ends a turn at a closing tag, as the kit's policies do: the end of the message is all that may follow it.

    Args:
        tokenizer: of the model.
        stops: the closing tags.
    """

    def __init__(self, tokenizer: Any, stops: tuple[str, ...]) -> None:
        self.tokenizer, self.stops = tokenizer, stops

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Let only the end follow where a row ends in a closing tag."""
        for row, text in enumerate(self.tokenizer.batch_decode(input_ids[:, -LATEST:])):
            if text.rstrip().endswith(self.stops):
                scores[row] = torch.full_like(scores[row], -torch.inf)
                scores[row, self.tokenizer.eos_token_id] = 0.0
        return scores


class ChatProcessor(Qwen2_5_VLProcessor):
    """A model's processor, made of its chat encoder: it needs no torchvision, since no film is read.

    Args:
        chat: of the model.
    """

    def __init__(self, chat: Chat) -> None:
        self.image_processor, self.tokenizer, self.video_processor = chat.image_processor, chat.tokenizer, None
        self.audio_tokenizer = None
        self.chat_template = ""
        for kind in ("image", "video"):
            token = f"<|{kind}_pad|>"
            setattr(self, f"{kind}_token", token)
            setattr(self, f"{kind}_token_id", chat.tokenizer.convert_tokens_to_ids(token))

    def apply_chat_template(self, *args: Any, **kwargs: Any) -> Any:
        """As for any processor; patches are tensors, as torchvision's would be."""
        made = super().apply_chat_template(*args, **kwargs)
        for name in ("pixel_values", "image_grid_thw"):
            if not isinstance(made, str | list) and name in made:
                made[name] = torch.as_tensor(np.asarray(made[name]))
        return made


def speak(processor: Any, opened: Opened, model: Any = None) -> Any:
    """Let a processor write messages as the kit does and read turns by the paper's tags; it is changed and returned.

    Args:
        processor: of a model that was taught the tags.
        opened: the paper.
        model: whose ``generate`` ends turns at closing tags; None where vLLM samples, whose ``stop`` does
            (``GRPOConfig(generation_kwargs={"stop": [...], "include_stop_str_in_output": True})``).
    """
    env, tokenizer = opened.environment(), processor.tokenizer

    def parse_response(ids: Any, **_: Any) -> dict[str, Any]:
        text = tokenizer.decode([i for i in ids if i not in (tokenizer.eos_token_id, tokenizer.pad_token_id)])
        found = env.protocol.parse(text)
        goes_on = found.name != env.protocol.final if isinstance(found, Action) else env.on_no_action == "tell"
        call = {"type": "function", "function": {"name": "turn", "arguments": {"text": text}}}
        return {"role": "assistant", "content": text} | ({"tool_calls": [call]} if goes_on else {})

    processor.chat_template = tokenizer.chat_template = TEMPLATE
    tokenizer.response_template, tokenizer.parse_response = {"read": "by the paper's tags"}, parse_response
    if model is not None:
        ends = LogitsProcessorList([Closing(tokenizer, opened.play.stops or env.protocol.stops)])
        model.generate = partial(model.generate, logits_processor=ends)
    return processor
