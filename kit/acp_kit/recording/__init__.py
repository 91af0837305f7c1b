"""Recordings of the messages between a client and an agent: their format, and the redaction of secrets."""
