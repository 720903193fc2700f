"""Whether files still hold what they held when they were verified."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from exportlint.server.documents import Document
from exportlint.server.session import Session
from exportlint.server.verification.verified import real


class Freshness:
    """Compares files with their digests: as the client has them open, else as they are on the disk."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._known: dict[str, tuple[tuple[int, int], str]] = {}

    def holds(self, digests: Mapping[str, str]) -> bool:
        """Whether all files are as they were."""
        opened = {
            real(str(document.path)): document
            for document in self._session.opened
            if isinstance(document, Document) and document.path is not None
        }
        # What is being typed is known without a look at the disk.
        files = sorted(digests, key=lambda file: file not in opened)
        return all((opened[file].digest if file in opened else self._on_disk(file)) == digests[file] for file in files)

    def _on_disk(self, file: str) -> str | None:
        try:
            status = Path(file).stat()
            stamp = status.st_mtime_ns, status.st_size
            known = self._known.get(file)
            if known is None or known[0] != stamp:
                known = self._known[file] = stamp, hashlib.sha256(Path(file).read_bytes()).hexdigest()
        except OSError:
            return None
        return known[1]
