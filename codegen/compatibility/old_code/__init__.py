"""Write a program that uses everything of one release's bindings."""
