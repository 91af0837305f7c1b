"""Turns JSON Schema and `methods.toml` into the intermediate representation."""
