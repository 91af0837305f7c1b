"""The bases of generated stubs, and the classes that describe their methods, roles and sides."""
