"""Make AGILE's data: training puzzles, evaluation puzzles, cold-start episodes.

    python data_scripts/agile.py --out data/agile                             # offline: scenes and packaged photographs
    python data_scripts/agile.py --out data/mine --images ~/Pictures          # your own pictures
    python data_scripts/agile.py --out data/agile --coldstart scripted        # and the scripted expert's episodes
    python data_scripts/agile.py --out data/agile --coldstart endpoint --base-url URL --model NAME
    python data_scripts/agile.py --out data/paper_agile --hub --pin                 # the paper's mixture, from the hub
    python data_scripts/agile.py --out data/more --photographs runs/photographs   # measured on Debian's photographs

Written to --out: train.jsonl, the test sets eval-2x2.jsonl and eval-3x3.jsonl, development-2x2.jsonl and
development-3x3.jsonl to make choices on (not of the packaged photographs, which are too few), pictures/, manifest.json,
and with --coldstart coldstart.jsonl (filtered and balanced) beside coldstart-all.jsonl (everything played; an
interrupted run goes on from it). Pictures are split by what they show, and all sets are checked for pictures in common
before anything is written.

Pictures of --images and --hub are cut whole, as the paper cuts them, with --max-pixels; --crops cuts squares of
--piece-px out of them instead, which is what the tiny model can see. Of such squares the prompt shows thumbnails
(--thumbnail), so that an agent has to look, and some of the scripted expert's episodes guess (--guesses). With
--hub-root, data sets are read from FOLDER/OWNER/NAME, copies of the hub's, instead of the network.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from kit.chat import Chat
from kit.data.folder import folder_pictures, photographs
from kit.data.leak import LeakError, check_tasks
from kit.data.source import SourceImage, Split
from kit.data.store import save_episodes, save_tasks
from kit.episode import Task
from kit.files import print_anything, write_json
from kit.policy import Policy
from kit.policy.endpoint import EndpointError, ServedPolicy
from kit.policy.scripted import ScriptedPolicy
from kit.rollout import RolloutConfig
from kit.train.demonstrations import collect
from kit.train.playable import check_playable
from papers.agile.demonstrations import curate
from papers.agile.env import PROMPTS, JigsawEnv
from papers.agile.experiment import Play
from papers.agile.expert import SHORT_STEPS, STEPS, expert_script
from papers.agile.mixture import HUB, SIZES
from papers.agile.puzzle import with_thumbnails
from papers.agile.tasks import check_split, evaluation_set, training_set
from papers.agile.validate import validate
from pictures.photos import photos, table
from tiny import TINY
from turn_sandbox import Sandbox
from workshop import script
from workshop.command_line import above_0, count, share, whole

TEST = 300
"""Test pictures a level (section 4.2); as many more to make choices on."""
MAX_PIXELS = 401_408
"""Of an image that the model is given (Table 4)."""
LONGEST = 1280
"""Pixels of the longer side at which a hub's pictures are stored."""


def with_held_out(sizes: Mapping[str, int], held_out: int) -> dict[str, int]:
    """Add to each group's number of images its share of ``held_out`` more, which come on top of those to train on."""
    total, taken = sum(sizes.values()), 0
    wanted = {}
    for group, size in sizes.items():
        wanted[group] = size + round(held_out * (taken + size) / total) - round(held_out * taken / total)
        taken += size
    return wanted


def options(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = script.parser(__doc__)
    add = parser.add_argument
    add("--images", type=Path, help="a folder of your own pictures instead of the packaged ones")
    add("--needed", type=count, default=4, help="how many different pictures --images must hold at least")
    add("--skip-bad", action="store_true", help="leave out images of --images that cannot be used, instead of stopping")
    add("--held-out", type=share, default=0.25, help="share of --images held out for evaluation")
    add("--development", type=share, default=0.1, help="share of --images held out to make choices on")
    add("--photographs", type=Path, help="folder of debian_photos.py: its test and development sides for evaluation")
    add("--train", type=whole, help="training puzzles, 2×2, all misplaced; 640, or with --hub one of each picture")
    add("--eval", type=whole, help="test puzzles a level, and development puzzles; 100, or with --hub the paper's 300")
    add("--crops", action="store_true", help="square crops of --images or --hub instead of whole pictures")
    add("--max-pixels", type=whole, default=MAX_PIXELS, help="pixels of a whole picture, at most; 0: no limit")
    add("--photo-share", type=share, default=0.25, help="share of training puzzles cut from packaged photographs")
    add("--piece-px", type=whole, default=56, help="side of a crop's piece in pixels; 0 keeps its own size")
    add(
        "--thumbnail",
        type=whole,
        help="colours a side of what the prompt shows of a piece; 4, or of whole pictures 0: all",
    )
    add("--seed", type=whole, default=0)
    add("--coldstart", choices=("scripted", "endpoint"), help="also make cold-start episodes, played by this expert")
    add("--episodes", type=whole, default=128, help="cold-start episodes to keep (the paper: 1,600)")
    add("--guesses", type=share, help="share of them that guess at once; 0.6 by the script of thumbnails, else 0")
    add("--played", type=above_0, default=1.5, help="episodes played for each one kept")
    add("--checkpoint", default=str(TINY), help="whose tokenizer and picture processor encode the episodes")
    add("--prompt", choices=sorted(PROMPTS), default="brief", help="system text of the cold-start episodes")
    add("--base-url", help="endpoint: URL of the API")
    add("--model", help="endpoint: the model's name")
    add("--key-env", default="OPENAI_API_KEY", help="endpoint: environment variable that holds the key")
    add("--max-new-tokens", type=count, default=2048, help="tokens of one cold-start turn (Table 5)")
    mixture, part = "the paper's mixture from the Hugging Face hub", "this share of the paper's 15.6K pictures"
    script.add_hub(parser, mixture, "--hub-share", type=share, default=1.0, help=part)
    add("--with-benchmarks", action="store_true", help="use data sets that models are evaluated on, as the paper did")
    add("--drop-leaks", action="store_true", help="leave out pictures that look like one of another side")
    args = script.read(parser, argv, ("hub", "images", "photographs"))
    if args.coldstart == "endpoint" and not (args.base_url and args.model):
        parser.error("--coldstart endpoint needs --base-url and --model")
    if args.images and (written := args.out / "pictures").resolve().is_relative_to(args.images.resolve()):
        parser.error(f"{written} would lie in --images {args.images}, whose pictures are cut: write --out elsewhere")
    args.eval = args.eval or (TEST if args.hub else 100)
    if args.thumbnail is None:
        args.thumbnail = 4 if cutting(args)["piece_px"] else 0
    if args.guesses is None:
        args.guesses = 0.6 if args.thumbnail and args.coldstart == "scripted" else 0.0
    return args


def pictures(args: argparse.Namespace) -> list[SourceImage] | None:
    """The pictures to cut puzzles from; None for the packaged photographs and scenes."""
    if args.images:
        shares = {"held_out": args.held_out, "development": args.development}
        return folder_pictures(args.images, args.needed, skip_bad=args.skip_bad, **shares)
    if args.photographs:
        unseen = [*photographs(args.photographs, "test"), *photographs(args.photographs, "development")]
        return [*photos("train"), *unseen]
    return hub_pictures(args) if args.hub else None


def hub_pictures(args: argparse.Namespace) -> list[SourceImage]:
    """The paper's mixture: its number of pictures to train on, and those to test and to choose on on top of them."""
    sources = [source for source in HUB if args.with_benchmarks or not source.benchmark]
    sources = script.hub_sources(args, sources)
    trained = {group: max(2, round(size * args.hub_share)) for group, size in SIZES.items()}
    sizes = with_held_out(trained, 2 * args.eval)

    def progress(group: str, have: int, wanted: int) -> None:
        if have % 100 == 0 or have == wanted:
            print(f"{group}: {have} of {wanted} pictures", flush=True)

    script.download(sources, sizes, args.out / "hub", progress=progress)
    unseen = {"held_out": args.eval, "development": args.eval}
    found = folder_pictures(args.out / "hub", sum(sizes.values()), longest=LONGEST, **unseen)
    return [replace(picture, kind="hub", licence="see its data set") for picture in found]


def puzzles(args: argparse.Namespace, sources: list[SourceImage] | None) -> tuple[list[Task], dict[str, list[Task]]]:
    """Training puzzles, and the sets of evaluation; no two sides have a picture in common."""
    how = cutting(args)
    unseen = None if sources is None else [s for s in sources if s.split != "train"]
    n = args.train or (sum(s.split == "train" for s in sources) if args.hub and sources else 640)
    seen = None if args.photographs else sources
    train = training_set(n, args.seed, photo_share=args.photo_share, sources=seen, **how)
    sides: dict[str, Split | None] = (
        {"eval": None} if unseen is None else {"eval": "test", "development": "development"}
    )
    evaluation = {
        f"{name}-{m}x{m}": evaluation_set(args.eval, args.seed + 1, m, sources=unseen, side=side, **how)
        for name, side in sides.items()
        for m in (2, 3)
    }
    check_split(train, of_side(evaluation, "eval"), sources, of_side(evaluation, "development"))
    return shown(args, train), {name: shown(args, tasks) for name, tasks in evaluation.items()}


def shown(args: argparse.Namespace, tasks: Sequence[Task]) -> list[Task]:
    """The puzzles as the prompt shows them."""
    return [with_thumbnails(task, args.thumbnail) for task in tasks]


def cutting(args: argparse.Namespace) -> dict[str, Any]:
    """Tell how pictures are cut: whole, or in square crops."""
    if (args.images or args.hub) and not args.crops:
        return {"piece_px": None, "whole": True, "max_pixels": args.max_pixels}
    return {"piece_px": args.piece_px or None}


def of_side(evaluation: dict[str, list[Task]], side: str) -> list[Task]:
    """The puzzles of one side's sets, all sizes together."""
    return [task for name, tasks in evaluation.items() if name.startswith(side) for task in tasks]


def coldstart(
    args: argparse.Namespace, sources: list[SourceImage] | None, evaluation: Sequence[Task]
) -> dict[str, int]:
    """Play, filter, balance, store; how many were played and kept.

    Args:
        args: the command line's options.
        sources: images to cut; None: the packages' photographs.
        evaluation: held-out tasks, which must not show up.
    """
    n = int(np.ceil(args.episodes * args.played))
    seen = None if args.photographs else sources
    tasks = shown(args, training_set(n, args.seed + 2, photo_share=args.photo_share, sources=seen, **cutting(args)))
    check_tasks(tasks, evaluation)
    steps = SHORT_STEPS if args.thumbnail else STEPS
    chat = Chat.from_pretrained(args.checkpoint)
    policy: Policy = (
        ScriptedPolicy(chat, expert_script(args.seed, steps, args.guesses))
        if args.coldstart == "scripted"
        else ServedPolicy(args.base_url, args.model, chat, args.key_env)
    )
    turns = max(steps) + 1
    tokens = 28192 + turns * args.max_new_tokens
    config = RolloutConfig(max_turns=turns, max_new_tokens=args.max_new_tokens, max_episode_tokens=tokens)
    with Sandbox() as box:
        played = collect(
            policy,
            chat,
            tasks,
            lambda: JigsawEnv(box, prompt=args.prompt),
            config,
            args.out / "coldstart-all.jsonl",
            progress=lambda done, of: print(f"cold start: {done} of {of} episodes played", flush=True),
        )
    kept, report = curate(played, args.episodes, np.random.default_rng(args.seed), steps, args.guesses)
    print(report, flush=True)
    save_episodes(args.out / "coldstart.jsonl", kept)
    if len(kept) < args.episodes:
        print(f"kept {len(kept)} of the {args.episodes} episodes asked for: raise --played", flush=True)
    return {"played": len(played), "kept": len(kept)}


def make(args: argparse.Namespace) -> None:
    """Make everything the command line asks for."""
    sources = pictures(args)
    try:
        train, evaluation = puzzles(args, sources)
    except LeakError as error:
        if not args.drop_leaks or sources is None:
            raise
        leaking = {pair.train for pair in error.pairs}
        sources = [s for s in sources if s.split == "test" or s.id not in leaking]
        print(f"left out {len(leaking)} pictures that look like one of another side", flush=True)
        train, evaluation = puzzles(args, sources)
    files = {"train": train, **evaluation}
    chat, play = Chat.from_pretrained(args.checkpoint), Play(prompt=args.prompt, max_new_tokens=args.max_new_tokens)
    written = {str(args.out / f"{name}.jsonl"): tasks for name, tasks in files.items()}
    with Sandbox(allow_unsafe=True) as box:  # all code that runs is the kit's
        check_playable(written, chat, lambda: play.environment(box), play, lambda task: validate(task, box))
    for name, tasks in files.items():
        save_tasks(args.out / f"{name}.jsonl", tasks)
        print(f"{name}: {len(tasks)} puzzles", flush=True)
    used = [*photos("train"), *photos("held-out")] if sources is None else sources
    manifest = {
        "files": {
            f"{name}.jsonl": {
                "puzzles": len(tasks),
                "pictures": len({task.meta["source"] for task in tasks}),
                "sha256": hashlib.sha256((args.out / f"{name}.jsonl").read_bytes()).hexdigest(),
            }
            for name, tasks in files.items()
        },
        "pictures_per_side": dict(Counter(picture.split for picture in used)),
        "arguments": {name: value if value is None else str(value) for name, value in vars(args).items()},
        "pictures": [{"id": p.id, "split": p.split, "kind": p.kind, "licence": p.licence} for p in used],
    }
    if len(used) <= 40:
        print(table(used), flush=True)
    if args.coldstart:
        manifest["coldstart"] = coldstart(args, sources, [task for tasks in evaluation.values() for task in tasks])
    write_json(args.out / "manifest.json", manifest)


def main(argv: Sequence[str] | None = None) -> int:
    """Run; 0, or 1 after printing what was wrong and what to do about it."""
    return script.run(lambda: make(options(argv)), "agile.py", (EndpointError,))


if __name__ == "__main__":
    print_anything()
    sys.exit(main())
