"""Replaces folders as a whole or not at all."""
