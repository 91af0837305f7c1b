"""What generated models are made of: their base, types of fields, unions, and how they are built, parsed and dumped."""
