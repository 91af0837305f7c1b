"""Render a report as text: one module for each format, with one function that returns a string."""
