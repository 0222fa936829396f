"""CodeDance (Song et al., 2025): answer at once what is easy, and reason by executable code where it helps."""
