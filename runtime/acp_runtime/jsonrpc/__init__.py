"""Turns bytes into messages and messages into bytes. No I/O, no tasks, no connection state."""
