"""exportlint: a linter and language server for torch.export compatibility."""

__version__ = "0.1.0"
