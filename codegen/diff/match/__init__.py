"""Which definition and which property of one side is which of the other."""
