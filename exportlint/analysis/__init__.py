"""From source to facts: what happens to tensors in the code that torch.export traces."""
