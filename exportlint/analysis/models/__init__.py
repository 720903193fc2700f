"""What Python's own functions and other libraries do, as far as tensors are concerned: one module for each."""
