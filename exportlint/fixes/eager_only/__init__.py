"""What the program does not need: it runs in eager only."""
