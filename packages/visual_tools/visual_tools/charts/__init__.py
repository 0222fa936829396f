"""Read charts: from pixels and the words on them to a table, a caption, an answer, SVG, a scene graph."""
