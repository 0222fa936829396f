"""``python -m kit``: the command line, which is the workshop's (:mod:`workshop.command`)."""

import sys

from workshop.command import main

if __name__ == "__main__":
    sys.exit(main())
