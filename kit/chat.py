"""Messages and images to token ids and pixel tensors, for every model family.

This is the only module that writes role and image tokens. Everything that did not come from
us (questions, tool output, code output, file names) is encoded with special tokens switched
off, so an image named ``<|image_pad|>`` stays thirteen ordinary characters.

A turn is closed and the next one opened by one call, :meth:`Chat.reply`, so that an episode is a
concatenation of id lists: nothing is ever decoded and encoded again.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from PIL import Image

from kit.episode import NamedImage
from kit.images import rgb
from kit.models import family_of
from kit.models.family import ModelFamily, Pixels, levels
from kit.models.pixel_cache import IMAGE_CACHE_BYTES, PixelCache
from kit.models.qwen2_5_vl import Qwen25VL

END = "<|im_end|>"
"""The token that ends a message: the only control token that a policy may sample."""

ERROR_CHARS = 200
"""Characters of an error in the reason why an image can't be read."""

Content = Sequence[str | NamedImage]
"""Text and images in reading order."""


class Chat:
    """Encodes conversations for one checkpoint.

    Args:
        tokenizer: the checkpoint's tokenizer.
        image_processor: its PIL image processor (``Qwen2VLImageProcessorPil``, ``GotOcr2ImageProcessorPil``).
        family: the model family of the checkpoint.
        image_cache_bytes: of processed images that are remembered.

    Attributes:
        image_id: the id of an image token.
        image_bounds: ids of the tokens before and after an image's.
        start_id: the id that opens a message.
        end_id: the id that closes a message.
        pad_id: the id of padding.
        suppressed_ids: ids that a policy must never sample: every special token but ``end_id``.

    Raises:
        ValueError: the tokenizer lacks a control token of the family.
    """

    def __init__(
        self,
        tokenizer: Any,
        image_processor: Any,
        family: ModelFamily = Qwen25VL(),  # noqa: B008
        image_cache_bytes: int = IMAGE_CACHE_BYTES,
    ) -> None:
        self.tokenizer = tokenizer
        self.image_processor = image_processor
        self.family = family
        ids = {token: tokenizer.convert_tokens_to_ids(token) for token in (*family.control_tokens, END)}
        missing = [token for token, i in ids.items() if i is None or i == tokenizer.unk_token_id]
        if missing:
            raise ValueError(f"this tokenizer lacks {missing}: it is not of the {family.title} family")
        self.image_id: int = ids[family.image_token]
        self.image_bounds: tuple[int, int] = (ids[family.image_bounds[0]], ids[family.image_bounds[1]])
        self.start_id: int = ids["<|im_start|>"]
        self.end_id: int = ids.pop(END)
        self.pad_id: int = tokenizer.pad_token_id
        self._tokens_of_size = lru_cache(maxsize=4096)(self._count_tokens)
        # Every other special token (end of text, boxes, ...) would confuse a later turn as well.
        special = set(tokenizer.all_special_ids) | set(ids.values())
        self.suppressed_ids: tuple[int, ...] = tuple(sorted(special - {self.end_id}))
        self.pixels = PixelCache(self._pixels, image_cache_bytes)

    @classmethod
    def from_pretrained(cls, path: str | Path) -> Chat:
        """Load tokenizer and image processor of a checkpoint folder or hub id.

        Raises:
            ValueError: the checkpoint is missing or of no known family.
        """
        from transformers import AutoImageProcessor, AutoTokenizer

        family = family_of(path)
        # The PIL back end by name: where torchvision is installed the default resamples differently.
        processor = AutoImageProcessor.from_pretrained(str(path), backend="pil")
        return cls(AutoTokenizer.from_pretrained(str(path)), processor, family)

    def text(self, text: str) -> list[int]:
        """Encode ``text``; nothing in it can become a control token."""
        # Half a surrogate pair, as in the message of code's `ValueError("\ud800")`, has no tokens: it is spelt out.
        text = text.encode("utf-8", "backslashreplace").decode("utf-8")
        return list(self.tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True))

    def decode(self, ids: Sequence[int]) -> str:
        """Decode sampled ids, the end of the message left out."""
        return str(self.tokenizer.decode([i for i in ids if i != self.end_id], skip_special_tokens=False))

    def _pixels(self, image: NamedImage) -> Pixels:
        return self.family.pixels(self.image_processor, rgb(image.image))

    def unreadable(self, image: NamedImage) -> str:
        """Say why the model can't read ``image``: its shape, or what processing it raises; an empty string: it can.

        A 500×1 image for Qwen2.5-VL: ``it has 500 x 1 pixels; the longer side may be at most 200 times the shorter
        one``. A file cut off: ``OSError: image file is truncated``.
        """
        try:
            if why := self.family.unreadable(image.image.size):
                return why
            self.pixels(image)
        except Exception as error:  # whatever code, a tool or a broken file made of it
            return f"{type(error).__name__}: {error}"[:ERROR_CHARS]
        return ""

    def levels(self, image: NamedImage) -> Pixels:
        """Undo scaling and normalisation of an image's patches: levels from 0 to 255, as bytes."""
        return levels(self.image_processor, self.pixels(image))

    def image_tokens(self, image: NamedImage) -> int:
        """Count the tokens that the language model reads for ``image``."""
        return self._tokens_of_size(image.image.size)

    def _count_tokens(self, size: tuple[int, int]) -> int:
        blank = self.family.pixels(self.image_processor, Image.new("RGB", size))  # what it shows plays no part
        return self.family.image_tokens(self.image_processor, blank)

    def resized(self, image: NamedImage) -> tuple[int, int]:
        """Width and height in pixels to which the processor resizes ``image``."""
        return self.family.resized(self.image_processor, image.image.size)

    def content(self, content: Content) -> list[int]:
        """Ids of text and images in reading order."""
        ids: list[int] = []
        for part in content:
            if isinstance(part, str):
                ids += self.text(part)
            else:
                before, after = self.image_bounds
                ids += [before, *[self.image_id] * self.image_tokens(part), after]
        return ids

    def message(self, role: str, content: Content) -> list[int]:
        """One closed message: ``<|im_start|>role\\n … <|im_end|>\\n``."""
        return [self.start_id, *self.text(f"{role}\n"), *self.content(content), self.end_id, *self.text("\n")]

    def open_assistant(self) -> list[int]:
        """The tokens after which the policy speaks."""
        return [self.start_id, *self.text("assistant\n")]

    def prompt(self, system: str, user: Content) -> list[int]:
        """A first prompt: system message, user message, and the assistant's turn opened."""
        head = self.message("system", [system]) if system else []
        return [*head, *self.message("user", user), *self.open_assistant()]

    def reply(self, content: Content, *, closed: bool) -> list[int]:
        """Encode what the environment appends after a turn: close it, a user message, open the next turn.

        Args:
            content: the observation.
            closed: whether the policy sampled ``<|im_end|>`` itself (then it isn't written twice).
        """
        close = self.text("\n") if closed else [self.end_id, *self.text("\n")]
        return [*close, *self.message("user", content), *self.open_assistant()]
