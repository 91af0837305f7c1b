"""User code as of the base, checked with the head's package."""
