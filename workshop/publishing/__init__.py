"""The maintainer's part: executed notebooks, results made anew and proved current, the README's figures, departures."""
