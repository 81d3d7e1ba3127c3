"""Running worlds: clock, cycle, inbox, outbox, recordings."""
