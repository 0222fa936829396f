"""Evaluation: outcomes, intervals, claims, results files, single-turn baselines."""
