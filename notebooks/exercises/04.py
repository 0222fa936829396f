"""Exercises of notebook 04: image tokens, their patches and positions, a vocabulary's share, the loss of the blind."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from typing import Any

from workshop.exercises import Exercise, Mistake


def image_tokens(width: int, height: int) -> int:
    """One token for each square of 28 × 28 pixels."""
    return (width // 28) * (height // 28)


def patches_of(token: int, columns: int) -> list[int]:
    """Find the token's row and column first, then its upper left patch."""
    row, column = divmod(token, columns // 2)
    first = 2 * row * columns + 2 * column
    return [first, first + 1, first + columns, first + columns + 1]


def picture_positions(start: int, rows: int, columns: int) -> list[tuple[int, int, int]]:
    """One time for all; rows and columns count up from the start."""
    return [(start, start + row, start + column) for row in range(rows) for column in range(columns)]


def share_of_embeddings(parts: Mapping[str, int], tokens: int) -> float:
    """Embeddings grow in proportion to the vocabulary; everything else stays."""
    embeddings = parts["embeddings"] / tokens * 152064
    return embeddings / (sum(parts.values()) - parts["embeddings"] + embeddings)


def blind_loss(pieces: int, known: int, tokens: int) -> float:
    """The logarithm of the number of arrangements that are left, spread over the answer's tokens."""
    return math.log(math.factorial(pieces - known)) / tokens


def _per_patch(width: int, height: int) -> int:
    return (width // 14) * (height // 14)


def _sides_added(width: int, height: int) -> int:
    return width // 28 + height // 28


def _in_reading_order(token: int, columns: int) -> list[int]:
    return [4 * token + k for k in range(4)]


def _first_row_only(token: int, columns: int) -> list[int]:
    return [2 * token, 2 * token + 1, 2 * token + columns, 2 * token + columns + 1]


def _down_first(token: int, columns: int) -> list[int]:
    first, right, below, last = patches_of(token, columns)
    return [first, below, right, last]


def _swapped(start: int, rows: int, columns: int) -> list[tuple[int, int, int]]:
    return [(time, column, row) for time, row, column in picture_positions(start, rows, columns)]


def _time_counts(start: int, rows: int, columns: int) -> list[tuple[int, int, int]]:
    return [(start + k, row, column) for k, (_, row, column) in enumerate(picture_positions(start, rows, columns))]


def _from_zero(start: int, rows: int, columns: int) -> list[tuple[int, int, int]]:
    return [(start, row - start, column - start) for _, row, column in picture_positions(start, rows, columns)]


def _column_by_column(start: int, rows: int, columns: int) -> list[tuple[int, int, int]]:
    return [(start, start + row, start + column) for column in range(columns) for row in range(rows)]


def _of_the_old_total(parts: Mapping[str, int], tokens: int) -> float:
    return parts["embeddings"] / tokens * 152064 / sum(parts.values())


def _old_ones_kept(parts: Mapping[str, int], tokens: int) -> float:
    embeddings = parts["embeddings"] / tokens * 152064
    return embeddings / (sum(parts.values()) + embeddings)


def _guess(pieces: int, known: int, tokens: int) -> float:
    left = pieces - known
    return left * math.log(left) / tokens


def _other_pictures(seed: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    sides = [
        (1, rng.randint(3, 40)),
        (rng.randint(3, 40), 1),
        *((rng.randint(9, 40), rng.randint(3, 40)) for _ in range(2)),
    ]
    return [{"width": 28 * columns, "height": 28 * rows} for columns, rows in sides]


def _other_places(seed: int) -> list[dict[str, Any]]:
    """Tokens in the first row, at the beginning and at the end of a later one, and in a picture of one column."""
    rng = random.Random(seed)
    found = [{"token": rng.randint(4, 30), "columns": 2}]
    for row, first in ((0, False), (rng.randint(1, 9), True), (rng.randint(1, 9), False)):
        across = rng.randint(5, 20)
        found.append({"token": row * across + (0 if first else across - 1), "columns": 2 * across})
    return found


def _other_grids(seed: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    sides = [(1, rng.randint(2, 6)), (rng.randint(2, 6), 1), (rng.randint(2, 4), rng.randint(2, 6))]
    return [{"start": rng.randint(6, 300), "rows": rows, "columns": columns} for rows, columns in sides]


def _other_puzzles(seed: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    found = []
    for pieces in (5, 9, 16):
        known = [0, rng.randint(1, pieces - 2), pieces - 1]  # the last one leaves nothing to guess
        found += [{"pieces": pieces, "known": n, "tokens": rng.randint(11, 39)} for n in known]
    return found


EXERCISES = [
    Exercise(
        "04.1",
        image_tokens,
        "How many squares of 28 × 28 pixels lie beside each other, and how many above each other?",
        cases=[
            {"width": 112, "height": 56},
            {"width": 28, "height": 28},
            {"width": 84, "height": 140},
            {"width": 224, "height": 224},
        ],
        hidden=_other_pictures,
        mistakes=[
            Mistake(_per_patch, "Those are patches. Four of them, 2 × 2, make one token."),
            Mistake(_sides_added, "You add the two numbers of squares. A picture has rows *and* columns of them."),
            Mistake(lambda width, height: width * height // 28, "One token covers 28 × 28 pixels, not 28."),
            Mistake(
                lambda width, height: (width // 56) * (height // 56),
                "A token is 28 pixels wide: two patches of 14, not four.",
            ),
        ],
    ),
    Exercise(
        "04.2",
        patches_of,
        "A row of tokens holds columns / 2 of them: from that, the token's row and column. Its upper left patch has "
        "twice that row and twice that column; one row of patches further down means `columns` more.",
        cases=[
            {"token": 0, "columns": 4},
            {"token": 1, "columns": 4},
            {"token": 2, "columns": 4},
            {"token": 7, "columns": 8},
            {"token": 4, "columns": 6},
            {"token": 3, "columns": 2},
        ],
        hidden=_other_places,
        mistakes=[
            Mistake(_in_reading_order, "Four patches in reading order lie beside each other. A token is a square."),
            Mistake(
                _first_row_only,
                "That is right in the first row of tokens. A row of tokens is half as long as a row of patches, and "
                "each further one lies two rows of patches lower.",
            ),
            Mistake(_down_first, "The order is upper left, upper right, lower left, lower right."),
        ],
    ),
    Exercise(
        "04.3",
        picture_positions,
        "Two loops, rows outside and columns inside. Time stays at start; row and column are added to start.",
        cases=[
            {"start": 5, "rows": 2, "columns": 4},
            {"start": 0, "rows": 1, "columns": 1},
            {"start": 3, "rows": 3, "columns": 2},
        ],
        hidden=_other_grids,
        mistakes=[
            Mistake(_swapped, "Row and column are exchanged: in reading order the column changes first."),
            Mistake(_time_counts, "A still picture is one moment: all its tokens share one time."),
            Mistake(_from_zero, "Rows and columns count up from where the text stopped, not from 0."),
            Mistake(_column_by_column, "Reading order goes along a row first, then to the next row."),
        ],
    ),
    Exercise(
        "04.4",
        share_of_embeddings,
        'Parameters of one token\'s embedding = budgets["tiny"]["embeddings"] / len(chat.tokenizer). Times 152,064 are '
        "the new embeddings; the new total is the old one, with the new embeddings instead of the old.",
        mistakes=[
            Mistake(_of_the_old_total, "The total grows as well. A share is at most 1."),
            Mistake(_old_ones_kept, "The new embeddings replace the old ones: take those out of the total."),
            Mistake(lambda parts, tokens: parts["embeddings"] / sum(parts.values()), "That is the share as it is now."),
            Mistake(
                lambda parts, tokens: 100 * share_of_embeddings(parts, tokens),
                "That is in percent. Give a share between 0 and 1.",
            ),
        ],
        tolerance=2e-3,
    ),
    Exercise(
        "04.5",
        blind_loss,
        "How many pieces are left to place, and in how many ways can they be? Its natural logarithm, divided by the "
        "tokens. (`math.factorial` and `math.log` help; `math` is imported.)",
        cases=[
            {"pieces": 4, "known": 0, "tokens": 17},
            {"pieces": 9, "known": 0, "tokens": 40},
            {"pieces": 9, "known": 7, "tokens": 10},
            {"pieces": 4, "known": 3, "tokens": 5},
        ],
        hidden=_other_puzzles,
        mistakes=[
            Mistake(_guess, "That is the loss of a model that may use a place twice. This one knows the rule."),
            Mistake(
                lambda pieces, known, tokens: math.log(math.factorial(pieces)) / tokens,
                "The known pieces need no guess: only the others are left to place.",
            ),
            Mistake(
                lambda pieces, known, tokens: math.log(math.factorial(pieces - known)),
                "That is the cost of the whole answer. The loss is a mean over its tokens.",
            ),
            Mistake(
                lambda pieces, known, tokens: math.log2(math.factorial(pieces - known)) / tokens,
                "The logarithm is the natural one, to base e.",
            ),
            Mistake(
                lambda pieces, known, tokens: math.log(pieces - known) / tokens,
                "That is the first place only. The next ones cost something, too.",
            ),
        ],
    ),
]
