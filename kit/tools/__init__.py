"""What agents can ask for besides running code: one file a tool."""
