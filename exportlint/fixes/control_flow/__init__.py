"""Branches, loops, checks and truths that depend on tensor data."""
