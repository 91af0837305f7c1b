"""Find the differences between two intermediate representations."""
