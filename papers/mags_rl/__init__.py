"""Mags-RL (2025): say where to look, have it magnified by super-resolution, look again and answer."""
