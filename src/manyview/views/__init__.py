"""What the user has, as named, row-aligned views."""
