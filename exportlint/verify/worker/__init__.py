"""Runs torch.export on a model, under the interpreter of the project that the model belongs to.

A folder that Python runs as it is (`python exportlint/verify/worker`) and that needs nothing but the standard library
and torch, 2.4 or newer: whatever else is installed there, exportlint is not. Jobs come in as lines of JSON on standard
input, events go out as lines of JSON on what was standard output; user code gets neither. See
`exportlint.verify.protocol` for both.
"""
