"""Recordings of the messages between a client and an agent: their format, and what is secret in them."""
