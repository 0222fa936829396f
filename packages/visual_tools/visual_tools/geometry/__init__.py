"""Geometry: diagrams and texts to statements, statements to a value."""
