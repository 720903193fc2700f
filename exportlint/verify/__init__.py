"""Runs torch.export itself, in a process of the project's interpreter, on models that can be built.

Confirms and refutes what the linter claims.
"""
