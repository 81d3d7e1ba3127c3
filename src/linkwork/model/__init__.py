"""Parts and scenes as authored; the world that they compile to."""
