"""What differs between two intermediate representations."""
