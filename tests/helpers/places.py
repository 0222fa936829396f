"""Where the tests' helpers lie."""

from pathlib import Path

HELPERS = Path(__file__).parent
