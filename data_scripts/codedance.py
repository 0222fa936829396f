"""Make CodeDance's data: drawn tasks, easy and hard, a scripted expert's demonstrations, the paper's sets.

    python data_scripts/codedance.py --out data/codedance                 # offline: everything drawn
    python data_scripts/codedance.py --out data/paper_codedance --hub --pin   # and the paper's questions and sets
    python data_scripts/codedance.py --out data/made --weak-to-strong [--questions rl.jsonl --weak NAME@URL …]

Written to --out: train.jsonl, development.jsonl and test.jsonl (of each kind --train, --development and --test tasks),
coldstart.jsonl (the expert's episodes on tasks of their own), pictures/ and manifest.json with counts and licences.
With --hub: rl.jsonl and sft.jsonl, the paper's own questions and demonstrations, of which those that look like a
benchmark's are left out, and eval-NAME.jsonl for each of its sets. Notebook 31 takes these three from its data.

With --weak-to-strong, sft.jsonl is made as the paper makes its own (3.2): a weak model sorts questions, a strong
one plays them, a judge decides. Models are named NAME@URL, behind endpoints: the paper has Qwen2.5-VL-7B for --weak and
Qwen2.5-VL-72B for --judge, and doesn't name the strong one. Without them the committed tiny model sorts, the scripted
expert plays and the drawn scene judges.

Every drawn task proves itself before anything is written: a script plays it in the agent's environment. No image of one
side lies on another. With --hub-root, data sets are read from FOLDER/OWNER/NAME, copies of the hub's, instead of the
network; which rows can't be used is told.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import islice
from pathlib import Path

from kit.chat import Chat
from kit.data.questions import QuestionSet, tasks_of
from kit.data.store import load_tasks, save_tasks
from kit.episode import Task
from kit.files import print_anything, write_json
from kit.images import as_opened
from kit.policy.endpoint import EndpointError, ServedPolicy
from kit.policy.hf import HFPolicy, load_model_and_chat
from kit.policy.scripted import ScriptedPolicy
from kit.train.demonstrations import collect
from kit.train.playable import check_playable
from papers.codedance.env import PROMPTS
from papers.codedance.evaluation_sets import BENCHMARKS, MAX_PIXELS, TRAINING, as_asked
from papers.codedance.experiment import Play, sandbox
from papers.codedance.expert import expert
from papers.codedance.tasks import MAKERS, check_apart, make_tasks
from papers.codedance.validate import validate
from papers.codedance.weak_to_strong import ModelJudge, by_scene, make_lessons
from tiny import TINY
from turn_sandbox import Sandbox
from workshop import script
from workshop.command_line import count, share, whole

LICENCES = {"drawn charts, sheets, figures, scenes and boards": "the kit's own (Apache-2.0); letters are DejaVu's"}
"""Of what the offline sets are made of."""


def options(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = script.parser(__doc__)
    add = parser.add_argument
    add("--train", type=whole, default=100, help="tasks of each kind to train on")
    add("--development", type=whole, default=20, help="tasks of each kind to make choices on")
    add("--test", type=whole, default=40, help="tasks of each kind to measure by")
    add(
        "--demonstrations",
        type=whole,
        default=100,
        help="the expert's episodes of each kind but the composed (claim C6)",
    )
    add("--needless", type=share, default=0.5, help="share of easy demonstrations that call for nothing")
    add("--prompt", choices=sorted(PROMPTS), default="brief", help="system text of the demonstrations")
    add("--seed", type=whole, default=0, help="draws what is trained on")
    add("--test-seed", type=whole, default=0, help="draws everything else: the same for every seed")
    add("--weak-to-strong", action="store_true", help="make sft.jsonl of --questions as the paper does")
    add(
        "--questions",
        type=Path,
        help="file of tasks, such as rl.jsonl of --hub; without: the demonstrations' drawn ones",
    )
    add("--tries", type=count, default=8, help="how often the weak model tries each question")
    for role in ("weak", "strong", "judge"):
        add(f"--{role}", default="", help="NAME@URL of a model behind an endpoint; without: see above")
    add("--max-pixels", type=whole, default=MAX_PIXELS, help="pixels of a hub's image as the prompt shows it")
    what = "the paper's questions and sets from the Hugging Face hub"
    script.add_hub(parser, what, "--hub-tasks", type=whole, default=0, help="questions of each set; 0: all")
    args = script.read(parser, argv, ("hub",))
    for role in ("weak", "strong", "judge"):
        name, _, url = getattr(args, role).rpartition("@")
        if getattr(args, role) and not (name and url.startswith("http")):
            parser.error(
                f"--{role} {getattr(args, role)}: write NAME@URL, such as Qwen/Qwen2.5-VL-72B@http://host:8000/v1"
            )
    if args.questions and not args.strong:
        parser.error("--questions needs --strong: the scripted expert knows drawn questions alone")
    return args


def drawn(args: argparse.Namespace) -> dict[str, list[Task]]:
    """The drawn sets: three sides and the tasks of the demonstrations."""
    shown = {kind: args.demonstrations for kind in MAKERS if not kind.startswith("composed")}
    sets = {
        "train": make_tasks(dict.fromkeys(MAKERS, args.train), args.seed),
        "development": make_tasks(dict.fromkeys(MAKERS, args.development), args.test_seed, "development"),
        "test": make_tasks(dict.fromkeys(MAKERS, args.test), args.test_seed, "test"),
        "coldstart": make_tasks(shown, args.seed + 1_000_000),  # other tasks than reinforcement's
    }
    check_apart([*sets["train"], *sets["coldstart"]], sets["development"], sets["test"])
    return sets


def hub(args: argparse.Namespace) -> dict[str, list[Task]]:
    """The paper's questions and its sets, at pinned commits; none that is trained on looks like a benchmark's."""
    sources = script.hub_sources(args, (*BENCHMARKS.values(), *TRAINING.values()))

    def read(source: QuestionSet) -> list[Task]:
        found = tasks_of(source, as_opened)
        return [as_asked(task, args.max_pixels) for task in islice(found, args.hub_tasks or None)]

    found = {source.name: read(source) for source in sources}
    measured = {task.meta["source"]: task.images[0].image for name in BENCHMARKS for task in found[name]}
    own = {name: script.unlike(found[name], measured.items(), "a benchmark's") for name in TRAINING}
    return own | {f"eval-{name}": found[name] for name in BENCHMARKS}


def demonstrate(args: argparse.Namespace, tasks: Sequence[Task], chat: Chat, box: Sandbox) -> int:
    """Write the expert's episodes; returns how many there are.

    Args:
        args: the command line's options.
        tasks: what it plays.
        chat: encodes the episodes.
        box: runs its code.
    """
    play, file = Play(prompt=args.prompt, temperature=0.0), args.out / "coldstart.jsonl"
    file.unlink(missing_ok=True)  # else episodes of other tasks, from an earlier run, would stay in it
    policy = ScriptedPolicy(chat, expert(args.needless, args.prompt))
    return len(collect(policy, chat, tasks, partial(play.environment, box), play, file))


def weak_to_strong(args: argparse.Namespace, tasks: Sequence[Task], chat: Chat) -> list[Task]:
    """Lessons of questions, by the models that the command line names, or by those that every machine has.

    Args:
        args: the command line's options.
        tasks: the questions.
        chat: encodes what is asked.
    """

    def served(told: str) -> ServedPolicy:
        name, _, url = told.rpartition("@")
        return ServedPolicy(url, name, chat)

    weak = served(args.weak) if args.weak else HFPolicy(load_model_and_chat(TINY)[0], chat)
    strong = served(args.strong) if args.strong else ScriptedPolicy(chat, expert(0.0, args.prompt))
    judge = ModelJudge(served(args.judge), chat) if args.judge else by_scene
    with sandbox(allow_unsafe=not args.strong) as box:  # a model's code runs confined or not at all
        play = Play(prompt=args.prompt, max_new_tokens=2048 if args.weak else 72)
        found = make_lessons((weak, strong), judge, chat, tasks, play, box, args.out, args.tries)
    print(f"{'weak to strong':18s} {len(found)} of {len(tasks)} questions became lessons", flush=True)
    return found


def make(args: argparse.Namespace) -> None:
    """Make everything the command line asks for."""
    sets, chat = drawn(args) | (hub(args) if args.hub else {}), Chat.from_pretrained(TINY)
    with sandbox(allow_unsafe=True) as box:  # all code that runs is the kit's
        proven = {str(args.out / f"{name}.jsonl"): tasks for name, tasks in sets.items()}
        check_playable(proven, chat, validate=partial(validate, tools=box))
        shown = sets.pop("coldstart")
        if args.weak_to_strong:
            sets["sft"] = weak_to_strong(args, load_tasks(args.questions) if args.questions else shown, chat)
        for name, tasks in sets.items():
            save_tasks(args.out / f"{name}.jsonl", tasks)
            print(f"{name:18s} {len(tasks)} tasks", flush=True)
        episodes = demonstrate(args, shown, chat, box)
    print(f"{'coldstart':18s} {episodes} episodes", flush=True)
    manifest = {
        "seed": args.seed,
        "test_seed": args.test_seed,
        "licences": LICENCES | {s.id: s.licence for s in (*BENCHMARKS.values(), *TRAINING.values()) if args.hub},
        "sets": {name: dict(Counter(_kind(task) for task in tasks)) for name, tasks in sets.items()},
        "coldstart": episodes,
    }
    write_json(args.out / "manifest.json", manifest)


def _kind(task: Task) -> str:
    """The kind and level of a task."""
    return "/".join(part for part in (str(task.meta["kind"]), str(task.meta["level"])) if part)


def main(argv: Sequence[str] | None = None) -> int:
    """Make the data, or say in one line why not."""
    return script.run(lambda: make(options(argv)), errors=(EndpointError,))


if __name__ == "__main__":
    print_anything()
    sys.exit(main())
