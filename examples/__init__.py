"""Tasks of one's own that train with the kit from outside it."""
