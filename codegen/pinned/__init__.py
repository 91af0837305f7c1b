"""Where the schemas come from, and that they are what was pinned."""
