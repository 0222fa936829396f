"""Rewards, one file a paper: pure functions ``(episode, target) -> Score`` that no text makes raise."""
