"""What one adds to manyview: an engine, a reader, a baseline, a command; copy what you need."""
