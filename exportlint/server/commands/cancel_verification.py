"""`exportlint.cancelVerification`: ends what is being verified, for editors that show no progress to cancel."""

from __future__ import annotations

from exportlint.server.server import Server

NAME = "exportlint.cancelVerification"


def run(server: Server, uri: object = None, *others: object) -> None:
    """End what is being verified of a document, or of all."""
    server.verifier.cancel(uri if isinstance(uri, str) else None)
