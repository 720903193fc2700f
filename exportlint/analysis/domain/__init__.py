"""What the analysis knows: values, their joins, sizes and shapes, and the heap."""
