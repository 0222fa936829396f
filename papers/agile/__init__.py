"""AGILE: agentic jigsaw interaction learning."""
