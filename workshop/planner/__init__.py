"""Memory and time of a training, worked out before anything is downloaded."""
