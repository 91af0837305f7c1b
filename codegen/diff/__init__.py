"""Compares two sets of schemas: what changed, who is affected, and whether it breaks them.

Compares intermediate representations (`codegen.ir`), never text. `sources` reads both sides, `match` pairs their
definitions, `compare` finds the differences of one profile, `verdict` rates them, `report` collects all profiles, and
`render` writes the report.
"""
