"""What the updates of a session amount to: messages, tool calls, compactions and settings."""
