"""Benchmarks: speed and memory beside other ways to do the same, as ratios within one run."""
