"""Evaluation: outcomes, intervals, claims, results files, single-turn baselines, the five questions of a training."""
