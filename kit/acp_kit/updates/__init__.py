"""Merges the updates of a session into messages, tool calls, compactions and settings."""
