"""Writes a report as text. Each format has a module with one function, which returns a string."""
