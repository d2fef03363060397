"""Pure functions: a block of rows, or small reduced arrays, in and out."""
