"""Notebooks for a class: hand them out with empty exercises, and grade what comes back in the sandbox."""
