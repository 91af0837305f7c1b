"""Match the definitions and properties of one side to those of the other."""
