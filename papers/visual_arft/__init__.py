"""Visual-ARFT: agents that restore images by code and look things up."""
