"""What several benchmarks use: models, timing, reports."""
