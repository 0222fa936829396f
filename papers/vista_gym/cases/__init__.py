"""Inputs of the tools whose right replies are known, one file a family."""
