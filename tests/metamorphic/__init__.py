"""Changes of a program that change nothing about torch.export, and what the linter says before and after them."""
