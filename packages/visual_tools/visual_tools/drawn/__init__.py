"""Images that are drawn, so that what they show is known."""
