"""Scripted experts, one module a paper: oracles that show how the tools are used."""
