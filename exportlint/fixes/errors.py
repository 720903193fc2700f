"""Why there is no fix.

`DeclinedError` says what a rewrite cannot do with the code, `InapplicableError` that it is for code of another form.
"""

from __future__ import annotations


class DeclinedError(Exception):
    """The code at hand cannot be rewritten, for the reason that the message gives."""


class InapplicableError(DeclinedError):
    """The code at hand is of another form than a rewrite is for, which says nothing about what another one needs."""
