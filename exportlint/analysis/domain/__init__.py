"""What the analysis knows: values, their joins, sizes, and the heap."""
