"""The tiny model: how it is built, what it is taught, its weights."""

from __future__ import annotations

from pathlib import Path

TINY = Path(__file__).parent / "weights"
"""Folder of the committed checkpoint."""
