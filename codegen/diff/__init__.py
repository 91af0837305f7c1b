"""What differs between two sets of schemas, for whom, and whether it breaks them.

Compares intermediate representations (`codegen.ir`), never text. `sources` reads both sides, `profile` compares one
profile, `report` puts the profiles together, `render` shows it.
"""
