"""Training in several processes: which there are, how they are started and followed."""
