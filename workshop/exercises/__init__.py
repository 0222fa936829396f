"""Exercises that check themselves: ``check("13.2", my_function)``, ``hint("13.2")``, ``solution("13.2")``."""

from workshop.exercises.check import check, hint, points, solution
from workshop.exercises.exercise import Exercise, Mistake
from workshop.exercises.folded import fold_guesses

__all__ = ["Exercise", "Mistake", "check", "hint", "points", "solution"]

fold_guesses()  # every notebook with questions imports this package
