"""Episodes as a reader sees them (cards with images, tokens tinted by loss mask and advantage); trainings live."""

from kit.view.curves import curves
from kit.view.episodes import compare, show
from kit.view.live import LiveTraining

__all__ = ["LiveTraining", "compare", "curves", "show"]
