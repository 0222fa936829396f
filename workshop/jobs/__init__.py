"""Notebooks as jobs: run, plan, list, view, check."""
