"""Run programs with the bindings on the path. It doesn't import the generator, so it runs beside any bindings."""
