"""Folders that change as a whole or not at all."""
