"""The maintainer's part: results made anew and proved current, the README's figures, the page of departures."""
