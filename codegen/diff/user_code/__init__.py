"""Type-check a commit's user code with newer bindings, and attach each failure to the finding that predicts it."""
