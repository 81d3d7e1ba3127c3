"""Drawing formats."""
