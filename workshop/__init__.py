"""The workshop: what runs, plans, grades and publishes the notebooks. Nothing that a notebook computes is made here."""
