"""Retry calls of a service that may fail for a moment: again, later, and not for ever."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import TypeVar

T = TypeVar("T")

FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0
"""Seconds before the second try, and at most before any other, where the service doesn't say how long."""


class TransientError(Exception):
    """A fault that may pass.

    Args:
        cause: in words, for the message if it doesn't.
        wait: seconds the service asks to be left alone; None if it doesn't say.
    """

    def __init__(self, cause: str, wait: float | None = None) -> None:
        super().__init__(cause)
        self.cause, self.wait = cause, wait


class RetriesExhausted(Exception):
    """The service failed in every try; the message says how often it was tried, and the last cause.

    Args:
        way_out: a sentence for whoever reads it.
    """

    def __init__(self, why: str, way_out: str) -> None:
        super().__init__(why)
        self.way_out = way_out


def is_transient(status: int) -> bool:
    """Check that an HTTP status may be another one a moment later."""
    return status in (408, 409, 429) or status >= 500


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that an answer's headers ask to wait (``Retry-After``: a number, or a date), or None.

    None too where they ask for 0, or for what is past: asked again at once, a busy service is as busy as before.
    """
    header = headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]+)?", header):
        return float(header) or None
    # By the answer's own clock, which need not be this machine's.
    until, now = _moment(header), _moment(headers.get("date", "")) or time.time()
    return until - now if until is not None and until > now else None


def _moment(date: str) -> float | None:
    """Seconds since 1970 of an HTTP date, which is in UTC without a zone too; None: it is none."""
    with suppress(TypeError, ValueError, OverflowError):
        when = parsedate_to_datetime(date)
        return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
    return None


def retry(
    once: Callable[[], T], retries: int, longest_wait: float = 120.0, sleep: Callable[[float], None] = time.sleep
) -> T:
    """Call ``once``, again as long as it raises :class:`TransientError`.

    Args:
        once: the call.
        retries: tries after the first.
        longest_wait: seconds; a service that asks for more is given up on.
        sleep: waits so many seconds.

    Raises:
        RetriesExhausted: every try failed, or the service asks for too long a pause.
    """
    for attempt in range(retries + 1):
        try:
            return once()
        except TransientError as fault:
            last = fault
        if attempt == retries:
            break
        if last.wait is not None and last.wait > longest_wait:
            why = f"{last.cause}; it asks to wait {last.wait:.0f} s, more than longest_wait={longest_wait:.0f} s"
            raise RetriesExhausted(why, "Run the same command later") from last
        # Twice as long each time; the random part keeps several askers from returning together.
        sleep(last.wait or min(LONGEST_WAIT, FIRST_WAIT * 2**attempt) * random.uniform(0.75, 1.0))
    raise RetriesExhausted(
        f"no answer in {retries + 1} tries, the last: {last.cause.rstrip('.')}",
        "Check that it runs and can be reached, then run the same command again",
    ) from last
