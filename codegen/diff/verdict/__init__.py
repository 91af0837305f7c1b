"""Findings, the rules that name them, and how bad each is."""
