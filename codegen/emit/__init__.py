"""Turns the intermediate representation into Python source."""
