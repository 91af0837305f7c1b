"""Adopt another release of the schema in one command, up to the commit.

`command` prepares everything and replaces it at the end; `report` compares the release with the last commit;
`versions` decides about the version of this package, `changelog` and `entry` write what changed for users, and
`summary` says what was done and what is left to do.
"""
