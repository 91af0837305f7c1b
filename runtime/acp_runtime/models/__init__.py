"""The base of generated models, and the types of their fields and unions. Builds, parses and dumps instances."""
