"""Make VISTA-Gym's data: drawn tasks of seven families, and the paper's sets.

    python data_scripts/vista_gym.py --out data/vista_gym                     # offline: everything drawn
    python data_scripts/vista_gym.py --out data/paper_vista_gym --hub --pin   # and the paper's sets

Written to --out: train.jsonl, development.jsonl and test.jsonl (of each kind --train, --development and --test tasks),
pictures/ and manifest.json with counts and licences. With --hub: hub-train.jsonl, of each set as many questions as
the paper trains on, of which those that look like a benchmark's are left out, and eval-NAME.jsonl for each set that it
measures on; --hub-tasks takes fewer.

Every drawn task proves itself before it is written: a script plays it in the agent's environment. A tool misreads an
image now and then; such tasks are left out and counted. No image of one side lies on another. With --hub-root, data
sets are read from FOLDER/OWNER/NAME, copies of the hub's, instead of the network; which rows can't be used is told.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence

from kit.data.store import save_tasks
from kit.episode import Task
from kit.files import print_anything, write_json
from kit.train.playable import check_playable
from papers.vista_gym.evaluation_sets import (
    BENCHMARKS,
    MAX_PIXELS,
    MEASURED_ON,
    TRAINED_ON,
    TRAINING,
    questions,
    skipped,
)
from papers.vista_gym.tasks import MAKERS, SHOWN, make_tasks
from papers.vista_gym.toolbox import toolbox
from papers.vista_gym.validate import solvable
from pictures.keyed import check_apart
from workshop import script
from workshop.command_line import count, whole

LICENCES = {
    "drawn charts, diagrams, maps, pages and scenes": "the kit's own (Apache-2.0); letters are DejaVu's and STIX', "
    "handwriting scikit-learn's digits (CC BY 4.0)"
}
"""Of what the offline sets are made of."""


def options(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = script.parser(__doc__)
    add = parser.add_argument
    add("--train", type=whole, default=40, help="tasks of each kind to train on")
    add("--development", type=whole, default=8, help="tasks of each kind to make choices on")
    add("--test", type=whole, default=16, help="tasks of each kind to measure by")
    add("--kinds", default=",".join(MAKERS), help="which kinds, by family/set; all by default")
    add("--shown", type=count, default=SHOWN, help="pixels of the longer side of what a prompt shows")
    add("--seed", type=whole, default=0, help="draws what is trained on")
    add("--test-seed", type=whole, default=0, help="draws everything else: the same for every seed")
    add("--max-pixels", type=whole, default=MAX_PIXELS, help="pixels of a hub's image as the prompt shows it")
    what = "the paper's sets from the Hugging Face hub"
    script.add_hub(
        parser, what, "--hub-tasks", type=whole, default=0, help="questions of each set; 0: as the paper has"
    )
    return script.read(parser, argv, ("hub",))


def drawn(args: argparse.Namespace) -> dict[str, list[Task]]:
    """The drawn sets of three sides, without what the tools don't solve."""
    kinds, tools = args.kinds.split(","), list(toolbox().values())
    made = {
        "train": make_tasks(dict.fromkeys(kinds, args.train), args.seed, shown=args.shown),
        "development": make_tasks(dict.fromkeys(kinds, args.development), args.test_seed, "development", args.shown),
        "test": make_tasks(dict.fromkeys(kinds, args.test), args.test_seed, "test", args.shown),
    }
    check_apart(*made.values())
    kept = {name: solvable(tasks, tools) for name, tasks in made.items()}
    for name, tasks in kept.items():
        print(f"{name}: left out {len(made[name]) - len(tasks)} of {len(made[name])} that the tools don't solve")
    return kept


def hub(args: argparse.Namespace) -> dict[str, list[Task]]:
    """The paper's sets, at pinned commits; none that is trained on looks like a benchmark's."""
    both = (*BENCHMARKS.values(), *TRAINING.values())
    sources = script.hub_sources(args, both)
    measured, trained = sources[: len(BENCHMARKS)], sources[len(BENCHMARKS) :]
    most, pixels = args.hub_tasks, args.max_pixels
    tests: dict[str, list[Task]] = {}
    for source in measured:
        skip = min(skipped(source.name), most) if most else skipped(source.name)
        tests[source.name] = questions(source, most or MEASURED_ON[source.name], skip, pixels)
    own = [task for s in trained for task in questions(s, most or TRAINED_ON[s.name], 0, pixels)]
    images = {task.meta["source"]: task.images[0].image for tasks in tests.values() for task in tasks}
    return {
        "hub-train": script.unlike(own, images.items(), "a benchmark's"),
        **{f"eval-{n}": t for n, t in tests.items()},
    }


def make(args: argparse.Namespace) -> None:
    """Make everything the command line asks for."""
    sets = drawn(args) | (hub(args) if args.hub else {})
    check_playable({str(args.out / f"{name}.jsonl"): tasks for name, tasks in sets.items()})
    for name, tasks in sets.items():
        save_tasks(args.out / f"{name}.jsonl", tasks)
        print(f"{name:18s} {len(tasks)} tasks", flush=True)
    used = (*BENCHMARKS.values(), *TRAINING.values()) if args.hub else ()
    manifest = {
        "seed": args.seed,
        "test_seed": args.test_seed,
        "licences": LICENCES | {source.id: source.licence for source in used},
        "sets": {name: dict(Counter(f"{t.meta['family']}/{t.meta['set']}" for t in ts)) for name, ts in sets.items()},
    }
    write_json(args.out / "manifest.json", manifest)


def main(argv: Sequence[str] | None = None) -> int:
    """Make the data, or say in one line why not."""
    return script.run(lambda: make(options(argv)))


if __name__ == "__main__":
    print_anything()
    sys.exit(main())
