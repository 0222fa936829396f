"""The papers: one package each, found through :mod:`kit.papers.registry`."""
