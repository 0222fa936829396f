"""Experiments, one module a paper: which tasks, played how, with which tools, by which model."""
