"""Tools that agents can ask for."""
