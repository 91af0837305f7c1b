"""What generated stubs derive from and are described by: methods, roles, sides, exports that are loaded on use."""
