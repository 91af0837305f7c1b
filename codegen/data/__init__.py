"""Our own data about the schema, in the TOML files of `codegen/`: facts about methods, old names, and topics."""
