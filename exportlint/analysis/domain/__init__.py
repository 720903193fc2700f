"""The abstract domain of the interpreter: what it knows of numbers and shapes, ordered by how much it knows."""
