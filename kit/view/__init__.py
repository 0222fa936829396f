"""Episodes as a reader sees them: cards with images, tokens tinted by loss mask and advantage."""

from kit.view.episodes import compare, show

__all__ = ["compare", "show"]
