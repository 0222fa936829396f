"""Perception: where things are, what covers them, what is written."""
