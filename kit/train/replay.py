"""Rehearsal: what a model already says, said again while it learns something else.

Fine-tuning on a few episodes takes from a small model what it could do before. *Learning without
forgetting* (Li and Hoiem, 2016) asks the model beforehand and trains on its own answers beside the new data.
No truth is used: the model keeps its mistakes, too.

Where it says them matters. Rehearsed behind other prompts than the agent's, the tiny model went on seeing behind
those, and no better behind the agent's. So its answers are put where the agent will speak: behind the agent's
prompt and the opening of its turns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kit.chat import Chat
from kit.episode import Episode, Turn


def own_words(asked: Sequence[Episode], chat: Chat, opening: str = "<think>") -> list[Episode]:
    """Episodes of one unfinished turn: ``opening``, then what the model had said to that prompt.

    A full stop at the end is left out, and no end of turn follows: how an agent's turn goes on is for its own
    episodes to teach.

    Args:
        asked: episodes whose first turn is the model's answer; empty ones are left out.
        chat: the model's chat encoder.
        opening: text that each turn begins with.
    """
    replay = []
    for episode in asked:
        words = chat.decode([i for i in episode.turns[0].ids if i != chat.end_id]).strip().removesuffix(".")
        if words:
            ids = tuple(chat.text(opening + words))
            turn = Turn(ids, (0.0,) * len(ids), opening + words)
            replay.append(replace(episode, turns=(turn,), ended="turns"))
    return replay
