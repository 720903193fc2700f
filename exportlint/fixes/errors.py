"""Why there is no fix."""

from __future__ import annotations


class DeclinedError(Exception):
    """The code at hand cannot be rewritten, for the reason that the message gives."""


class InapplicableError(DeclinedError):
    """The code at hand is of another form than a rewrite is for, which says nothing about what another one needs."""
