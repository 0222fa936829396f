"""The papers: one package each, found through :mod:`papers.registry`."""
