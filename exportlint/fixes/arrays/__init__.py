"""Arrays of numpy, as tensors."""
