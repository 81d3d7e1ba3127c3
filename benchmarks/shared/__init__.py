"""What several benchmarks use: models, timing, rows."""
