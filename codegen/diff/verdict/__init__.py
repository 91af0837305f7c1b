"""Findings, their rules and their verdicts."""
