"""Rewards: the contract of all, and how near a text is to a reference; each paper's own is in its package."""
