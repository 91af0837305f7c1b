"""Type-checks user code of the base with the head's bindings, and finds the findings that predict its failures."""
