"""Environments, one file a paper, each a ``gymnasium.Env``."""
