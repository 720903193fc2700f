"""Gradients that models compute."""
