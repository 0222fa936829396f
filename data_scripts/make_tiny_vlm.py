"""Make the tiny VLM: build its tokenizer, teach it to see, measure it, write its card.

    python data_scripts/make_tiny_vlm.py --out runs/tiny --steps 300 --pool 200   # a quick look
    python data_scripts/debian_photos.py --out runs/photographs
    python data_scripts/make_tiny_vlm.py --out runs/tiny --photographs runs/photographs/train --half

The last two make a model like the committed one. The same command again resumes; `--commit` copies
the finished checkpoint into tiny/weights. Pictures to learn from are procedural scenes, the kit's
training photographs, and, given `--photographs`, those of a folder; none may be a held-out one.
"""

from __future__ import annotations

import argparse
import itertools
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image, ImageOps
from tiny_card import examine, read_log, write_card
from tiny_context import vocabulary, within
from tiny_curriculum import AMID, PLATEAU, mixture_at
from transformers import AutoTokenizer, Qwen2_5_VLForConditionalGeneration

from kit.chat import Chat
from kit.data.folder import folder_pictures
from kit.data.leak import check_sources
from kit.data.source import SourceImage
from kit.files import print_anything
from kit.models.vision_attention import batch_vision_attention
from papers.visual_arft.corpora import factbook_documents
from pictures.photos import photos
from pictures.scenes import Pixels, discs, scene
from tiny import TINY
from tiny.build import build_config, build_image_processor, build_tokenizer
from tiny.pretrain import batches, train
from tiny.skills import SKILLS
from tiny.skills.text import Sample
from workshop.command_line import above_0, count, whole

# What agents will read and write. The tokenizer learns to spell it in few tokens; the model is
# not trained on it: words, names and numbers of its samples are drawn at random.
PHRASES = (
    "<think>A bottom right, B top left, C top right, D bottom left. Place 0 needs B, swap 0 and 1.</think>",
    "<code>state[0], state[1] = state[1], state[0]\nobservation_image_1 = observation(state)</code>",
    "<code>state[2], state[3] = state[3], state[2]\nobservation_image_2 = observation(state)</code>",
    "<code>crop_image_1 = crop(observation_image_1, [0.0, 0.25, 0.5, 1.0])</code>",
    "<code>zoom_image_1 = zoom(crop_image_1, 2.0)</code>",
    '<answer>["B", "C", "D", "A"]</answer> ["A", "D", "C", "B"] ["D", "B", "A", "C"]',
    'state = ["A", "B", "C", "D"] in row-major order. Image A: Image B: Image C: Image D: ',
    "<think>Now it reads B, A, C, D. Every place is right. I look at the seam in the middle first.</think>",
    "observation_image_1: crop_image_1: zoom_image_1: Error: one image operation a turn. Please solve the jigsaw.",
    "Use <think>, <code>, <answer>. Tools: observation(state), crop(image, box), zoom(image, factor).",
    "<search>capital of France</search><information>Paris is the capital of France.</information>",
    '<tool_call>{"name": "zoom", "arguments": {"box": [0.1, 0.2, 0.5, 0.9]}}</tool_call><tool_response>',
    "<zoom>[0.1, 0.2, 0.5, 0.9]</zoom><rethink>the digits say 407</rethink><interpreter>print(3 + 4)\n7</interpreter>",
    "<think>turned 90, dark.</think><code>image_1 = rotate(image, -90)\nimage_2 = brighten(image_1)</code>",
    "<think>blurred.</think><code>image_1 = sharpen(image)</code> denoise(image) darken(image) crop(image, [0.5, 0.0])",
    "<think>The flag has vertical bands blue white red.</think><search>flag description vertical bands blue white red",
    "<information>1. France, flag, description: three equal horizontal bands of green (top), white, and red; cent",
    "A picture may be distorted. Which country has this flag? Use <search>, look at <information>, then answer.",
    "What is the capital of the main export partner of the country with this flag? The internet country code is .fr",
    "import numpy as np\nfrom PIL import Image\nimage.rotate(90).save('out.png')\nfor i in range(4):\n    print(i)",
)


def corpus(rng: np.random.Generator, pool: list) -> list[str]:
    """The skills' texts, the agents' phrases, and a fortieth of what can be searched in."""
    texts = list(PHRASES) * 60
    texts += [f"{found.title}: {found.text[:120]}" for found in itertools.islice(factbook_documents(), 0, None, 40)]
    for skill in SKILLS.values():
        for _ in range(200):
            for question, answer in skill(rng, pool).turns:
                texts += [part for part in question if isinstance(part, str)] + [answer]
    return texts


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("runs/tiny"), help="folder for checkpoint, log and state")
    parser.add_argument("--steps", type=count, default=20400)
    parser.add_argument("--batch", type=count, default=64)
    parser.add_argument("--lr", type=above_0, default=1e-3)
    parser.add_argument("--pool", type=whole, default=3000, help="procedural scenes to draw views from")
    parser.add_argument("--photographs", type=Path, help="folder of photographs to draw views from as well")
    parser.add_argument(
        "--skip-bad", action="store_true", help="leave out those that cannot be used, instead of stopping"
    )
    parser.add_argument("--seed", type=whole, default=0)
    parser.add_argument("--threads", type=count, default=1)
    parser.add_argument("--device", default="cpu", help="to train on: cpu or cuda")
    parser.add_argument("--half", action="store_true", help="bfloat16 matrix products")
    parser.add_argument("--measure", type=whole, default=400, help="fresh samples a skill for the card")
    parser.add_argument("--finish", action="store_true", help="train no further: save, measure and write the card")
    parser.add_argument("--note", default="", help="a sentence for the card, on how this training went")
    parser.add_argument("--commit", action="store_true", help="copy the result into tiny/weights")
    return parser.parse_args()


def main() -> None:
    """Draw the pictures, learn the tokenizer, train, then measure and write the card."""
    args = arguments()
    torch.set_num_threads(args.threads)
    args.out.mkdir(parents=True, exist_ok=True)
    check_sources(photographs(args), photos("held-out"))
    draw(args)
    words = args.out / "tokenizer"
    if not words.exists():  # kept, so that a resumed run spells as before
        build_tokenizer(corpus(np.random.default_rng(0), pictures(args)[1])).save_pretrained(words)
    if not args.finish:
        learn(args)
    finish(args)


def photographs(args: argparse.Namespace) -> list[SourceImage]:
    """Collect what training may see: the kit's training photographs, and all of ``--photographs``."""
    folder: Path | None = args.photographs
    return photos("train") + (folder_pictures(folder, skip_bad=args.skip_bad) if folder else [])


PHOTO_SIDE = 224
"""A photograph's shorter side in training: its views of 112 pixels then show half of it to all of it."""


PHOTO_COPIES = 4
"""Views of photographs to a view of a drawn picture, once training has left the easy ones."""


def drawn(args: argparse.Namespace) -> Path:
    """File of the drawn images."""
    return args.out / f"pictures-{args.seed}-{args.pool}.npz"


def draw(args: argparse.Namespace) -> None:
    """Draw the easy pictures and the full scenes, once."""
    if drawn(args).exists():
        return
    rng = np.random.default_rng(args.seed)
    # Scenes are drawn large: a view of a third of one is coarse, a view of all of it as fine as a photograph.
    np.savez(
        drawn(args),
        discs=np.stack([discs(rng) for _ in range(args.pool)]),
        scene=np.stack([scene(rng, 336) for _ in range(args.pool // 2)]),
    )


def pictures(args: argparse.Namespace) -> tuple[list[Pixels], list[Pixels]]:
    """Easy pictures to begin with, and the pool for the rest: one view in five of it is of a drawn picture."""
    with np.load(drawn(args)) as kept:
        easy, full = list(kept["discs"]), list(kept["scene"])
    shown = []
    for photo in photographs(args):
        scale = PHOTO_SIDE / min(photo.image.size)
        shown.append(np.asarray(ImageOps.scale(photo.image, scale, Image.Resampling.LANCZOS)))
    full += easy[: args.pool // 3]
    return easy, full + shown * max(1, PHOTO_COPIES * len(full) // len(shown))


def load(args: argparse.Namespace) -> tuple[Qwen2_5_VLForConditionalGeneration, Chat, int, list[dict[str, Any]]]:
    """Model and chat as the last saved state left them, its step, and the optimizers' states."""
    torch.manual_seed(args.seed)
    chat = Chat(AutoTokenizer.from_pretrained(args.out / "tokenizer"), build_image_processor())
    model = Qwen2_5_VLForConditionalGeneration(build_config(chat.tokenizer))
    # On a CPU the backward pass of fused attention is slower than plain matrix products at these lengths.
    model.set_attn_implementation("eager")
    batch_vision_attention(model)
    file = args.out / "state.pt"
    if not file.exists():
        return model, chat, 0, []
    state = torch.load(file, map_location="cpu")
    model.load_state_dict(state["model"])
    return model, chat, state["step"], state["optimizers"]


def learn(args: argparse.Namespace) -> None:
    """Train from the last saved state on; every 250 steps the state is saved, and puzzles are asked."""
    easy, pool = pictures(args)
    model, chat, start, states = load(args)
    model.to(args.device)
    if start:
        print(f"resuming at step {start}", flush=True)
    plateau = round(PLATEAU * args.steps)
    words = vocabulary(chat)

    def around(rng: np.random.Generator, step: int, sample: Sample, images: Sequence[Pixels]) -> Sample:
        return within(rng, sample, words, images) if step >= plateau and rng.random() < AMID else sample

    train(
        model,
        batches(
            chat,
            lambda step: easy if step < plateau else pool,
            np.random.default_rng([args.seed, start]),
            args.batch,
            lambda step: mixture_at(step, plateau, args.steps),
            start,
            around,
            parts=3,
        ),
        args.steps,
        peak=args.lr,
        half=args.half,
        folder=args.out,
        probe=lambda: shares(examine(model, chat, unseen(), min(64, args.measure), skills=("place",))),
        every=250,
        start=start,
        optimizer_states=states,
    )


def finish(args: argparse.Namespace) -> None:
    """Save the checkpoint, measure every skill and write the card."""
    model, chat, steps, _ = load(args)
    folder = args.out / "checkpoint"
    save(model.eval(), chat, folder)
    hits = measure(model, chat, args.measure)
    others = len(photographs(args)) - len(photos("train"))
    log = read_log(args.out / "log.jsonl", steps)
    write_card(folder, hits, model, log, int(log[-1]["step"]), others, args.note)
    print({name: round(share, 3) for name, share in shares(hits).items()})
    if args.commit:
        shutil.copytree(folder, TINY, dirs_exist_ok=True)


def unseen() -> list[Pixels]:
    """Scenes that training never draws."""
    return [scene(np.random.default_rng(10**6 + i)) for i in range(100)]


def measure(model: Qwen2_5_VLForConditionalGeneration, chat: Chat, n: int) -> dict[str, list[bool]]:
    """Every skill on scenes that training never draws, and ``place`` on views of the held-out photographs.

    Args:
        model: a transformers model or its PEFT wrapper.
        chat: the model's chat encoder.
        n: samples a skill.
    """
    views = [np.asarray(p.image) for p in photos("held-out")]
    on_photographs = examine(model, chat, views, n=n, skills=("place",))["place"]
    amid = examine(model, chat, unseen(), n=n, skills=("place",), words=vocabulary(chat))["place"]
    return examine(model, chat, unseen(), n=n) | {"amid": amid, "photographs": on_photographs}


def shares(hits: dict[str, list[bool]]) -> dict[str, float]:
    """The share of right answers of every skill."""
    return {name: float(np.mean(right)) for name, right in hits.items()}


def save(model: Qwen2_5_VLForConditionalGeneration, chat: Chat, folder: Path) -> None:
    """Write an ordinary checkpoint with half-precision weights (7 MB instead of 13).

    Args:
        model: a transformers model or its PEFT wrapper.
        chat: the model's chat encoder.
        folder: folder to write.
    """
    half = Qwen2_5_VLForConditionalGeneration(model.config).half()
    half.load_state_dict({name: value.half() for name, value in model.state_dict().items()})
    half.save_pretrained(folder)
    chat.tokenizer.save_pretrained(folder)
    chat.image_processor.save_pretrained(folder)


if __name__ == "__main__":
    print_anything()
    main()
