"""The clock and the cycle of a running world, and what goes into it and out of it."""
