"""Writes the protocol reference: Markdown pages about every method and every type, with examples."""
