"""Rewrites of source code: what a rule needs to propose a fix that stands in the style of the file."""
