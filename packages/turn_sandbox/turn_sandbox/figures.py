"""Matplotlib's figures, each returned once: shown, saved as an image file, or left open when the turn ends.

``pyplot.show`` ends the figures that it shows, as a window or a notebook's cell does: what is plotted next begins
another one, and isn't drawn over the last. ``pyplot.savefig`` right after it saves the last of them, where others would
save an empty one.
"""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

from PIL import Image

from turn_sandbox.convert import drawn

if TYPE_CHECKING:
    from turn_sandbox.shown import Shown

# Kept before any code of a turn runs: it may patch this name.
_tobytes = Image.Image.tobytes


class Figures:
    """Figures of a turn, and which of them have been returned.

    Args:
        shown: what the turn shows and saves.
    """

    def __init__(self, shown: Shown) -> None:
        self._shown = shown
        self.begin()

    def begin(self) -> None:
        """Forget the last turn's."""
        self._last: Any = None
        self._ended = 0
        self._items: dict[int, tuple[Any, list[Any]]] = {}  # the figure too, or its id might become another's

    def change_pyplot(self, pyplot: Any) -> None:
        """Have ``pyplot`` show its figures here."""

        def show(*_: Any, **__: Any) -> None:
            numbers = pyplot.get_fignums()
            self._last = pyplot.gcf() if numbers else self._last
            for number in numbers:
                figure = pyplot.figure(number)
                if not (self._is_returned(figure) or _is_blank(figure)):
                    before = len(self._shown.items)
                    self._shown.show(self._drawn(figure), self._name(number))
                    self._return(figure, self._shown.items[before:])
            self._ended += max(numbers, default=0)
            pyplot.close("all")

        @functools.wraps(pyplot.savefig)
        def savefig(*given: Any, **named: Any) -> Any:
            ended = self._last is not None and not pyplot.get_fignums()
            return (self._last if ended else pyplot.gcf()).savefig(*given, **named)

        pyplot.show, pyplot.savefig = show, savefig

    def change_figure(self, module: Any) -> None:
        """Note which figures are saved as images: ``module`` is ``matplotlib.figure``."""
        save = module.Figure.savefig

        @functools.wraps(save)
        def savefig(figure: Any, *given: Any, **named: Any) -> Any:
            items = self._shown.items
            before = len(items) + self._shown.extra
            showed = self._items[id(figure)][1] if self._is_returned(figure) else []
            result = save(figure, *given, **named)
            if len(items) + self._shown.extra > before:
                # If it was shown as it is, the file stands for it.
                items[:] = [item for item in items if not any(item is one for one in showed)]
                self._return(figure, [])
            return result

        module.Figure.savefig = savefig

    def _return(self, figure: Any, items: list[Any]) -> None:
        """Note that a figure is returned as it is; ``items`` are those by which it was shown."""
        figure.stale = False  # until something is changed in it
        self._items[id(figure)] = figure, items

    def _is_returned(self, figure: Any) -> bool:
        return id(figure) in self._items and not figure.stale

    def _name(self, number: int) -> str:
        """A name that no other figure of the turn has: pyplot counts from 1 again where it has closed all."""
        return f"figure_{self._ended + number}"

    def _drawn(self, figure: Any) -> Any:
        """A figure as an image, at the limits' resolution; its own stays."""
        own, dpi = figure.get_dpi(), self._shown.limits.figure_dpi
        figure.set_dpi(dpi or own)
        try:
            return drawn(figure)
        finally:
            figure.set_dpi(own)

    def left_open(self, room: int, others: list[Any]) -> list[tuple[str, Any]]:
        """Open figures as images, at most one more than there is room for, but for those that were returned.

        They are closed.

        Args:
            room: how many are wanted.
            others: the turn's other images; one that looks the same is that figure, saved in some other way.
        """
        pyplot: Any = sys.modules.get("matplotlib.pyplot")
        if pyplot is None:
            return []
        found = []
        for number in pyplot.get_fignums()[: max(room, 0) + 1]:
            figure = pyplot.figure(number)
            # After show, commands such as clf() make an empty one that nobody meant.
            if self._is_returned(figure) or (self._last is not None and _is_blank(figure)):
                continue
            image = drawn(figure)
            if not any(other.size == image.size and _tobytes(other) == _tobytes(image) for other in others):
                found.append((self._name(number), self._drawn(figure)))
        pyplot.close("all")
        return found


def _is_blank(figure: Any) -> bool:
    """Check that nothing is on a figure but its ground."""
    return all(child is figure.patch for child in figure.get_children())
