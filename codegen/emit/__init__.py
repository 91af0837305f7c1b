"""From the intermediate representation to Python."""
