"""How long tests wait for what has to come: only a hang takes so long, on slow and busy machines too."""

PATIENCE = 600.0
"""Seconds."""
