"""Task makers and what they are made from: one module a data set."""
