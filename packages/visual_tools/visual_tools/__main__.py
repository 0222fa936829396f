"""``python -m visual_tools list``, ``call NAME``, ``serve`` (:mod:`visual_tools.command`)."""

import sys

from visual_tools.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
