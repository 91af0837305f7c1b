"""Findings, the rules that they belong to, and their verdicts."""
