"""The tiny model: how it is built, what it is taught, its weights."""
