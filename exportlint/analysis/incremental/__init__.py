"""What is kept of one version of a file for the next, so that an edit runs only what it concerns."""
