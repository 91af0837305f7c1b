"""Finds the differences between two intermediate representations."""
