"""Check the base's user code with the head's package."""
