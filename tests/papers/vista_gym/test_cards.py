"""The published cards: one a tool, each measured on inputs enough, none slower than an agent can wait for."""

from __future__ import annotations

import tomllib

from papers.vista_gym.measure import CARDS, CASES, READER, Card
from papers.vista_gym.toolbox import TOOLS

LEAST = 40
"""Inputs: enough for an interval that says something."""

PUBLISHED = {name: Card(**card) for name, card in tomllib.loads(CARDS.read_text()).items()}


def test_each_tool_has_cases_and_a_card() -> None:
    assert set(CASES) == set(TOOLS) == set(PUBLISHED)


def test_a_card_is_measured_on_inputs_enough() -> None:
    assert {name: card.inputs for name, card in PUBLISHED.items() if card.inputs < LEAST} == {}
    assert all(card.low <= card.accuracy <= card.high for card in PUBLISHED.values())


def test_only_reading_takes_longer_than_two_seconds() -> None:
    """Figures of the cards, not of this machine."""
    assert {name: card.slowest for name, card in PUBLISHED.items() if name != READER and card.slowest > 2} == {}
