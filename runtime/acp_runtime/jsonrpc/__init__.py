"""Bytes into messages and messages into bytes. No I/O, no tasks, no state of a connection."""
