"""From JSON Schema and `methods.toml` to the intermediate representation."""
