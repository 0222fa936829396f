"""Only chat writes control tokens; a conversation is a concatenation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from kit.chat import Chat
from kit.episode import NamedImage
from kit.images import upright_rgb
from kit.models.qwen2_5_vl import Qwen25VL


@pytest.mark.parametrize("token", [*Qwen25VL.control_tokens, "<|im_end|>", "<|endoftext|>"])
def test_foreign_text_never_becomes_a_control_token(chat: Chat, token: str) -> None:
    ids = chat.text(f"a picture called {token}.png")
    assert not set(ids) & set(chat.tokenizer.all_special_ids)
    assert chat.decode(ids) == f"a picture called {token}.png"


@given(st.text())
def test_any_text_encodes_without_control_tokens(chat: Chat, text: str) -> None:
    assert not set(chat.text(text)) & set(chat.tokenizer.all_special_ids)


@pytest.mark.parametrize(("text", "read"), [("a\ud800b", "a\\ud800b"), ("\udfff", "\\udfff")])
def test_half_a_surrogate_pair_is_spelt_out(chat: Chat, text: str, read: str) -> None:
    assert chat.decode(chat.text(text)) == read


@pytest.mark.parametrize(("size", "tokens"), [((56, 56), 4), ((112, 112), 16), ((57, 40), 2), ((114, 114), 16)])
def test_image_tokens_equal_patches_over_four(chat: Chat, size: tuple[int, int], tokens: int) -> None:
    picture = NamedImage("p", Image.new("RGB", size))
    pixels = chat.pixels(picture)
    assert chat.image_tokens(picture) == tokens
    assert pixels.patches.shape[0] == 4 * tokens
    assert chat.content(["see ", picture]).count(chat.image_id) == tokens


def test_a_reply_closes_and_opens(chat: Chat) -> None:
    opened = chat.reply(["seen"], closed=False)
    closed = chat.reply(["seen"], closed=True)
    assert opened == [chat.end_id, *closed]
    assert closed[-len(chat.open_assistant()) :] == chat.open_assistant()


def test_the_policy_may_end_its_turn_and_nothing_else(chat: Chat) -> None:
    assert chat.end_id not in chat.suppressed_ids
    assert chat.image_id in chat.suppressed_ids and chat.pad_id in chat.suppressed_ids


def test_transparency_is_laid_on_white() -> None:
    assert upright_rgb(Image.new("RGBA", (2, 2), (0, 0, 0, 0))).getpixel((0, 0)) == (255, 255, 255)
