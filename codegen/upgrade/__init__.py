"""Adopts another release of the schema in one command. Nothing is committed.

`command` prepares everything, with `schemas` before and after, and replaces it at the end. `data_files`, `versions` and
`changelog` have what changes in other files. `summary` says what was done and what is left to do.
"""
