"""Why there is no fix."""

from __future__ import annotations


class DeclinedError(Exception):
    """The code at hand cannot be rewritten, for the reason that the message gives."""
