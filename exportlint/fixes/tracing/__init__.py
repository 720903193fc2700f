"""What Python sees of tensors that are traced: their types, whether gradients are recorded."""
