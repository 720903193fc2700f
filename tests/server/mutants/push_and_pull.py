"""A server that pushes what the client asks for, too: `python push_and_pull.py server`."""

import sys
from collections.abc import Mapping

from exportlint.server.analyses import Analysis
from exportlint.server.diagnostics import diagnostics
from exportlint.server.documents import Document
from exportlint.server.server import Server

honest = Server._take


def and_push(self: Server, found: Mapping[Document, Analysis]) -> None:
    honest(self, found)
    for analysis in found.values():
        if self.session.client.pulls:
            self._publish(analysis.document, diagnostics(analysis, self.session.client, self.session.uris))


Server._take = and_push  # type: ignore[method-assign]

if __name__ == "__main__":
    from exportlint.cli import main

    sys.exit(main())
