"""Exercises of notebook 51: a call in JSON, ChartQA's tolerance, chains of tools, and what a proper task is."""

from __future__ import annotations

import json
import random
from typing import Any

from workshop.exercises import Exercise, Mistake


def value_of(label: str, series: str) -> str:
    """Tool and arguments; the series only where there are several."""
    arguments = {"of": label, **({"series": series} if series else {})}
    return json.dumps({"tool": "unichart.to_table", "arguments": arguments})


def allowed(gold: float) -> tuple[float, float]:
    """The wider of 0.1 and 5 %."""
    off = max(0.1, 0.05 * gold)
    return gold - off, gold + off


def chain(accuracies: list[float]) -> float:
    """The product."""
    share = 1.0
    for accuracy in accuracies:
        share *= accuracy
    return share


def proper() -> list[str]:
    """Found on the original, not in the prompt's image, and not by the unsuitable call."""
    return ["a"]


def _always_series(label: str, series: str) -> str:
    return json.dumps({"tool": "unichart.to_table", "arguments": {"of": label, "series": series}})


def _never_series(label: str, series: str) -> str:
    return json.dumps({"tool": "unichart.to_table", "arguments": {"of": label}})


def _flat(label: str, series: str) -> str:
    named = {"series": series} if series else {}
    return json.dumps({"tool": "unichart.to_table", "of": label, **named})


def _python(label: str, series: str) -> str:
    named = {"series": series} if series else {}
    return str({"tool": "unichart.to_table", "arguments": {"of": label, **named}})


def _label(label: str, series: str) -> dict[str, Any]:
    return {"label": label, "series": series}


def _other_labels(seed: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    words = rng.sample(["fish", "corn", "oslo", "bern", "kim", "leo", "noa", "plum"], 4)
    return [_label(words[0], ""), _label(words[1], words[2]), _label(words[3], "Blue team")]


def _other_golds(seed: int) -> list[dict[str, Any]]:
    """Below 2 the tenth decides, above it the share."""
    rng = random.Random(seed)
    return [{"gold": round(rng.uniform(low, high), 3)} for low, high in ((0.2, 0.8), (1, 1.9), (2.1, 9), (50, 4000))]


def _other_chains(seed: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    return [{"accuracies": [round(rng.uniform(0.3, 0.95), 2) for _ in range(n)]} for n in (2, 3, 4)]


EXERCISES = [
    Exercise(
        "51.1",
        value_of,
        'json.dumps of an object with "tool" and "arguments"; in the latter stand "of", and "series" if there is one.',
        cases=[_label("tea", ""), _label("milk", "Online"), _label("red", ""), _label("jam", "Plan")],
        hidden=_other_labels,
        mistakes=[
            Mistake(_always_series, "An empty series is no series: leave it out."),
            Mistake(_never_series, "Where there is a series, the tool has to be told which."),
            Mistake(_flat, "What the tool is told stands in an object of its own, under arguments."),
            Mistake(_python, "JSON has double quotes: json.dumps writes them."),
        ],
    ),
    Exercise(
        "51.2",
        allowed,
        "Whichever of the two is wider counts: gold ± 0.1, or gold ± 5 % of gold.",
        cases=[{"gold": 1.5}, {"gold": 40.0}, {"gold": 2.0}, {"gold": 0.4}, {"gold": 1200.0}],
        hidden=_other_golds,
        mistakes=[
            Mistake(lambda gold: (0.95 * gold, 1.05 * gold), "Of small numbers 0.1 is more than 5 %."),
            Mistake(lambda gold: (gold - 0.1, gold + 0.1), "Of large numbers 5 % is more than 0.1."),
            Mistake(
                lambda gold: (gold - min(0.1, 0.05 * gold), gold + min(0.1, 0.05 * gold)),
                "One of the two is enough: the wider one counts.",
            ),
        ],
    ),
    Exercise(
        "51.3",
        chain,
        "Each call is right with its own chance, whatever the others do: multiply.",
        cases=[
            {"accuracies": [0.9, 0.8]},
            {"accuracies": [1.0]},
            {"accuracies": [0.5, 0.5, 0.5]},
            {"accuracies": [0.7, 0.0]},
        ],
        hidden=_other_chains,
        mistakes=[
            Mistake(lambda accuracies: min(accuracies), "A chain is weaker than its weakest link."),
            Mistake(lambda accuracies: sum(accuracies) / len(accuracies), "The mean is what one call is worth."),
        ],
    ),
    Exercise(
        "51.4",
        proper,
        "The right call finds 7 on the original and not in the prompt's image; the other call never finds it.",
        mistakes=[
            Mistake(lambda: ["a", "c"], "If the prompt's image is enough, no tool is needed: show less of it."),
            Mistake(lambda: ["a", "d"], "A call that is named as unsuitable mustn't say the answer."),
            Mistake(lambda: ["a", "c", "d"], "Look at the second and third text of each as well."),
            Mistake(lambda: ["a", "b"], "A call that finds 8 doesn't find the answer."),
        ],
    ),
]
