"""Fetches schemas, pins them, and checks them against their pins."""
