"""Families of tasks, a module each, and what they draw with."""
