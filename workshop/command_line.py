"""Command lines: numbers' types for argparse, which refuse in a line what no command can work with; names that were
meant; lost readers."""

from __future__ import annotations

import argparse
import errno
import math
import os
import select
import signal
import sys
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Any


def _number(kind: type[int] | type[float], least: float, most: float, allowed: str) -> Callable[[str], float]:
    def read(text: str) -> float:
        try:
            value = kind(text)
        except (ValueError, OverflowError):
            value = math.nan
        if not least <= value <= most or value == math.inf:
            raise ArgumentTypeError(f"{text[:40]!r}: must be {allowed}")
        return value

    return read


count = _number(int, 1, math.inf, "a whole number, at least 1")
whole = _number(int, 0, math.inf, "a whole number, at least 0")
port = _number(int, 0, 65535, "a whole number from 0 to 65535")
share = _number(float, 0, 1, "a share from 0 to 1")
amount = _number(float, 0, math.inf, "a number, at least 0")
above_0 = _number(float, math.ulp(0.0), math.inf, "a number above 0")


def meant(name: str, known: Iterable[str], way_out: str) -> str:
    """Ask for the nearest of the known names, and say the way out; the way out alone where none is near.

    Args:
        name: that was given.
        known: those there are.
        way_out: what can be given, in words.
    """
    near = get_close_matches(name, list(known), n=1)
    return f"did you mean {near[0]}? Else {way_out}" if near else way_out


class Parser(argparse.ArgumentParser):
    """A command line that says which word was meant by one that it doesn't know."""

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            names = [str(choice) for choice in action.choices]
            way_out = f"one of {', '.join(names)}"
            raise argparse.ArgumentError(action, f"{value!r}: {meant(str(value), names, way_out)}")


def while_read(do: Callable[[], int]) -> int:
    """Do something; its exit code, 1 if what it printed can't be written, or 141, as of all programs that print into a
    pipe whose reader has gone away.
    """
    try:
        try:
            return do()
        finally:
            sys.stdout.flush()
    except OSError as error:
        polled = select.poll()
        for number in (1, 2):
            polled.register(number, 0)
        unread = [number for number, event in polled.poll(0) if event & select.POLLERR]
        if error.errno == errno.ENOSPC and error.filename is None:
            print(f"what was printed can't be written: {error.strerror}", file=sys.stderr)
            unread = [1]
        elif error.errno != errno.EPIPE or not unread:  # another pipe
            raise
        for number in unread:  # Python flushes once more when it ends
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)
        return 1 if error.errno == errno.ENOSPC else 128 + signal.SIGPIPE
