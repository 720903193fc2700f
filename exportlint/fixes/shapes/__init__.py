"""Sizes that Python turns into numbers, or asks for their truth."""
