"""Measure tools on inputs with known replies and write their cards: ``python -m papers.vista_gym.measure NAME …``.

A card holds the tool's mean score over held-out inputs with its 95 % interval, how many replies were errors, and the
seconds of a call (the middle one, and the slowest): of a processor's time, so that what else the machine does then
doesn't count. Cards of tools that weren't measured again stay as they are.

A process reads an image's words once and remembers them, so tools that are measured together share the reading; what
reading costs stands on the card of :data:`READER`, and the other tools' seconds are those beside it.
"""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import numpy as np
from PIL import Image

from kit.episode import Action, NamedImage, Observation
from kit.evaluate.intervals import proportion
from kit.files import print_anything, write_bytes
from kit.tools.base import run_tool
from papers.vista_gym.cases import charts, diagrams, perception, solvers
from papers.vista_gym.cases.case import HELD_OUT, MakeCase
from papers.vista_gym.toolbox import TOOLS, toolbox
from visual_tools.tool import PureTool

CASES: Mapping[str, MakeCase] = {
    **perception.CASES,
    **charts.CASES,
    **diagrams.CASES,
    **solvers.CASES,
}
"""Tool's name → what draws its cases."""

CARDS = Path(__file__).with_name("tool_accuracies.toml")
"""Where the cards are kept."""

READER = "easyocr.read"
"""The tool whose own work is to read words."""

INPUTS = 200
"""Inputs that a card is measured on."""


@dataclass(frozen=True)
class Card:
    """A tool's measured accuracy.

    Attributes:
        accuracy: mean score.
        low: lower bound of its interval.
        high: upper bound of its interval.
        inputs: how many were measured.
        errors: replies that were errors.
        seconds: of a processor, of the middle call.
        slowest: seconds of the slowest call.
    """

    accuracy: float
    low: float
    high: float
    inputs: int
    errors: int
    seconds: float
    slowest: float


def measure(tool: PureTool, make: MakeCase, inputs: int = INPUTS, first: int = HELD_OUT) -> Card:
    """Measure a tool.

    Args:
        tool: what is called.
        make: draws its cases.
        inputs: how many.
        first: seed of the first; the others follow it.
    """
    scores, seconds, errors = [], [], 0
    for golden in tool.goldens[:1]:  # imports and weights, which no later call waits for
        _call(tool, golden.arguments, golden.image() if golden.image else None)
    for seed in range(first, first + inputs):
        case = make(np.random.default_rng(seed))
        seen, took = _call(tool, case.arguments, case.image)
        if tool.name != READER:  # the words are read now: a second call takes what the tool itself does
            took = _call(tool, case.arguments, case.image)[1]
        seconds.append(took)
        errors += seen.status != "ok"
        scores.append(case.right(seen.text))
    share = proportion(scores, list(range(inputs)))
    accuracy, low, high = (round(float(v), 4) for v in (share.value, share.low, share.high))
    return Card(accuracy, low, high, inputs, errors, round(median(seconds), 3), round(max(seconds), 3))


def _call(tool: PureTool, arguments: Mapping[str, Any], image: Image.Image | None) -> tuple[Observation, float]:
    """A tool's reply, and the seconds of a processor that it took."""
    images = {} if image is None else {"image": NamedImage("image", image)}
    start = process_time()
    seen = run_tool(tool, Action(tool.name, "", arguments), images)
    return seen, process_time() - start


def write_cards(cards: Mapping[str, Card], path: Path = CARDS) -> None:
    """Write cards into the file of all cards; those of other tools stay."""
    kept = tomllib.loads(path.read_text()) if path.is_file() else {}
    kept |= {name: asdict(card) for name, card in cards.items()}
    tables = [
        "\n".join([f'["{name}"]', *(f"{key} = {value}" for key, value in kept[name].items())]) for name in sorted(kept)
    ]
    write_bytes(path, ("# Written by python -m papers.vista_gym.measure.\n\n" + "\n\n".join(tables) + "\n").encode())


def main(argv: Sequence[str] | None = None) -> int:
    """Measure the tools that are named, or all that have cases, and write their cards."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(CASES)}")
    parser.add_argument("--inputs", type=int, default=INPUTS, help="inputs of each tool")
    parser.add_argument("--out", type=Path, default=CARDS, help="file of the cards")
    args = parser.parse_args(argv)
    if args.inputs < 1:
        parser.error(f"--inputs {args.inputs}: a tool is measured on at least 1")
    if unknown := [name for name in args.names if name not in CASES or name not in TOOLS]:
        parser.error(f"no tool {unknown[0]!r} with cases; there are {', '.join(CASES)}")
    for name in args.names or CASES:
        card = measure(toolbox([name])[name], CASES[name], args.inputs)
        print(f"{name}: {card.accuracy:.3f} ({card.low:.3f} to {card.high:.3f}), {card.seconds} s", flush=True)
        write_cards({name: card}, args.out)
    return 0


if __name__ == "__main__":
    print_anything()
    raise SystemExit(main())
