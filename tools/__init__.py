"""What `make` runs besides codegen, tests and benchmarks, and how tests and benchmarks install other packages."""
