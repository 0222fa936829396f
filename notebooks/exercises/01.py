"""Exercises of notebook 01: tokens of a picture, a mask, how an episode ends."""

from __future__ import annotations

from kit.exercises import Exercise, Mistake


def image_tokens(width: int, height: int) -> int:
    """Count squares of 28 by 28 pixels."""
    return (width // 28) * (height // 28)


def mask_of(prompt: int, turns: list[tuple[int, int]]) -> list[int]:
    """Zeros for the prompt; then for each turn ones, and zeros for what the environment answered."""
    mask = [0] * prompt
    for sampled, appended in turns:
        mask += [1] * sampled + [0] * appended
    return mask


def ends_by(actions: list[str | None], max_turns: int) -> str:
    """Go through the turns until one of them ends the episode."""
    for turn, action in enumerate(actions, start=1):
        if action is None:
            return "format"
        if action == "answer":
            return "answer"
        if turn == max_turns:
            return "turns"
    raise ValueError(f"{actions}: the episode has not ended")


def _budget_first(actions: list[str | None], max_turns: int) -> str:
    return "turns" if len(actions) >= max_turns else ends_by(actions, max_turns)


def _no_format(actions: list[str | None], max_turns: int) -> str:
    return "answer" if actions[-1] == "answer" else "turns"


EXERCISES = [
    Exercise(
        "01.1",
        image_tokens,
        "One token covers 28 by 28 pixels. How many such squares are in a row, and how many rows?",
        cases=[{"width": w, "height": h} for w, h in ((56, 56), (28, 28), (112, 56), (448, 336))],
        mistakes=[
            Mistake(lambda width, height: (width // 14) * (height // 14), "Those are patches; four make a token."),
            Mistake(lambda width, height: (width // 28) + (height // 28), "Rows times columns, not plus."),
        ],
    ),
    Exercise(
        "01.2",
        mask_of,
        "Begin with the prompt's zeros. Then for each turn: as many ones as were sampled, as many zeros as appended.",
        cases=[
            {"prompt": 3, "turns": [(2, 2), (1, 0)]},
            {"prompt": 0, "turns": [(1, 4)]},
            {"prompt": 2, "turns": []},
            {"prompt": 1, "turns": [(3, 1), (2, 5), (4, 0)]},
        ],
        mistakes=[
            Mistake(
                lambda prompt, turns: [0] * prompt + [1] * sum(a + b for a, b in turns),
                "What the environment appended has mask 0: the policy didn't write it.",
            ),
            Mistake(
                lambda prompt, turns: [1 - m for m in mask_of(prompt, turns)],
                "The other way round: 1 for what the policy sampled.",
            ),
            Mistake(
                lambda prompt, turns: mask_of(0, turns),
                "The prompt stands in the row, too, with mask 0.",
            ),
        ],
    ),
    Exercise(
        "01.3",
        ends_by,
        "Look at the last turn: does it answer, has it no action, or was it simply the last one allowed?",
        cases=[
            {"actions": ["code", "code", "answer"], "max_turns": 5},
            {"actions": ["code", None], "max_turns": 5},
            {"actions": ["code", "code"], "max_turns": 2},
            {"actions": ["code", "answer"], "max_turns": 2},
            {"actions": [None], "max_turns": 1},
        ],
        mistakes=[
            Mistake(_budget_first, "An answer in the last turn that is allowed is still an answer."),
            Mistake(_no_format, "What ends an episode whose turn has no action at all?"),
        ],
    ),
]
