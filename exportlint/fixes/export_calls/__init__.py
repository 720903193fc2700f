"""Calls of torch.export, and what they are given."""
