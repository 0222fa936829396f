"""Make Mags-RL's data: boards of cards for two stages, a format start, and the paper's sets by a judge's difficulty.

    python data_scripts/mags_rl.py --out data/mags_rl                    # offline: everything drawn
    python data_scripts/mags_rl.py --out data/mags_rl --cutouts FOLDER   # and scenes of cut-outs on photographs
    python data_scripts/mags_rl.py --out data/paper_mags --hub --pin --judge http://host:8000/v1 --judge-model NAME

Written to --out: stage1.jsonl and stage2.jsonl (--samples tasks each), development.jsonl and test.jsonl (of each kind
--development and --test tasks), test-small.jsonl (hard kinds, cards of --small-card pixels: a harsher source for the
super-resolution), start.jsonl (the format start's episodes on tasks of their own), pictures/ and manifest.json with
counts and licences. A larger stage begins with the tasks of a smaller one: 20 samples are the first of 200.

With --cutouts: scenes-train.jsonl, scenes-development.jsonl and scenes-test.jsonl, on packaged photographs. With --hub:
hub-stage1.jsonl and hub-stage2.jsonl from the training splits, whose images look like none that is measured on, and
zoom-easy.jsonl, zoom-medium.jsonl and zoom-hard.jsonl, sorted by the judge (its replies are kept in judged.jsonl);
without a judge eval-NAME.jsonl, unsorted. With --more-samples 200 also hub-stage1-more.jsonl and hub-stage2-more.jsonl,
ten times as large.

Every drawn task proves itself before anything is written. No image of one side lies on another. With --hub-root, data
sets are read from FOLDER/OWNER/NAME, copies of the hub's, instead of the network.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from kit.chat import Chat
from kit.data.questions import QuestionSet
from kit.data.split import Side
from kit.data.store import save_tasks
from kit.episode import Task
from kit.files import print_anything, write_json
from kit.policy.endpoint import EndpointError, ServedPolicy
from kit.train.playable import check_playable
from papers.mags_rl.composed import CELLS, SKILLS, compose, cutouts
from papers.mags_rl.difficulty import judged, zoom_sets
from papers.mags_rl.env import PROMPTS
from papers.mags_rl.evaluation_sets import BENCHMARKS, MAX_PIXELS, TRAINING, questions
from papers.mags_rl.expert import RIGHT_SHARE
from papers.mags_rl.format_start import NETWORKS, demonstrations
from papers.mags_rl.questions import MAKERS
from papers.mags_rl.tasks import SMALL, STAGES, make_tasks
from papers.mags_rl.validate import validate
from pictures.keyed import check_apart
from pictures.photos import photos
from tiny import TINY
from workshop import script
from workshop.command_line import count, share, whole

LICENCES = {
    "drawn boards": "the kit's own (Apache-2.0); letters are DejaVu's, handwriting scikit-learn's digits (CC BY 4.0)"
}
"""Of what the offline sets are made of."""


def options(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = script.parser(__doc__)
    add = parser.add_argument
    add("--samples", type=whole, default=20, help="tasks of each stage (the paper: 20)")
    add("--more-samples", type=whole, default=0, help="tasks of each of the hub's larger stages; 0: there are none")
    add("--development", type=whole, default=20, help="tasks of each kind to make choices on")
    add("--test", type=whole, default=40, help="tasks of each kind to measure by")
    add("--demonstrations", type=whole, default=66, help="the format start's episodes of each kind")
    add("--right-share", type=share, default=RIGHT_SHARE, help="share of these that look where the answer is")
    add("--magnifiers", default=",".join(NETWORKS), help="what enlarges the format start's crops, in equal shares")
    add("--card", type=count, default=70, help="pixels of a card's side on the boards that crops are cut from")
    add("--small-card", type=count, default=SMALL, help="the same, of test-small.jsonl")
    add("--prompt", choices=sorted(PROMPTS), default="brief", help="system text of the format start")
    add("--seed", type=whole, default=0, help="draws what is trained on")
    add("--test-seed", type=whole, default=0, help="draws everything else: the same for every seed")
    add("--cutouts", type=Path, help="folder of PNG cut-outs, such as tuxpaint-stamps-default's: scenes of them, too")
    add("--max-pixels", type=whole, default=MAX_PIXELS, help="pixels of a hub's image as the prompt shows it")
    add("--judge", default="", help="address of an endpoint whose model judges difficulty, http://host:port/v1")
    add("--judge-model", default="Qwen/Qwen3-VL-4B-Instruct", help="its model (the paper's)")
    what = "the paper's sets from the Hugging Face hub"
    script.add_hub(parser, what, "--hub-tasks", type=whole, default=0, help="questions of each set; 0: all")
    return script.read(parser, argv, ("hub",))


def drawn(args: argparse.Namespace) -> dict[str, list[Task]]:
    """The drawn sets: two stages, the tasks of the format start, two sides to choose and to measure on."""

    def stage(number: int) -> list[Task]:
        kinds = STAGES[number]
        return make_tasks({kind: -(-args.samples // len(kinds)) for kind in kinds}, args.seed, card=args.card)

    hard = [kind for kind in MAKERS if kind.endswith("/hard")]
    sets = {
        "stage1": stage(1),
        "stage2": stage(2),
        "development": make_tasks(dict.fromkeys(MAKERS, args.development), args.test_seed, "development", args.card),
        "test": make_tasks(dict.fromkeys(MAKERS, args.test), args.test_seed, "test", args.card),
        "test-small": make_tasks(dict.fromkeys(hard, args.test), args.test_seed, "test", args.small_card),
        "start": make_tasks(dict.fromkeys(MAKERS, args.demonstrations), args.seed + 1_000_000, card=args.card),
    }
    trained = [*sets["stage1"], *sets["stage2"], *sets["start"]]
    check_apart(trained, sets["development"], [*sets["test"], *sets["test-small"]])
    return sets


def scenes(args: argparse.Namespace) -> dict[str, list[Task]]:
    """Scenes of cut-outs: packaged photographs behind them, those that are held out shared by name."""
    colour = {one.id: one for split in ("train", "held-out") for one in photos(split) if one.kind == "colour"}
    held_out = sorted(name for name, one in colour.items() if one.split == "held-out")
    behind: dict[Side, list[str]] = {
        "train": [name for name in colour if name not in held_out],
        "development": held_out[::2],
        "test": held_out[1::2],
    }
    amounts = {"train": args.samples, "development": args.development, "test": args.test}
    kinds = [f"{skill}/{difficulty}" for skill in SKILLS for difficulty in CELLS]
    made = {
        side: compose(
            dict.fromkeys(kinds, amounts[side]),
            args.seed if side == "train" else args.test_seed,
            side,
            cutouts(args.cutouts, side),
            [colour[name].image for name in names],
        )
        for side, names in behind.items()
    }
    check_apart(*made.values())
    return {f"scenes-{side}": tasks for side, tasks in made.items()}


def hub(args: argparse.Namespace, chat: Chat) -> dict[str, list[Task]]:
    """The paper's sets at pinned commits, and as many questions of their training splits as the stages have."""
    sources = script.hub_sources(args, (*BENCHMARKS.values(), *TRAINING.values()))

    def read(some: Sequence[QuestionSet], n: int) -> dict[str, list[Task]]:
        return {source.name: questions(source, n, args.max_pixels) for source in some}

    evaluation = read(sources[: len(BENCHMARKS)], args.hub_tasks)
    benchmarks = [task for tasks in evaluation.values() for task in tasks]
    measured = {task.meta["source"]: task.tool_images[0].image for task in benchmarks}
    # More than needed: some look alike, some are easy.
    pool = read(sources[len(BENCHMARKS) :], 4 * max(args.samples, args.more_samples))
    own = [task for tasks in pool.values() for task in script.unlike(tasks, measured.items(), "one measured on")]
    if not args.judge:
        return staged(args, own, {}) | {f"eval-{name}": tasks for name, tasks in evaluation.items()}
    judge = ServedPolicy(args.judge, args.judge_model, chat)
    scores = judged(judge, chat, benchmarks, args.out / "judged.jsonl")
    print(f"{len(scores)} of {len(benchmarks)} questions have a zoom score; the others are left out", flush=True)
    zoom = judged(judge, chat, own, args.out / "judged-training.jsonl")
    clear = [task for task in own if task.id in zoom]
    print(f"{len(clear)} of {len(own)} questions to train on have a zoom score; the others are left out", flush=True)
    return staged(args, clear, zoom) | {f"zoom-{name}": tasks for name, tasks in zoom_sets(benchmarks, scores).items()}


def staged(args: argparse.Namespace, own: Sequence[Task], scores: Mapping[str, float]) -> dict[str, list[Task]]:
    """Both stages, and the larger ones beside them.

    Args:
        args: of the command line.
        own: questions to train on.
        scores: their zoom scores, as for :func:`hub_stages`.
    """
    more = hub_stages(own, scores, args.more_samples) if args.more_samples else {}
    return hub_stages(own, scores, args.samples) | {f"{name}-more": tasks for name, tasks in more.items()}


def hub_stages(own: Sequence[Task], scores: Mapping[str, float], samples: int) -> dict[str, list[Task]]:
    """The first stage's questions, of TallyQA and VSR, and the second's, of TallyQA and GQA: there the harder ones.

    Args:
        own: questions to train on.
        scores: their zoom scores; without a judge there are none, and the order is the sets'.
        samples: of each stage.
    """
    ranked = sorted(own, key=lambda task: scores.get(task.id, 0.0))
    by_set = {name: [task for task in ranked if task.meta["set"] == name] for name in TRAINING}
    half = samples // 2

    def hardest(tasks: list[Task]) -> list[Task]:
        return tasks[max(0, len(tasks) - half) :]

    return {
        "hub-stage1": [*by_set["tallyqa"][:half], *by_set["vsr"][:half]],
        "hub-stage2": [*hardest(by_set["tallyqa"][half:]), *hardest(by_set["gqa"])],
    }


def demonstrate(args: argparse.Namespace, tasks: Sequence[Task], chat: Chat) -> int:
    """Write the format start's episodes, an equal share of them with each magnifier; returns how many there are.

    Args:
        args: of the command line.
        tasks: the tasks to show.
        chat: of the model that is going to imitate them.
    """
    file = args.out / "start.jsonl"
    file.unlink(missing_ok=True)  # else episodes of other tasks, from an earlier run, would stay in it
    networks, scale = args.magnifiers.split(","), round(140 / args.card)
    return len(demonstrations(chat, tasks, file, args.right_share, networks, scale, args.prompt))


def make(args: argparse.Namespace) -> None:
    """Make everything the command line asks for."""
    chat = Chat.from_pretrained(TINY)
    sets = drawn(args) | (scenes(args) if args.cutouts else {}) | (hub(args, chat) if args.hub else {})
    check_playable({str(args.out / f"{name}.jsonl"): tasks for name, tasks in sets.items()}, chat, validate=validate)
    shown = sets.pop("start")
    for name, tasks in sets.items():
        save_tasks(args.out / f"{name}.jsonl", tasks)
        print(f"{name:18s} {len(tasks)} tasks", flush=True)
    episodes = demonstrate(args, shown, chat)
    print(f"{'start':18s} {episodes} episodes", flush=True)
    manifest = {
        "seed": args.seed,
        "test_seed": args.test_seed,
        "right_share": args.right_share,
        "licences": licences(args),
        "sets": {name: dict(Counter(_kind(task) for task in tasks)) for name, tasks in sets.items()},
        "start": episodes,
    }
    write_json(args.out / "manifest.json", manifest)


def licences(args: argparse.Namespace) -> dict[str, str]:
    """Of all that the sets are made of."""
    found = dict(LICENCES)
    if args.cutouts:
        found[str(args.cutouts)] = "its package's; tuxpaint's stamps are under the GPL-2"
        found |= {
            photo.id: photo.licence for photo in (*photos("train"), *photos("held-out")) if photo.kind == "colour"
        }
    if args.hub:
        found |= {source.id: source.licence for source in (*BENCHMARKS.values(), *TRAINING.values())}
    return found


def _kind(task: Task) -> str:
    """The skill and difficulty of a task."""
    return "/".join(part for part in (str(task.meta["skill"]), str(task.meta["difficulty"])) if part)


def main(argv: Sequence[str] | None = None) -> int:
    """Make the data, or say in one line why not."""
    return script.run(lambda: make(options(argv)), errors=(EndpointError,))


if __name__ == "__main__":
    print_anything()
    sys.exit(main())
