"""The specification's statements with their proofs, and what changes in them."""
