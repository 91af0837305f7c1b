"""Writes the protocol reference: Markdown pages about every method and every type of a schema, with examples."""
