"""Our own data about the schema, in the TOML files of `codegen/`: old names, and topics."""
